//! When a worker hands fresh fibers to another.

use crate::sched::share::{Guests, Share, Tag};

/// A worker that spawns.
struct Host {
    share: Share,
    guests: Guests,
}

impl Host {
    fn new() -> Host {
        Host {
            share: Share::new(),
            guests: Guests::default(),
        }
    }

    /// Spawns until the next comparison has been made, with these numbers of settled fibers
    /// here and elsewhere. The marks of the fibers of that period that go elsewhere.
    fn period(&self, own: usize, settled: usize) -> Vec<Tag> {
        let mut spawns = 0;
        while !self.share.is_due() {
            spawns += 1;
            assert!(spawns <= 64 << 6, "a comparison is always to come");
        }
        self.share.compare(own, Some((1, settled)), &self.guests);
        let elsewhere = std::iter::from_fn(|| self.share.elsewhere());
        elsewhere.map(|_| self.guests.tag(0)).collect()
    }
}

#[test]
fn alone_it_keeps_all() {
    let host = Host::new();
    assert!(host.share.is_due());
    host.share.compare(1_000, None, &host.guests);
    assert_eq!(host.share.elsewhere(), None);
}

#[test]
fn a_difference_is_evened_out_and_a_small_one_left() {
    let host = Host::new();
    assert_eq!(host.period(48, 20).len(), 0);
    let placed = host.period(50, 20);
    assert_eq!(placed.len(), 15);
    placed.into_iter().for_each(|tag| host.guests.started(tag));
    let most = host.period(1_000, 20).len();
    assert_eq!(most, 64, "no more than a period has");
}

#[test]
fn fibers_that_do_not_stay_are_kept_more_and_more() {
    let host = Host::new();
    let placed = (0..100).map(|_| {
        let placed = host.period(200, 0);
        for tag in &placed {
            host.guests.started(*tag);
            host.guests.ended(*tag);
        }
        placed.len()
    });
    let placed: Vec<_> = placed.collect();
    // Every second comparison finds that the attempt before was in vain.
    assert!(placed.chunks(2).all(|pair| pair == [64, 0]), "{placed:?}");
    // After six doublings the pauses grow no more.
    let pause = (0..).take_while(|_| !host.share.is_due()).count();
    assert_eq!(pause, (64 << 6) - 1);
}

#[test]
fn once_they_stay_it_goes_on_at_once() {
    let host = Host::new();
    (0..9).for_each(|_| _ = host.period(200, 0));
    assert_eq!(host.period(200, 0).len(), 0, "in vain again");
    let placed = host.period(200, 0);
    assert_eq!(placed.len(), 64);
    placed[..32]
        .iter()
        .for_each(|tag| host.guests.started(*tag));
    assert_eq!(host.period(200, 64).len(), 64, "half of them have stayed");
}

/// Where fibers come and go, the end of older guests says nothing about the last ones.
#[test]
fn older_guests_do_not_count() {
    let host = Host::new();
    let older = host.period(200, 0);
    older.iter().for_each(|tag| host.guests.started(*tag));
    let placed = host.period(200, 0);
    placed.iter().for_each(|tag| host.guests.started(*tag));
    older.iter().for_each(|tag| host.guests.ended(*tag));
    assert_eq!(host.period(200, 0).len(), 64);
}

#[test]
fn a_mark_names_its_worker() {
    let guests = Guests::default();
    assert_eq!(Tag(0).host(), None);
    assert_eq!(guests.tag(0).host(), Some(0));
    assert_eq!(guests.tag(1_023).host(), Some(1_023));
}
