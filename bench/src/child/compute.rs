//! Computing by the iteration: a loop of fixed length, calibrated once on an idle processor.
//!
//! A loop that reads the clock would count time off the processor as work, so that tasks which
//! share a processor would each seem to run at full speed.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::Instant;

/// Measures the number of iterations in a microsecond. A child calls it before it starts other
/// threads, while its processors are idle.
pub fn calibrate() {
    per_micro();
}

/// Computes for `micros` microseconds of an otherwise idle processor.
pub fn compute(micros: u64) {
    black_box(spin(micros * per_micro()));
}

/// Returns the iterations of a microsecond.
fn per_micro() -> u64 {
    static PER_MICRO: OnceLock<u64> = OnceLock::new();
    *PER_MICRO.get_or_init(|| {
        let fastest = (0..TRIALS).map(|_| nanos_of(TRIAL)).min();
        let nanos = fastest.expect("there are trials").max(1);
        (TRIAL * 1000 / nanos).max(1)
    })
}

fn nanos_of(iterations: u64) -> u64 {
    let started = Instant::now();
    black_box(spin(iterations));
    started.elapsed().as_nanos() as u64
}

/// A chain in which every step needs the one before.
#[inline(never)]
fn spin(iterations: u64) -> u64 {
    let mut state = black_box(0x9E37_79B9_7F4A_7C15_u64);
    for _ in 0..iterations {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}

/// Iterations of a trial: about a millisecond.
const TRIAL: u64 = 500_000;
/// Arbitrary: the first ones wake the processor, the fastest one was not disturbed.
const TRIALS: u64 = 40;

#[cfg(test)]
mod tests {
    use super::{calibrate, compute};
    use crate::child::thread_time;

    #[test]
    fn work_takes_the_processor_time_that_it_is_named_after() {
        calibrate();
        let before = thread_time();
        compute(20_000);
        let used = (thread_time() - before).as_secs_f64() * 1e3;
        assert!((15.0..100.0).contains(&used), "{used} ms");
    }
}
