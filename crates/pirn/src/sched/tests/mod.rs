//! Tests of this module: `model_*` under loom, the others on the machine.

#[cfg(loom)]
mod model_beat;
#[cfg(loom)]
mod model_idle;
#[cfg(loom)]
mod model_inbox;
#[cfg(loom)]
mod model_next;
#[cfg(loom)]
mod model_quiet;
#[cfg(loom)]
mod model_ring;

mod idle;
#[cfg(not(any(loom, shuttle)))]
mod inbox;
#[cfg(not(any(loom, shuttle)))]
mod injector;
#[cfg(not(any(loom, shuttle)))]
mod intervals;
#[cfg(not(any(loom, shuttle)))]
mod lines;
#[cfg(not(any(loom, shuttle)))]
mod monitor;
#[cfg(not(any(loom, shuttle)))]
mod next;
#[cfg(all(
    feature = "io_uring",
    target_os = "linux",
    not(any(loom, shuttle, pirn_polling, pirn_free))
))]
#[expect(clippy::disallowed_methods, reason = "threads beside the runtime's")]
mod queued;
#[cfg(not(any(loom, shuttle)))]
mod ring;
#[cfg(not(any(loom, shuttle)))]
mod scale;
#[cfg(not(any(loom, shuttle)))]
mod steal_payoff;
#[cfg(not(any(loom, shuttle)))]
mod steps;
#[cfg(not(any(loom, shuttle)))]
mod threads;
