//! When a worker hands fresh fibers to another.

use crate::sched::share::Share;

/// Spawns until the next comparison has been made, with these numbers of settled fibers here
/// and elsewhere, and of guests; how many of the spawns of that period go elsewhere.
fn period(share: &Share, own: usize, settled: usize, guests: usize) -> usize {
    let mut spawns = 0;
    while !share.is_due() {
        spawns += 1;
        assert!(spawns <= 64 << 6, "a comparison is always to come");
    }
    share.compare(own, Some((1, settled)), guests);
    std::iter::from_fn(|| share.elsewhere()).count()
}

#[test]
fn alone_it_keeps_all() {
    let share = Share::new();
    assert!(share.is_due());
    share.compare(1_000, None, 0);
    assert_eq!(share.elsewhere(), None);
}

#[test]
fn a_difference_is_evened_out_and_a_small_one_left() {
    let share = Share::new();
    assert_eq!(period(&share, 48, 20, 0), 0);
    assert_eq!(period(&share, 50, 20, 0), 15);
    assert_eq!(
        period(&share, 1_000, 20, 15),
        64,
        "no more than a period has"
    );
}

#[test]
fn fibers_that_do_not_stay_are_kept_more_and_more() {
    let share = Share::new();
    let placed: Vec<_> = (0..100).map(|_| period(&share, 200, 0, 0)).collect();
    // Every second comparison finds that the attempt before was in vain.
    assert!(placed.chunks(2).all(|pair| pair == [64, 0]), "{placed:?}");
    // After six doublings the pauses grow no more.
    let pause = (0..).take_while(|_| !share.is_due()).count();
    assert_eq!(pause, (64 << 6) - 1);
}

#[test]
fn once_they_stay_it_goes_on_at_once() {
    let share = Share::new();
    for _ in 0..9 {
        period(&share, 200, 0, 0);
    }
    assert_eq!(period(&share, 200, 0, 0), 0, "in vain again");
    assert_eq!(period(&share, 200, 0, 0), 64);
    assert_eq!(period(&share, 200, 64, 64), 64, "they have stayed");
    assert_eq!(period(&share, 200, 100, 100), 0, "even enough");
}
