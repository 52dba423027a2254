//! The state word on one thread: epochs, claims, and illegal transitions.

use crate::fiber::state::{Accepts, Claim, Code, Epoch, Parked, StateWord};

const NOTHING: Accepts = Accepts::NOTHING;

/// Every wait that ends moves the word to the next epoch, whatever ends it.
// Proves: G3.
#[test]
fn every_wait_has_an_epoch_of_its_own() {
    let word = StateWord::new();
    for round in 0..100_000 {
        let first = word.epoch();
        assert_eq!(word.claim(first, Code::case(1)), Claim::Active);
        assert_eq!(word.claim(first, Code::case(1)), Claim::Stale);
        let second = word.epoch();
        assert_ne!(second, first);
        assert_eq!(word.park(first, NOTHING), Parked::Claimed(Code::case(1)));
        assert_eq!(word.park(second, NOTHING), Parked::Yes);
        assert_eq!(word.claim(first, Code::case(2)), Claim::Stale);
        assert_eq!(word.claim(second, Code::case(2)), Claim::Parked);
        assert_eq!(word.code(), Code::case(2));
        let epochs = [first, second, word.epoch()].map(Epoch::number);
        assert_eq!(epochs, [2 * round, 2 * round + 1, 2 * round + 2]);
    }
}

/// No epoch comes back before 2^40 waits have ended.
// Proves: G3.
#[test]
fn epochs_have_forty_bits() {
    let word = StateWord::at((1 << 40) - 1);
    assert_eq!(word.claim(word.epoch(), Code::case(0)), Claim::Active);
    assert_eq!(word.epoch().number(), 1 << 40);
}

/// The epoch is kept when the word belongs to another fiber.
// Proves: G3.
#[test]
fn a_recycled_word_keeps_its_epoch() {
    let word = StateWord::new();
    let first = word.epoch();
    word.finish();
    assert_eq!(word.claim(first, Code::case(0)), Claim::Stale);
    word.recycle();
    assert_ne!(word.epoch(), first);
    assert_eq!(word.claim(first, Code::case(0)), Claim::Stale);
}

/// Debug builds refuse a transition that is not in the table.
// Proves: F12, P8.
#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "only a running fiber can end")]
fn a_parked_fiber_cannot_end() {
    let word = StateWord::new();
    assert_eq!(word.park(word.epoch(), NOTHING), Parked::Yes);
    word.finish();
}

/// The same for the steps that compare and exchange.
// Proves: F12.
#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "illegal transition")]
fn an_ended_fiber_cannot_park() {
    let word = StateWord::new();
    word.finish();
    let _ = word.park(word.epoch(), NOTHING);
}
