//! Models of the one token: none is lost, none counts twice, and it passes on what was written
//! before it was given, also if it was there already.

use std::sync::Arc;

use super::fixture::{CLAIM_ONLY, Fixture, OR_TOKEN, join};
use crate::base::tests::explore::explore;
use crate::fiber::state::Code;
use crate::shim::atomic::{AtomicU32, Ordering};

/// The owner parks until it has seen the flag of each unparker; only the token orders flags.
fn flags_arrive(unparkers: usize) {
    let fixture = Fixture::new();
    let flags: Arc<[AtomicU32; 2]> = Arc::default();
    let threads: Vec<_> = (0..unparkers)
        .map(|i| {
            let flags = Arc::clone(&flags);
            fixture.thread(move |fixture| {
                flags[i].store(1, Ordering::Relaxed);
                fixture.turn();
                if fixture.word.unpark() {
                    fixture.enqueue();
                }
            })
        })
        .collect();
    while flags[..unparkers]
        .iter()
        .any(|flag| flag.load(Ordering::Relaxed) == 0)
    {
        assert_eq!(fixture.wait(fixture.word.epoch(), OR_TOKEN), Code::TOKEN);
    }
    join(threads);
}

#[test]
fn model_token_one_unparker() {
    explore("token_one_unparker", 3, || flags_arrive(1));
}

#[test]
fn model_token_two_unparkers() {
    explore("token_two_unparkers", 3, || flags_arrive(2));
}

/// A wait that does not accept the token keeps it for the next one that does. A claim and a token
/// never end the same wait.
// Proves: F7.
#[test]
fn model_token_survives_another_wait() {
    explore("token_survives_another_wait", 3, || {
        let fixture = Fixture::new();
        let epoch = fixture.word.epoch();
        let unparker = fixture.thread(|fixture| {
            fixture.notes[1].write(8);
            fixture.turn();
            if fixture.word.unpark() {
                fixture.enqueue();
            }
        });
        let waker = fixture
            .thread(move |fixture| assert!(fixture.wake(0, epoch), "the one waker wins"));
        assert_eq!(
            fixture.wait(epoch, CLAIM_ONLY),
            Code::case(0),
            "the token was not asked for"
        );
        assert_eq!(fixture.wait(fixture.word.epoch(), OR_TOKEN), Code::TOKEN);
        assert_eq!(fixture.notes[1].read(), 8);
        join([unparker, waker]);
        assert!(!fixture.word.take_token(), "one token, given once");
    });
}

/// Takes the token without waiting, while it is being given.
#[test]
fn model_token_taken_without_waiting() {
    explore("token_taken_without_waiting", 3, || {
        let fixture = Fixture::new();
        let unparker = fixture.thread(|fixture| {
            fixture.notes[0].write(8);
            fixture.turn();
            assert!(!fixture.word.unpark(), "the owner never parked");
        });
        fixture.turn();
        let taken = fixture.word.take_token();
        if taken {
            assert_eq!(fixture.notes[0].read(), 8);
        }
        join([unparker]);
        assert_eq!(fixture.word.take_token(), !taken, "one token, taken once");
    });
}
