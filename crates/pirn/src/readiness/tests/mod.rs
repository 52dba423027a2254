//! What a site knows, event by event; the models of its waits are in `tests/model`.

#[cfg(not(any(loom, shuttle)))]
mod events;
#[cfg(all(feature = "futures", not(any(loom, shuttle))))]
#[expect(unsafe_code, reason = "a waker whose clone does something")]
mod tasks;
