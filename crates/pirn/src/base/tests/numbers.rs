//! The generator, the padding and the pause.

use crate::base::backoff::Backoff;
use crate::base::pad::CachePadded;
use crate::base::rng::Rng;
use crate::shim::hint::hints;

#[test]
fn below_is_in_range_and_even() {
    for n in [1, 2, 3, 7, 100, 1 << 20] {
        let mut rng = Rng::new(n as u64);
        assert!((0..10_000).all(|_| rng.below(n) < n));
    }
    let mut rng = Rng::new(1);
    let mut hits = [0_u32; 6];
    (0..60_000).for_each(|_| hits[rng.below(6)] += 1);
    // 10,000 each, standard deviation 91: the bounds are over six sigma away.
    assert!(
        hits.iter().all(|&n| (9_400..10_600).contains(&n)),
        "{hits:?}"
    );
}

#[test]
fn below_draws_again_where_the_last_round_is_incomplete() {
    // With n just above 2^63, nearly every second draw falls into the incomplete round; without
    // the redraw the lower half of the range would come out as often as the upper third.
    let n = (1 << 63) + (1 << 62);
    let mut rng = Rng::new(3);
    let low = (0..30_000).filter(|_| rng.below(n) < n / 2).count();
    assert!(
        (14_400..15_600).contains(&low),
        "{low} of 30000 in the lower half"
    );
}

#[test]
fn streams_repeat_by_seed_and_differ_between_seeds() {
    let draw = |seed| {
        let mut rng = Rng::new(seed);
        std::array::from_fn::<u64, 8, _>(|_| rng.next_u64())
    };
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
}

#[test]
#[should_panic(expected = "no number is below zero")]
fn below_zero_panics() {
    Rng::new(0).below(0);
}

// Proves: C16.
#[test]
fn padded_values_share_no_lines() {
    let pair = [CachePadded::new(0_u8), CachePadded::new(1)];
    let apart = (&raw const pair[1]).addr() - (&raw const pair[0]).addr();
    assert_eq!((apart, align_of::<CachePadded<u8>>()), (128, 128));
}

/// A round pauses twice as long as the one before, up to 64 hints; there are eleven.
// Proves: Q5.
#[test]
fn pausing_ends() {
    let mut backoff = Backoff::new();
    let mut round = || {
        let before = hints();
        (backoff.pause(), hints() - before)
    };
    let rounds: Vec<_> = (0..11).map(|_| round()).collect();
    let doubled = [1, 2, 4, 8, 16, 32, 64, 64, 64, 64, 64];
    assert_eq!(rounds, doubled.map(|hints| (true, hints)));
    for _ in 0..1_000 {
        assert_eq!(round(), (false, 0), "the bound stays reached");
    }
}
