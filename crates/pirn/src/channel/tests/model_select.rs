//! Models of the shipped choice over shipped pipes. A select completes exactly one case, the other
//! cases have no effect, and no party waits indefinitely.

use super::stage::Cast;
use crate::base::tests::explore::explore;
use crate::channel::{Receiver, Sender, bounded};

/// Receives from the channel that is ready first.
fn either(a: &Receiver<u32>, b: &Receiver<u32>) -> u32 {
    crate::select! {
        recv(a) -> value => value.unwrap(),
        recv(b) -> value => value.unwrap(),
    }
}

/// Receives from one or sends to the other. Returns true if it has sent.
fn exchange(from: &Receiver<u32>, to: &Sender<u32>) -> bool {
    crate::select! {
        recv(from) -> value => { value.unwrap(); false }
        send(to, 1) -> sent => { sent.unwrap(); true }
    }
}

/// One sender on one of two rendezvous channels.
// Proves: J2.
#[test]
fn model_select_against_a_sender() {
    explore("select_sender", 2, || {
        let mut cast = Cast::new();
        let ((_a, from_a), (b, from_b)) = (bounded(0), bounded(0));
        cast.start(move || b.send(7).unwrap());
        assert_eq!(cast.play(|| either(&from_a, &from_b)), 7);
        cast.end();
    });
}

/// A value that is buffered while the select publishes.
#[test]
fn model_select_against_a_buffered_value() {
    explore("select_buffered", 2, || {
        let mut cast = Cast::new();
        let ((a, from_a), (_b, from_b)) = (bounded(1), bounded(1));
        cast.start(move || a.try_send(7).unwrap());
        assert_eq!(cast.play(|| either(&from_a, &from_b)), 7);
        cast.end();
    });
}

/// Both channels have a sender: each select takes one value, none is lost.
// Proves: J2.
#[test]
fn model_select_against_two_senders() {
    explore("select_two_senders", 1, || {
        let mut cast = Cast::new();
        let ((a, from_a), (b, from_b)) = (bounded(0), bounded(0));
        let _open = (a.clone(), b.clone());
        cast.start(move || a.send(1).unwrap());
        cast.start(move || b.send(2).unwrap());
        let sum = cast.play(|| either(&from_a, &from_b) + either(&from_a, &from_b));
        assert_eq!(sum, 3);
        cast.end();
    });
}

/// Two selects over the two ends of one rendezvous channel.
// Proves: J2.
#[test]
fn model_select_meets_its_like() {
    explore("select_meets", 2, || {
        let mut cast = Cast::new();
        let ((tx, rx), (idle, never)) = (bounded(0), bounded::<u32>(0));
        let keep = idle.clone();
        cast.start(move || {
            crate::select! {
                send(tx, 7) -> sent => sent.unwrap(),
                recv(never) -> _ => unreachable!("nothing is sent"),
            }
        });
        let (_idle, nothing) = bounded::<u32>(0);
        assert_eq!(cast.play(|| either(&rx, &nothing)), 7);
        cast.end();
        drop(keep);
    });
}

/// Two selects over two rendezvous channels, in opposite directions and order: they meet
/// once, on one of them.
// Proves: J8.
#[test]
fn model_select_in_opposite_directions() {
    explore("select_opposite", 1, || {
        let mut cast = Cast::new();
        let ((a, from_a), (b, from_b)) = (bounded(0), bounded(0));
        let sent = std::sync::Arc::new(crate::shim::Lock::new(false));
        {
            let (a, from_b, sent) =
                (a.clone(), from_b.clone(), std::sync::Arc::clone(&sent));
            cast.start(move || {
                let done = crate::select! {
                    send(a, 1) -> end => { end.unwrap(); true }
                    recv(from_b) -> value => { value.unwrap(); false }
                };
                *sent.lock() = done;
            });
        }
        let mine = cast.play(|| exchange(&from_a, &b));
        cast.end();
        assert_ne!(mine, *sent.lock());
    });
}

/// The last sender is dropped while the select publishes.
// Proves: J7.
#[test]
fn model_select_against_a_disconnect() {
    explore("select_disconnect", 2, || {
        let mut cast = Cast::new();
        let ((a, from_a), (_b, from_b)) = (bounded::<u32>(0), bounded::<u32>(0));
        cast.start(move || drop(a));
        let disconnected = cast.play(|| {
            crate::select! {
                recv(from_a) -> value => value.is_err(),
                recv(from_b) -> _ => false,
            }
        });
        assert!(disconnected);
        cast.end();
    });
}
