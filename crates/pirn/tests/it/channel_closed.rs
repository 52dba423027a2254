//! Senders that wait until nothing more can be sent, on channels of each kind.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::Interrupt;
use pirn::cancel::Token;
use pirn::channel::{ClosedCase, bounded, broadcast, never, oneshot, unbounded, watch};
use pirn::select::Select;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, runtime, until};
use crate::util::scaled;

/// The sending end of a channel of some kind.
trait Sends: Send + Sync {
    fn closed(&self) -> Result<(), Interrupt>;
    fn closed_case(&self) -> ClosedCase<'_>;
    fn is_closed(&self) -> bool;
}

macro_rules! sends {
    ($($sender:ty),*) => {
        $(impl Sends for $sender {
            fn closed(&self) -> Result<(), Interrupt> {
                <$sender>::closed(self)
            }

            fn closed_case(&self) -> ClosedCase<'_> {
                <$sender>::closed_case(self)
            }

            fn is_closed(&self) -> bool {
                <$sender>::is_closed(self)
            }
        })*
    };
}

sends!(
    pirn::channel::Sender<u8>,
    oneshot::Sender<u8>,
    watch::Sender<u8>,
    broadcast::Sender<u8>
);

/// A sender, and its only receiver.
type Ends = (Arc<dyn Sends>, Box<dyn Any + Send>);

/// Opens a channel of each kind.
fn each_kind() -> [Ends; 6] {
    fn ends(tx: impl Sends + 'static, rx: impl Any + Send) -> Ends {
        (Arc::new(tx), Box::new(rx))
    }
    let (rendezvous, buffer, unlimited) = (bounded(0), bounded(1), unbounded());
    let (one, latest, all) =
        (oneshot::channel(), watch::channel(0), broadcast::channel(2));
    [
        ends(rendezvous.0, rendezvous.1),
        ends(buffer.0, buffer.1),
        ends(unlimited.0, unlimited.1),
        ends(one.0, one.1),
        ends(latest.0, latest.1),
        ends(all.0, all.1),
    ]
}

/// Waits for the end as a case.
fn select_closed(tx: &dyn Sends) -> Result<(), Interrupt> {
    let nothing = never::<()>();
    pirn::select! {
        recv(nothing) -> _ => panic!("nothing comes"),
        case(tx.closed_case()) -> () => Ok(()),
        cancelled(interrupt) => Err(interrupt),
    }
}

/// All that wait return when the receiver is dropped, and not before, whichever comes first.
#[test]
fn a_wait_for_the_end_returns_with_the_last_receiver() {
    for round in 0..scaled(30) {
        for executor in EXECUTOR_KINDS {
            for (tx, rx) in each_kind() {
                let dropping = AtomicBool::new(false);
                let mut jobs = Jobs::new();
                for waiter in 0..4 {
                    let (tx, dropping) = (&tx, &dropping);
                    jobs.add(move || {
                        let waited = match waiter % 2 {
                            0 => tx.closed(),
                            _ => select_closed(&**tx),
                        };
                        assert_eq!(waited, Ok(()));
                        assert!(dropping.load(Ordering::SeqCst) && tx.is_closed());
                    });
                }
                jobs.add(|| {
                    (0..round % 8).for_each(|_| pirn::yield_now());
                    dropping.store(true, Ordering::SeqCst);
                    drop(rx);
                });
                jobs.run(executor, 2);
                // Later waits return at once.
                assert_eq!(tx.closed(), Ok(()));
                assert_eq!(select_closed(&*tx), Ok(()));
            }
        }
    }
}

/// Runs `end` when a fiber and a select wait for the end of `tx`'s channel; they return.
fn ends_waits(tx: &dyn Sends, end: impl FnOnce() + Send) {
    alone(|| {
        let count = AtomicUsize::new(0);
        pirn::scope(|scope| {
            let call = scope.spawn(|| {
                count.fetch_add(1, Ordering::SeqCst);
                tx.closed()
            });
            let select = scope.spawn(|| {
                count.fetch_add(1, Ordering::SeqCst);
                select_closed(tx)
            });
            until(&count, 2);
            (0..3).for_each(|_| pirn::yield_now());
            assert!(!call.is_finished() && !select.is_finished());
            end();
            assert_eq!(call.join().unwrap(), Ok(()));
            assert_eq!(select.join().unwrap(), Ok(()));
        });
    });
}

/// Each way in which a channel ends wakes what waits for it.
#[test]
fn each_end_of_a_channel_wakes_what_waits_for_it() {
    for (tx, rx) in each_kind() {
        ends_waits(&*tx, || drop(rx));
    }
    // A close; values that were sent are still there.
    let (tx, rx) = bounded(2);
    tx.send(1).unwrap();
    ends_waits(&tx, || assert!(rx.close()));
    assert_eq!(rx.recv(), Ok(1));
    let (tx, rx) = bounded(0);
    let other = tx.clone();
    ends_waits(&tx, || assert!(other.close_with("no more")));
    drop(rx);
    let (tx, mut rx) = oneshot::channel::<u8>();
    ends_waits(&tx, || rx.close());
    let (tx, mut rx) = broadcast::channel(2);
    tx.send(1).unwrap();
    ends_waits(&tx, || assert!(tx.close()));
    assert_eq!(rx.recv(), Ok(1));
    // The end of a future that owns the receiver.
    let (tx, rx) = oneshot::channel::<u8>();
    let future = Box::pin(rx.recv_async());
    ends_waits(&tx, || drop(future));
    // The last of several receivers.
    let (tx, rx) = watch::channel(0);
    let other = rx.clone();
    drop(rx);
    ends_waits(&tx, || drop(other));
}

/// A wait that is interrupted returns, and leaves no trace in the channel.
#[test]
fn a_wait_for_the_end_can_be_interrupted() {
    let token = Token::new();
    token.cancel();
    for (tx, rx) in each_kind() {
        let moment = Duration::from_millis(1);
        let late = pirn::timeout(moment, || tx.closed());
        assert!(!matches!(late, Ok(Ok(()))), "{late:?}");
        assert_eq!(token.enter(|| tx.closed()), Err(Interrupt::Cancelled));
        alone(|| {
            let sender = Arc::clone(&tx);
            let waits = pirn::spawn(move || sender.closed());
            (0..3).for_each(|_| pirn::yield_now());
            waits.cancel();
            assert_eq!(waits.join().unwrap(), Err(Interrupt::Cancelled));
        });
        drop(rx);
        assert_eq!(token.enter(|| tx.closed()), Err(Interrupt::Cancelled));
        assert_eq!(tx.closed(), Ok(()));
    }
}

/// A case that lost is withdrawn; one that won may win again.
#[test]
fn a_closed_case_is_withdrawn_and_wins_again() {
    for (tx, rx) in each_kind() {
        let (ready, values) = bounded(1);
        for i in 0..3 {
            let sender = ready.clone();
            let sends = pirn::spawn(move || sender.send(i).unwrap());
            pirn::select! {
                recv(values) -> value => assert_eq!(value, Ok(i)),
                case(tx.closed_case()) -> () => panic!("not closed"),
            }
            sends.join().unwrap();
        }
        let mut case = tx.closed_case();
        let mut select = Select::new();
        select.add(&mut case);
        assert_eq!(select.try_wait(), None);
        drop(rx);
        assert_eq!(select.try_wait(), Some(0));
        assert_eq!(select.wait(), Ok(0));
        case.take();
    }
}

/// A channel that gets a new receiver before the waiter resumes is waited for until that one is
/// gone as well.
#[test]
fn a_wait_for_the_end_goes_on_with_a_new_receiver() {
    alone(|| {
        let (tx, rx) = watch::channel(0);
        let (all, first) = broadcast::channel::<u8>(2);
        pirn::scope(|scope| {
            let waits = [
                scope.spawn(|| tx.closed()),
                scope.spawn(|| all.closed()),
                scope.spawn(|| select_closed(&tx)),
                scope.spawn(|| select_closed(&all)),
            ];
            (0..3).for_each(|_| pirn::yield_now());
            drop((rx, first));
            let (rx, second) = (tx.subscribe(), all.subscribe());
            (0..10).for_each(|_| pirn::yield_now());
            assert!(waits.iter().all(|wait| !wait.is_finished()));
            drop((rx, second));
            for wait in waits {
                assert_eq!(wait.join().unwrap(), Ok(()));
            }
        });
    });
}

/// Receivers come and go; in the end none is left, and all waits have returned.
#[test]
fn a_storm_of_receivers_that_come_and_go() {
    let runtime = runtime(2);
    for _ in 0..scaled(200) {
        let (tx, rx) = watch::channel(0);
        let (all, listener) = broadcast::channel::<u8>(2);
        runtime.scope(|scope| {
            for waiter in 0..6 {
                let (tx, all) = (&tx, &all);
                scope.spawn(move || {
                    let waited = match waiter % 4 {
                        0 => tx.closed(),
                        1 => all.closed(),
                        2 => select_closed(tx),
                        _ => select_closed(all),
                    };
                    assert_eq!(waited, Ok(()));
                });
            }
            scope.spawn(|| {
                drop((rx, listener));
                for _ in 0..20 {
                    let ends = (tx.subscribe(), all.subscribe());
                    pirn::yield_now();
                    drop(ends);
                }
            });
        });
    }
}
