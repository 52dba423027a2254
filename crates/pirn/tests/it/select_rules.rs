//! The rules of a choice: which case wins, the effect on the others, and the allowed contents.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::cancel::{Token, with_deadline};
use pirn::channel::{
    RecvError, TryRecvError, TrySendError, after, bounded, broadcast, never, oneshot,
    watch,
};
use pirn::select::{Select, parked};
use pirn::time;
use pirn::wait::{Ticket, Waitable, case, on};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, until};
use crate::util::{LONG, scaled};

/// Of two cases that are always possible, each wins about half of the time; under
/// `biased`, the first wins always.
// Proves: J6.
#[test]
fn two_possible_cases_share_the_wins() {
    let rounds = scaled(100_000);
    let ((a, from_a), (b, from_b)) = (bounded(1), bounded(1));
    let mut first = 0;
    for _ in 0..rounds {
        _ = (a.try_send(()), b.try_send(()));
        pirn::select! {
            recv(from_a) -> value => { value.unwrap(); first += 1 }
            recv(from_b) -> value => value.unwrap(),
        }
    }
    let share = first * 100 / rounds;
    assert!((45..=55).contains(&share), "{first} of {rounds}, a macro");

    let mut first = 0;
    for _ in 0..rounds {
        _ = (a.try_send(()), b.try_send(()));
        let (mut one, mut other) = (from_a.recv_case(), from_b.recv_case());
        let mut select = Select::new();
        select.add(&mut one);
        select.add(&mut other);
        first += usize::from(select.wait() == Ok(0));
    }
    let share = first * 100 / rounds;
    assert!((45..=55).contains(&share), "{first} of {rounds}, a set");

    for _ in 0..1_000 {
        _ = (a.try_send(()), b.try_send(()));
        pirn::select! {
            biased;
            recv(from_a) -> value => value.unwrap(),
            recv(from_b) -> _ => panic!("the first is possible"),
        }
    }
}

/// When an arm runs, the select is in no queue any more: on a channel that lost, no partner is
/// found for a receive or a send.
// Proves: J3.
#[test]
fn a_case_that_lost_waits_no_more() {
    for winner in [true, false] {
        alone(|| {
            let ((a, from_a), (b, from_b)) = (bounded(0), bounded(0));
            let (to_c, c) = bounded(0);
            let parked = AtomicUsize::new(0);
            pirn::scope(|s| {
                s.spawn(|| {
                    parked.fetch_add(1, Ordering::SeqCst);
                    pirn::select! {
                        recv(from_a) -> value => value.unwrap(),
                        recv(from_b) -> value => value.unwrap(),
                        send(to_c, 7) -> _ => panic!("no receiver takes it"),
                    }
                    assert_eq!(a.try_send(()), Err(TrySendError::Full(())));
                    assert_eq!(b.try_send(()), Err(TrySendError::Full(())));
                    assert_eq!(c.try_recv(), Err(TryRecvError::Empty));
                });
                until(&parked, 1);
                let chosen = if winner { &a } else { &b };
                chosen.try_send(()).unwrap();
            });
        });
    }
}

/// A token of `unpark` neither ends a select that does not request it, nor is it lost.
// Proves: J4.
#[test]
fn a_select_leaves_the_token_alone() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let rx = never::<()>();
            pirn::current().unpark();
            for _ in 0..10 {
                pirn::select! {
                    recv(rx) -> _ => panic!("nothing comes"),
                    after(Duration::from_millis(1)) => {}
                }
            }
            assert!(Select::new().wait_timeout(Duration::ZERO) == Ok(None));
            let mut token = parked();
            let mut select = Select::new();
            select.add(&mut token);
            assert_eq!(select.try_wait(), Some(0), "the token is there");
            assert_eq!(select.try_wait(), None, "and has been used");
        });
        jobs.run(executor, 1);
    }
}

/// Values in a channel are received before its close is reported.
// Proves: J7.
#[test]
fn a_buffered_value_comes_before_the_close() {
    let (tx, rx) = bounded(2);
    tx.send(1).unwrap();
    tx.send(2).unwrap();
    tx.close();
    for expected in [Ok(1), Ok(2), Err(RecvError::Disconnected)] {
        pirn::select! {
            recv(rx) -> value => assert_eq!(value, expected),
            after(LONG) => panic!("it is possible"),
        }
    }
    // The same for a waiting select: of a value and a close, the value is received first.
    alone(|| {
        let (tx, rx) = bounded(1);
        let never = never::<u8>();
        let receiver = pirn::spawn(move || {
            let mut got = Vec::new();
            while got.last() != Some(&Err(RecvError::Disconnected)) {
                pirn::select! {
                    recv(rx) -> value => got.push(value),
                    recv(never) -> _ => panic!("nothing comes"),
                }
            }
            got
        });
        pirn::yield_now();
        tx.send(7).unwrap();
        tx.close();
        let expected = [Ok(7), Err(RecvError::Disconnected)];
        assert_eq!(receiver.join().unwrap(), expected);
    });
}

/// A flag of the user's own.
#[derive(Default)]
struct Flag(Mutex<(bool, Vec<Ticket>)>);

impl Flag {
    fn raise(&self) {
        let mut state = self.0.lock().unwrap();
        state.0 = true;
        let waiting = std::mem::take(&mut state.1);
        drop(state);
        waiting.into_iter().for_each(|ticket| _ = ticket.wake());
    }
}

impl Waitable for Flag {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        self.0.lock().unwrap().0.then_some(())
    }

    fn register(&self, ticket: Ticket) -> bool {
        let mut state = self.0.lock().unwrap();
        if !state.0 {
            state.1.push(ticket);
        }
        !state.0
    }

    fn unregister(&self, ticket: Ticket) {
        self.0.lock().unwrap().1.retain(|held| *held != ticket);
    }
}

/// A waitable that itself waits, against its contract, for so many rounds.
struct Waits(Cell<u32>, fn());

impl Waitable for Waits {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        (self.0.get() == 0).then_some(())
    }

    fn register(&self, ticket: Ticket) -> bool {
        (self.1)();
        self.0.set(self.0.get() - 1);
        // If it has not had to wait after all, the ticket is valid.
        ticket.wake();
        true
    }

    fn unregister(&self, _: Ticket) {}
}

/// G4. The end of a wait inside a waitable is not mistaken for the end of the wait that it is
/// part of.
// Proves: G1.
#[test]
fn a_waitable_that_waits_decides_nothing() {
    let handed = || {
        let (tx, rx) = bounded(0);
        let sender = pirn::spawn(move || tx.send(()).unwrap());
        rx.recv().unwrap();
        sender.join().unwrap();
    };
    let expired = || {
        let end = never::<()>().recv_timeout(Duration::from_millis(1));
        assert!(end.is_err());
    };
    let chosen = || {
        let (tx, rx) = bounded(0);
        let (rest, sender) = (never::<()>(), pirn::spawn(move || tx.send(()).unwrap()));
        pirn::select! {
            recv(rest) -> _ => panic!("nothing comes"),
            recv(rx) -> value => value.unwrap(),
        }
        sender.join().unwrap();
    };
    let ways: [fn(); 3] = [handed, expired, chosen];
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for way in ways {
            jobs.add(move || {
                let late = time::now() + LONG;
                let ended = with_deadline(late, || on(&Waits(Cell::new(3), way)));
                assert_eq!(ended, Ok(()));
            });
            jobs.add(move || {
                let ((open, from_open), waits) =
                    (bounded::<()>(0), Waits(Cell::new(3), way));
                let (full, _room) = bounded(0);
                let late = time::now() + LONG;
                with_deadline(late, || {
                    pirn::select! {
                        recv(from_open) -> value => panic!("{value:?}"),
                        send(full, ()) -> sent => panic!("{sent:?}"),
                        case(case(&waits)) -> () => {}
                    }
                });
                drop(open);
            });
        }
        jobs.run(executor, 2);
    }
}

/// All kinds of cases in one select, each made possible in its turn while the select waits.
// Proves: G1, J5.
#[test]
fn everything_fits_into_one_select() {
    for executor in EXECUTOR_KINDS {
        for turn in 0..11 {
            let mut jobs = Jobs::new();
            jobs.add(move || assert_eq!(one_of_all(turn), turn));
            jobs.run(executor, 2);
        }
    }
}

/// Waits for eleven cases, of which only the one numbered `turn` becomes possible; returns the
/// winner.
fn one_of_all(turn: usize) -> usize {
    let (plain, from_plain) = bounded(0);
    let (to_wanted, wanted) = bounded::<u8>(0);
    let (answer, answered) = oneshot::channel();
    let (news, mut from_news) = broadcast::channel(1);
    let (value, mut seen) = watch::channel(0);
    let (readied, ready) = bounded(1);
    let (finish, finished) = bounded::<()>(0);
    let flag = std::sync::Arc::new(Flag::default());
    let fiber = pirn::spawn(move || _ = finished.recv());
    let soon = |is: usize| {
        time::now()
            + if turn == is {
                Duration::from_millis(5)
            } else {
                LONG
            }
    };
    let mut beats = time::interval(LONG);
    beats.tick().expect("the first comes at once");
    if turn == 9 {
        beats = time::interval(Duration::from_millis(5));
        beats.tick().expect("the first comes at once");
    }
    let (me, raise) = (pirn::current(), std::sync::Arc::clone(&flag));
    // All ends stay open until the select is over.
    let other = pirn::spawn(move || {
        match turn {
            0 => plain.send(()).expect("it is received"),
            1 => assert_eq!(wanted.recv(), Ok(7)),
            3 => _ = news.send(()).expect("it is received"),
            4 => value.send(1).expect("it is watched"),
            5 => readied.send(()).expect("there is room"),
            6 => drop(finish.close()),
            7 => raise.raise(),
            10 => me.unpark(),
            _ => {}
        }
        if turn == 2 {
            answer.send(()).expect("it is received");
            return ((plain, wanted, news, value), (readied, finish), None);
        }
        (
            (plain, wanted, news, value),
            (readied, finish),
            Some(answer),
        )
    });
    let came = pirn::select! {
        recv(from_plain) -> value => { value.unwrap(); 0 }
        send(to_wanted, 7) -> sent => { sent.unwrap(); 1 }
        recv(answered) -> value => { value.unwrap(); 2 }
        case(from_news.recv_case()) -> value => { value.unwrap(); 3 }
        case(seen.changed_case()) -> changed => { changed.unwrap(); 4 }
        case(ready.ready_case()) -> _ => 5,
        join(fiber) => 6,
        case(case(&*flag)) -> _ => 7,
        at(soon(8)) => 8,
        case(beats.case()) -> _ => 9,
        parked() => 10,
    };
    drop(other.join().unwrap());
    fiber.cancel();
    came
}

/// Never completes, and makes another case possible when it is published.
struct Trigger<F: Fn()>(F);

impl<F: Fn()> Waitable for Trigger<F> {
    type Output = ();

    fn try_complete(&self) -> Option<()> {
        None
    }

    fn register(&self, _: Ticket) -> bool {
        (self.0)();
        true
    }

    fn unregister(&self, _: Ticket) {}
}

/// Selects on `other`, which `make_possible` makes possible while the cases are published: before
/// or after `other` itself is.
fn wins_when_made_possible<C: pirn::select::Case>(
    other: &mut C,
    make_possible: impl Fn(),
) {
    let trigger = Trigger(make_possible);
    let mut trigger = case(&trigger);
    let mut select = Select::new();
    select.add(&mut trigger);
    select.add(other);
    assert_eq!(select.wait_timeout(LONG), Ok(Some(1)));
}

/// A case that becomes possible while the select publishes its cases wins, and no registration is
/// left.
#[test]
fn a_case_may_become_possible_at_any_moment() {
    for _ in 0..40 {
        let token = Token::new();
        wins_when_made_possible(&mut token.case(), || token.cancel());
        assert!(token.is_cancelled());

        let (tx, mut rx) = broadcast::channel(2);
        let mut received = rx.recv_case();
        wins_when_made_possible(&mut received, || _ = tx.send(5));
        assert_eq!(received.take(), Ok(5));
        let mut over = rx.clone();
        wins_when_made_possible(&mut over.recv_case(), || _ = tx.close());

        let (tx, rx) = bounded(1);
        let mut received = rx.recv_case();
        wins_when_made_possible(&mut received, || _ = tx.try_send(6));
        assert_eq!(received.take(), Ok(6));
        tx.try_send(7).unwrap();
        let mut sent = tx.send_case(8);
        wins_when_made_possible(&mut sent, || _ = rx.try_recv());
        assert_eq!(sent.take(), Ok(()));
        wins_when_made_possible(&mut tx.ready_case(), || _ = rx.try_recv());
        wins_when_made_possible(&mut rx.ready_case(), || _ = tx.try_send(9));
        assert_eq!(rx.try_recv(), Ok(9));

        let (tx, mut rx) = watch::channel(0);
        wins_when_made_possible(&mut rx.changed_case(), || tx.send(1).unwrap());
        let (tx, rx) = oneshot::channel();
        let tx = Cell::new(Some(tx));
        let mut received = rx.recv_case();
        wins_when_made_possible(&mut received, || {
            if let Some(tx) = tx.take() {
                tx.send(3).unwrap();
            }
        });
        assert_eq!(received.take(), Ok(3));
    }
}

/// A fiber that waits until an operation on a rendezvous channel would not wait is notified of an
/// arriving partner, alone or in a select.
#[test]
fn a_partner_that_waits_makes_the_other_side_ready() {
    for sends in [false, true] {
        for selects in [false, true] {
            let is_ready = alone(move || {
                let (tx, rx) = bounded::<u8>(0);
                let (tx, rx) = (&tx, &rx);
                pirn::scope(|s| {
                    let watches = s.spawn(move || {
                        let mut ready = match sends {
                            true => rx.ready_case(),
                            false => tx.ready_case(),
                        };
                        let mut select = Select::new();
                        select.add(&mut ready);
                        select.wait()
                    });
                    pirn::yield_now();
                    pirn::yield_now();
                    assert!(!watches.is_finished());
                    let partner = s.spawn(move || match (sends, selects) {
                        (false, false) => drop(rx.recv()),
                        (true, false) => drop(tx.send(1)),
                        (false, true) => {
                            let mut case = rx.recv_case();
                            let mut select = Select::new();
                            select.add(&mut case);
                            _ = select.wait();
                        }
                        (true, true) => {
                            let mut case = tx.send_case(1);
                            let mut select = Select::new();
                            select.add(&mut case);
                            _ = select.wait();
                        }
                    });
                    // They have one worker with the caller, so they have reached their waits.
                    (0..100).for_each(|_| pirn::yield_now());
                    assert!(!partner.is_finished());
                    let is_ready = watches.is_finished();
                    s.cancel();
                    is_ready
                })
            });
            assert!(is_ready, "a sender: {sends}, in a select: {selects}");
        }
    }
}

/// A timer channel is ready when its moment has arrived.
#[test]
fn a_clock_makes_its_channel_ready() {
    let rx = after(Duration::from_millis(1));
    let mut ready = rx.ready_case();
    let mut select = Select::new();
    select.add(&mut ready);
    assert_eq!(select.wait_timeout(LONG), Ok(Some(0)));
    assert!(rx.try_recv().is_ok());
}
