//! The known readiness of a site, event by event; the models of its waits are in `tests/model`.

#[cfg(not(any(loom, shuttle)))]
mod events;
#[cfg(loom)]
#[expect(unsafe_code, reason = "a home that suspends its fiber")]
mod fixture;
#[cfg(all(loom, target_os = "linux"))]
mod model_number;
#[cfg(loom)]
mod model_site;
#[cfg(all(feature = "futures", not(any(loom, shuttle))))]
#[expect(unsafe_code, reason = "a waker with a clone that has an effect")]
mod tasks;
