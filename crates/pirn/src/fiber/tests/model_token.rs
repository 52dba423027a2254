//! Models of the one token: none is lost, none counts twice, and it passes on what was written
//! before it was given, also if it was there already.

use std::sync::Arc;

use super::rig::{CLAIM_ONLY, OR_TOKEN, Rig, join};
use crate::base::tests::explore::explore;
use crate::fiber::state::Code;
use crate::shim::atomic::{AtomicU32, Ordering};

/// The owner parks until it has seen the flag of each unparker; only the token orders flags.
fn flags_arrive(unparkers: usize) {
    let rig = Rig::new();
    let flags: Arc<[AtomicU32; 2]> = Arc::default();
    let threads: Vec<_> = (0..unparkers)
        .map(|i| {
            let flags = Arc::clone(&flags);
            rig.thread(move |rig| {
                flags[i].store(1, Ordering::Relaxed);
                rig.turn();
                if rig.word.unpark() {
                    rig.enqueue();
                }
            })
        })
        .collect();
    while flags[..unparkers]
        .iter()
        .any(|flag| flag.load(Ordering::Relaxed) == 0)
    {
        assert_eq!(rig.wait(rig.word.epoch(), OR_TOKEN), Code::TOKEN);
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
        let rig = Rig::new();
        let epoch = rig.word.epoch();
        let unparker = rig.thread(|rig| {
            rig.notes[1].write(8);
            rig.turn();
            if rig.word.unpark() {
                rig.enqueue();
            }
        });
        let waker =
            rig.thread(move |rig| assert!(rig.wake(0, epoch), "the one waker wins"));
        assert_eq!(
            rig.wait(epoch, CLAIM_ONLY),
            Code::case(0),
            "the token was not asked for"
        );
        assert_eq!(rig.wait(rig.word.epoch(), OR_TOKEN), Code::TOKEN);
        assert_eq!(rig.notes[1].read(), 8);
        join([unparker, waker]);
        assert!(!rig.word.take_token(), "one token, given once");
    });
}

/// Takes the token without waiting, while it is being given.
#[test]
fn model_token_taken_without_waiting() {
    explore("token_taken_without_waiting", 3, || {
        let rig = Rig::new();
        let unparker = rig.thread(|rig| {
            rig.notes[0].write(8);
            rig.turn();
            assert!(!rig.word.unpark(), "the owner never parked");
        });
        rig.turn();
        let taken = rig.word.take_token();
        if taken {
            assert_eq!(rig.notes[0].read(), 8);
        }
        join([unparker]);
        assert_eq!(rig.word.take_token(), !taken, "one token, taken once");
    });
}
