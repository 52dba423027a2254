//! Requests for which the server computes: the rules that both sides share.

use crate::base::mix;

/// Returns true if requests on the connection with this number are costly: one in `every`, at
/// irregular distances. Connections are numbered in the order in which they are opened. Each is
/// greeted before the next one is opened, so that the server has the same numbers.
pub(super) fn is_costly(number: u64, every: u64) -> bool {
    mix(number).is_multiple_of(every)
}

/// Bytes of a request.
pub(super) const REQUEST: u64 = 64;
/// Microseconds of a costly request in the mixed load.
pub(super) const MIXED_MICROS: u64 = 20_000;
/// One connection in this many is costly there.
pub(super) const MIXED_EVERY: u64 = 100;

#[cfg(test)]
mod tests {
    use super::is_costly;

    #[test]
    fn about_one_in_a_hundred_is_costly() {
        let costly = (0..10_000).filter(|number| is_costly(*number, 100)).count();
        assert!((80..120).contains(&costly), "{costly}");
        assert!((0..100).all(|number| is_costly(number, 1)));
    }
}
