//! Promises of a select.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pirn::Interrupt;
use pirn::cancel::Token;
use pirn::channel::{
    RecvError, SendError, TryRecvError, after, bounded, never, oneshot, tick, unbounded,
};
use pirn::select::Select;
use pirn::wait::{Ticket, Waitable, case};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(60);

#[test]
fn the_case_that_is_possible_wins() {
    let (tx, rx) = bounded(1);
    let (full, _full) = bounded(0);
    tx.send(1).unwrap();
    let arm = pirn::select! {
        recv(rx) -> value => value.unwrap(),
        send(full, 7) -> sent => panic!("{sent:?}"),
        after(LONG) => panic!("late"),
    };
    assert_eq!(arm, 1);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}

// Proves: J5.
#[test]
fn default_runs_when_nothing_is_possible() {
    let rx = never::<()>();
    let arm = pirn::select! {
        recv(rx) -> _ => "received",
        default => "default",
    };
    assert_eq!(arm, "default");
    let only = pirn::select! { default => 5 };
    assert_eq!(only, 5);
}

// Proves: J-X-default.
#[test]
fn what_is_always_possible_somewhere_is_not_missed() {
    /// When it is first polled, moves a value from one channel to the other, as another party may
    /// at any time, and never completes.
    struct Mover<F: Fn()>(F, AtomicBool);
    impl<F: Fn()> Waitable for Mover<F> {
        type Output = ();
        fn try_complete(&self) -> Option<()> {
            if !self.1.swap(true, Ordering::Relaxed) {
                self.0();
            }
            None
        }
        fn register(&self, _: Ticket) -> bool {
            true
        }
        fn unregister(&self, _: Ticket) {}
    }
    let ways: [fn(&mut Select<'_>) -> Option<usize>; 2] = [
        |select| select.try_wait(),
        |select| select.wait_timeout(Duration::ZERO).unwrap(),
    ];
    for way in ways {
        let ((tx, rx), (to, from)) = (bounded(1), unbounded());
        tx.send(1).unwrap();
        let mover = Mover(
            || to.send(rx.try_recv().unwrap()).unwrap(),
            AtomicBool::new(false),
        );
        let (mut first, mut between, mut last) =
            (from.recv_case(), case(&mover), rx.recv_case());
        let mut select = Select::biased();
        select.add(&mut first);
        select.add(&mut between);
        select.add(&mut last);
        assert_eq!(way(&mut select), Some(0));
        assert_eq!(first.take(), Ok(1));
    }
}

// Proves: J7.
#[test]
fn a_closed_channel_is_possible_and_says_so() {
    let (tx, rx) = bounded::<u8>(1);
    drop(tx);
    pirn::select! {
        recv(rx) -> value => assert_eq!(value, Err(RecvError::Disconnected)),
        default => panic!("closed is possible"),
    }
    let (tx, rx) = bounded(1);
    drop(rx);
    pirn::select! {
        send(tx, 9) -> sent => assert_eq!(sent, Err(SendError::Disconnected(9))),
        default => panic!("closed is possible"),
    }
}

#[test]
fn arms_are_those_of_a_match() {
    fn inner() -> Result<u32, RecvError> {
        let (tx, rx) = bounded(1);
        let mut sum = 0;
        for i in 0..10 {
            tx.send(i).unwrap();
            pirn::select! {
                recv(rx) -> value => {
                    let value = value?;
                    if value == 3 { continue }
                    if value == 6 { break }
                    sum += value;
                }
                after(LONG) => return Ok(99),
            }
        }
        drop(tx);
        pirn::select! { recv(rx) -> value => { value?; } }
        Ok(sum)
    }
    assert_eq!(inner(), Err(RecvError::Disconnected));
}

/// No time limit ends the select, so a lost wake hangs.
// Proves: J1.
#[test]
fn a_parked_select_is_completed_by_its_peer() {
    for executor in EXECUTOR_KINDS {
        let (a, from_a) = bounded(0);
        let (to_b, b) = bounded(0);
        let open = (a.clone(), b.clone());
        let mut jobs = Jobs::new();
        jobs.add(move || {
            let mut seen = 0;
            for _ in 0..2_000 {
                pirn::select! {
                    recv(from_a) -> value => seen += value.unwrap(),
                    send(to_b, 1) -> sent => sent.unwrap(),
                }
            }
            assert_eq!(seen, 1_000);
        });
        jobs.add(move || (0..1_000).for_each(|_| a.send(1).unwrap()));
        jobs.add(move || assert_eq!(b.iter().take(1_000).sum::<i32>(), 1_000));
        jobs.run(executor, 2);
        drop(open);
    }
}

/// Members continue until all have completed their rounds, so each has a partner, and a lost wake
/// stalls one.
// Proves: J1.
#[test]
fn a_select_on_both_ends_of_a_rendezvous_meets_its_like() {
    const MEMBERS: usize = 4;
    const ROUNDS: usize = 1_000;
    for executor in EXECUTOR_KINDS {
        let (tx, rx) = bounded(0);
        let (open, done) = bounded::<()>(0);
        let going = AtomicUsize::new(MEMBERS);
        let (sent, received) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut jobs = Jobs::new();
        for _ in 0..MEMBERS {
            jobs.add(|| {
                let mut met = 0;
                loop {
                    let side = pirn::select! {
                        recv(rx) -> value => { value.unwrap(); &received }
                        send(tx, 1) -> end => { end.unwrap(); &sent }
                        recv(done) -> _ => break,
                        after(LONG) => panic!("a select stalled"),
                    };
                    side.fetch_add(1, Ordering::SeqCst);
                    met += 1;
                    if met == ROUNDS && going.fetch_sub(1, Ordering::SeqCst) == 1 {
                        open.close();
                    }
                }
            });
        }
        jobs.run(executor, 2);
        let (sent, received) = (sent.into_inner(), received.into_inner());
        assert_eq!(sent, received);
        assert!(sent >= MEMBERS * ROUNDS / 2, "only {sent} meetings");
    }
}

// Proves: J5.
#[test]
fn time_ends_a_select() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let rx = never::<()>();
            let start = Instant::now();
            pirn::select! {
                recv(rx) -> _ => panic!("nothing comes"),
                after(SHORT) => {}
            }
            assert!(start.elapsed() >= SHORT);
            let timer = after(SHORT);
            pirn::select! {
                recv(rx) -> _ => panic!("nothing comes"),
                recv(timer) -> at => assert!(at.unwrap() <= Instant::now()),
            }
            let beats = tick(Duration::from_millis(2));
            for _ in 0..3 {
                pirn::select! {
                    recv(beats) -> at => assert!(at.is_ok()),
                    after(LONG) => panic!("late"),
                }
            }
        });
        jobs.run(executor, 1);
    }
}

// Proves: J9.
#[test]
fn an_interrupt_goes_to_its_arm_or_to_the_first_channel() {
    let (ready, is_ready) = bounded(0);
    let fiber = pirn::spawn(move || {
        let rx = never::<()>();
        ready.send(()).unwrap();
        let first = pirn::select! {
            recv(rx) -> _ => false,
            cancelled(interrupt) => interrupt == Interrupt::Cancelled,
        };
        let second = pirn::select! {
            after(LONG) => false,
            recv(rx) -> value => {
                value == Err(RecvError::Interrupted(Interrupt::Cancelled))
            }
        };
        first && second
    });
    is_ready.recv().unwrap();
    fiber.cancel();
    assert!(fiber.join().unwrap());
}

/// Each kind of arm that can receive an interrupt has it as its error. The value of a send is
/// returned.
#[test]
fn an_interrupt_is_an_error_of_every_arm_that_has_one() {
    let token = Token::new();
    token.cancel();
    token.enter(|| {
        let cancelled = Interrupt::Cancelled;
        let (tx, rx) = bounded::<u8>(0);
        let received = pirn::select! { recv(rx) -> value => value };
        assert_eq!(received, Err(RecvError::Interrupted(cancelled)));
        let sent = pirn::select! { send(tx, 5) -> sent => sent };
        assert_eq!(sent, Err(SendError::Interrupted(5, cancelled)));
        let (_tx, rx) = oneshot::channel::<u8>();
        let received = pirn::select! { recv(rx) -> value => value };
        assert_eq!(received, Err(RecvError::Interrupted(cancelled)));
    });
}

// Proves: J4.
#[test]
fn the_end_of_a_fiber_and_the_park_token_are_cases() {
    let (tx, rx) = bounded::<()>(0);
    let fiber = pirn::spawn(move || rx.recv().is_err());
    pirn::select! {
        join(fiber) => panic!("it waits"),
        default => {}
    }
    let me = pirn::current();
    let unparker = pirn::spawn(move || me.unpark());
    pirn::select! {
        parked() => {}
        join(fiber) => panic!("it waits"),
        after(LONG) => panic!("not unparked"),
        cancelled(_) => panic!("not cancelled"),
    }
    unparker.join().unwrap();
    drop(tx);
    pirn::select! {
        join(fiber) => {}
        cancelled(_) => panic!("not cancelled"),
    }
    assert!(fiber.join().unwrap());
}

// Proves: J3.
#[test]
fn a_value_that_was_not_sent_comes_back() {
    let (tx, rx) = bounded(1);
    tx.send(1).unwrap();
    let mut case = tx.send_case(2);
    let mut select = Select::new();
    select.add(&mut case);
    assert_eq!(select.try_wait(), None);
    assert_eq!(select.wait_timeout(SHORT), Ok(None));
    assert_eq!(case.reclaim(), Some(2));
    assert_eq!(rx.recv(), Ok(1));
    let mut case = tx.send_case(3);
    let mut select = Select::biased();
    select.add(&mut case);
    assert_eq!(select.wait(), Ok(0));
    case.take().unwrap();
    case.rearm(4);
    assert_eq!(rx.recv(), Ok(3));
    let mut select = Select::new();
    select.add(&mut case);
    assert_eq!(select.wait(), Ok(0));
    assert_eq!(rx.recv(), Ok(4));
}

/// A select that would itself be the partner of a send does not report that a send is possible.
#[test]
fn a_select_is_not_ready_for_itself() {
    for sends in [false, true] {
        for _ in 0..50 {
            let (tx, rx) = bounded::<u32>(0);
            let mut ready = if sends {
                rx.ready_case()
            } else {
                tx.ready_case()
            };
            let (mut recv, mut send) = (rx.recv_case(), tx.send_case(1));
            let mut select = Select::new();
            select.add(&mut ready);
            if sends {
                select.add(&mut send);
            } else {
                select.add(&mut recv);
            }
            let won = select.wait_timeout(Duration::from_millis(1));
            assert_eq!(won, Ok(None));
        }
    }
}

/// Of several possible cases each wins as often as any other, at any position among them and among
/// impossible ones.
#[test]
fn every_possible_case_has_its_turn() {
    for (possible, others) in [(2, 0), (3, 0), (5, 0), (20, 0), (3, 3), (3, 20)] {
        let (open, never) = bounded::<()>(0);
        let closed: Vec<_> = (0..possible).map(|_| bounded::<()>(0).1).collect();
        let mut won = vec![0; possible];
        for _ in 0..possible * 200 {
            let mut waits: Vec<_> = (0..others).map(|_| never.recv_case()).collect();
            let mut cases: Vec<_> = closed.iter().map(|rx| rx.recv_case()).collect();
            let mut select = Select::new();
            for case in waits.iter_mut().chain(&mut cases) {
                select.add(case);
            }
            won[select.wait().unwrap() - others] += 1;
        }
        // 200 times each, give or take 15.
        let fair = won.iter().all(|times| (100..300).contains(times));
        assert!(fair, "{possible} beside {others}: {won:?}");
        drop(open);
    }
}
