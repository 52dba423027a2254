//! Models: one claim for each wait, by any thread and however late; the winner enqueues iff the
//! owner had parked; the claimed owner sees what the waker wrote.

use std::sync::Arc;

use super::fixture::{CLAIM_ONLY, Fixture, OR_CANCEL, join};
use crate::base::tests::explore::explore;
use crate::fiber::state::{Claim, Code, Parked};
use crate::shim::thread::JoinHandle;

/// The claim comes before or after the park; either way the owner resumes, and sees the note.
// Proves: F3, Q4.
#[test]
fn model_state_claim_against_park() {
    explore("state_claim_against_park", 3, || {
        let fixture = Fixture::new();
        let epoch = fixture.word.epoch();
        let waker = fixture
            .thread(move |fixture| assert!(fixture.wake(0, epoch), "the one waker wins"));
        let code = fixture.wait(epoch, CLAIM_ONLY);
        assert_eq!((code, fixture.notes[0].read()), (Code::case(0), 7));
        assert_ne!(fixture.word.epoch(), epoch, "a claim spends the ticket");
        join([waker]);
    });
}

/// Two wakers with the same ticket: one wins, and the owner sees that one's note.
// Proves: B16, F4, F21.
#[test]
fn model_state_two_wakers_one_wins() {
    explore("state_two_wakers_one_wins", 3, || {
        let fixture = Fixture::new();
        let epoch = fixture.word.epoch();
        let wakers = [0, 1].map(|i| {
            fixture.thread(move |fixture| {
                let _ = fixture.wake(i, epoch);
                let again = fixture.word.claim(epoch, Code::case(i as u16));
                assert_eq!(again, Claim::Stale, "a spent ticket wins nothing");
            })
        });
        let code = fixture.wait(epoch, CLAIM_ONLY);
        let winner = usize::from(code == Code::case(1));
        assert_eq!(
            (code, fixture.notes[winner].read()),
            (Code::case(winner as u16), 7)
        );
        join(wakers);
    });
}

/// A waker of the first wait comes too late, during the second: it must not end that one.
// Proves: F6.
#[test]
fn model_state_late_waker_leaves_the_next_wait_alone() {
    explore("state_late_waker", 3, || {
        let fixture = Fixture::new();
        let late = first_wait(&fixture);
        second_wait(&fixture);
        join([late]);
    });
}

/// As before, but the word goes to another fiber in between.
// Proves: B17.
#[test]
fn model_state_recycled_against_a_late_waker() {
    explore("state_recycled", 3, || {
        let fixture = Fixture::new();
        let late = first_wait(&fixture);
        fixture.word.finish();
        assert!(fixture.word.is_done());
        fixture.word.recycle();
        second_wait(&fixture);
        join([late]);
    });
}

/// The owner parks, takes itself back, and ends its wait, unless the waker does. The waker is
/// returned and may come at any time.
fn first_wait(fixture: &Arc<Fixture>) -> JoinHandle<()> {
    let epoch = fixture.word.epoch();
    let late = fixture.thread(move |fixture| {
        let _ = fixture.wake(0, epoch);
    });
    fixture.saved.write(1);
    fixture.turn();
    if fixture.word.park(epoch, CLAIM_ONLY) == Parked::Yes {
        if fixture.word.unpark_self(epoch) {
            assert_ne!(fixture.word.claim(epoch, Code::case(1)), Claim::Parked);
        } else {
            fixture.parker.park();
        }
    }
    assert_ne!(fixture.word.epoch(), epoch, "the ticket is spent");
    late
}

/// A wait with a waker of its own.
fn second_wait(fixture: &Arc<Fixture>) {
    let epoch = fixture.word.epoch();
    let waker = fixture
        .thread(move |fixture| assert!(fixture.wake(1, epoch), "the one waker wins"));
    let code = fixture.wait(epoch, CLAIM_ONLY);
    assert_eq!(
        (code, fixture.notes[1].read()),
        (Code::case(1), 7),
        "the wrong waker"
    );
    join([waker]);
}

/// An owner that sleeps in place takes itself back, unless a waker was faster; then it waits for
/// that waker's enqueue. Either way no token of the parker is left over.
#[test]
fn model_state_unpark_self_against_a_claim() {
    explore("state_unpark_self", 3, || {
        let fixture = Fixture::new();
        let epoch = fixture.word.epoch();
        let waker = fixture
            .thread(move |fixture| assert!(fixture.wake(0, epoch), "the one waker wins"));
        fixture.saved.write(1);
        let code = match fixture.word.park(epoch, CLAIM_ONLY) {
            Parked::Claimed(code) => code,
            Parked::Yes if fixture.word.unpark_self(epoch) => {
                fixture.wait(epoch, CLAIM_ONLY)
            }
            Parked::Yes => {
                fixture.parker.park();
                fixture.word.code()
            }
        };
        assert_eq!((code, fixture.notes[0].read()), (Code::case(0), 7));
        join([waker]);
    });
}

/// A visitor holds the parked fiber while it is claimed: one of the two enqueues it, and when it
/// resumes the visitor has ended its look.
// Proves: F-X-held.
#[test]
fn model_state_hold_against_a_claim() {
    explore("state_hold_against_a_claim", 3, || {
        let fixture = Fixture::new();
        let epoch = fixture.word.epoch();
        let waker = fixture
            .thread(move |fixture| assert!(fixture.wake(0, epoch), "the one waker wins"));
        let visitor = fixture.thread(Fixture::visit);
        let code = fixture.wait(epoch, CLAIM_ONLY);
        assert_eq!((code, fixture.notes[0].read()), (Code::case(0), 7));
        // Once more: no visitor looks any more, and no token of the parker is left over.
        second_wait(&fixture);
        join([waker, visitor]);
    });
}

/// The same with a cancellation, which a fiber that is held keeps until it is put down.
// Proves: F-X-held.
#[test]
fn model_state_hold_against_cancel() {
    explore("state_hold_against_cancel", 3, || {
        let fixture = Fixture::new();
        let canceller = fixture.thread(|fixture| {
            fixture.turn();
            if fixture.word.cancel() {
                fixture.enqueue();
            }
        });
        let visitor = fixture.thread(Fixture::visit);
        let code = fixture.wait(fixture.word.epoch(), OR_CANCEL);
        assert_eq!(code, Code::CANCELLED);
        fixture.saved.write(2);
        join([canceller, visitor]);
    });
}

/// An owner that sleeps in place takes itself back even if a visitor holds it, or a waker claims
/// it, or both.
// Proves: F-X-held.
#[test]
fn model_state_hold_against_unpark_self() {
    explore("state_hold_against_unpark_self", 3, || {
        let fixture = Fixture::new();
        let epoch = fixture.word.epoch();
        let waker = fixture
            .thread(move |fixture| assert!(fixture.wake(0, epoch), "the one waker wins"));
        let visitor = fixture.thread(Fixture::visit);
        fixture.saved.write(1);
        let code = match fixture.word.park(epoch, CLAIM_ONLY) {
            Parked::Claimed(code) => code,
            Parked::Yes if fixture.word.unpark_self(epoch) => {
                fixture.wait(epoch, CLAIM_ONLY)
            }
            Parked::Yes => {
                fixture.parker.park();
                fixture.word.code()
            }
        };
        assert_eq!((code, fixture.notes[0].read()), (Code::case(0), 7));
        join([waker, visitor]);
    });
}

/// A hold is not a claim: without a waker the owner takes itself back.
#[test]
fn model_state_hold_is_no_claim() {
    explore("state_hold_is_no_claim", 3, || {
        let fixture = Fixture::new();
        let epoch = fixture.word.epoch();
        let visitor = fixture.thread(Fixture::visit);
        fixture.saved.write(1);
        assert_eq!(fixture.word.park(epoch, CLAIM_ONLY), Parked::Yes);
        assert!(fixture.word.unpark_self(epoch), "no waker has claimed it");
        fixture.saved.write(2);
        join([visitor]);
    });
}

/// Cancellation against a claim against the park: one of the two ends the wait, one enqueue
/// for a parked owner, and the cancellation sticks.
// Proves: F9.
#[test]
fn model_state_cancel_against_a_claim() {
    explore("state_cancel_against_a_claim", 3, || {
        let fixture = Fixture::new();
        let epoch = fixture.word.epoch();
        let waker = fixture.thread(move |fixture| {
            let _ = fixture.wake(0, epoch);
        });
        let canceller = fixture.thread(|fixture| {
            fixture.notes[1].write(8);
            fixture.turn();
            if fixture.word.cancel() {
                fixture.enqueue();
            }
        });
        match fixture.wait(epoch, OR_CANCEL) {
            Code::CANCELLED => assert_eq!(fixture.notes[1].read(), 8),
            code => assert_eq!((code, fixture.notes[0].read()), (Code::case(0), 7)),
        }
        join([waker, canceller]);
        assert!(fixture.word.is_cancelled());
        let again = fixture.wait(fixture.word.epoch(), OR_CANCEL);
        assert_eq!(again, Code::CANCELLED, "cancellation must stick");
    });
}

/// An owner that clears a revocation sees what the revoker wrote before it.
#[test]
fn model_state_restored_after_a_revocation() {
    explore("state_restored", 3, || {
        let fixture = Fixture::new();
        let revoker = fixture.thread(|fixture| {
            fixture.notes[0].write(8);
            fixture.turn();
            assert!(!fixture.word.revoke(), "the owner never parked");
        });
        fixture.turn();
        let restored = fixture.word.restore();
        if restored {
            assert_eq!(fixture.notes[0].read(), 8);
        }
        join([revoker]);
        assert_eq!(fixture.word.restore(), !restored, "revoked once");
    });
}

/// Wakers with a spent ticket, unparkers and cancellers that come when the fiber ends, or after:
/// none claims it, none enqueues it.
// Proves: H-3.
#[test]
fn model_state_the_end_against_late_comers() {
    explore("state_the_end", 3, || {
        let fixture = Fixture::new();
        let spent = fixture.word.epoch();
        assert!(fixture.wake(0, spent));
        let late = fixture.thread(move |fixture| {
            assert!(!fixture.wake(1, spent), "a spent ticket won")
        });
        let other = fixture.thread(|fixture| {
            fixture.turn();
            assert!(!fixture.word.unpark(), "it never parked");
            assert!(!fixture.word.cancel(), "it never parked");
        });
        fixture.turn();
        fixture.word.finish();
        join([late, other]);
    });
}
