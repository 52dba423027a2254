//! Programs on channels that are drawn from the seed of the run: each value is accounted for.
//!
//! Three fibers take four random steps each, on three channels, until a token is cancelled. Waits
//! have limits, some of them as short as a choice.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use fastrand::Rng;
use pirn::cancel::Token;
use pirn::channel::{self, Receiver, SendTimeoutError, Sender};
use pirn::future::wait;
use pirn::select::{Case, Select};
use pirn::{scope, time, timeout};

use crate::drawn::{length, rng};
use crate::{Log, check};

/// The records of all fibers of one run.
struct Books {
    channels: Vec<(Sender<u32>, Receiver<u32>)>,
    sent: Log<u32>,
    /// Values of futures that were dropped: they may have been received.
    offered: Log<u32>,
    received: Log<u32>,
    /// Futures that are dropped put values back, behind the order.
    has_futures: bool,
}

impl Books {
    fn draw(rng: &mut Rng) -> Books {
        Books {
            channels: (0..3).map(|_| channel::bounded(rng.usize(..3))).collect(),
            sent: Log::new(),
            offered: Log::new(),
            received: Log::new(),
            has_futures: rng.bool(),
        }
    }

    /// Takes one step, with `value` if it sends. Returns what it has received, and from which
    /// channel.
    fn step(&self, rng: &mut Rng, value: u32) -> Vec<(usize, u32)> {
        let limit = length(rng);
        let at = rng.usize(..3);
        let (tx, rx) = &self.channels[at];
        let steps = if self.has_futures { 14 } else { 10 };
        let mut taken = Vec::new();
        match rng.u32(..steps) {
            0 => match tx.send_timeout(value, limit) {
                Ok(()) => self.sent.add(value),
                Err(error) => assert_eq!(SendTimeoutError::into_inner(error), value),
            },
            1 => match tx.try_send(value) {
                Ok(()) => self.sent.add(value),
                Err(error) => assert_eq!(error.into_inner(), value),
            },
            2 => {
                let mut values = VecDeque::from([value]);
                let _ = timeout(limit, || tx.send_many(&mut values));
                if values.is_empty() {
                    self.sent.add(value);
                }
            }
            3 | 4 => return self.select(rng, value, limit).into_iter().collect(),
            5 => taken.extend(rx.recv_timeout(limit)),
            6 => taken.extend(rx.try_recv()),
            7 => _ = timeout(limit, || rx.recv_many(&mut taken, 2)),
            8 => {
                let mut ready = rx.ready_case();
                let mut select = Select::new();
                select.add(&mut ready);
                if let Ok(Some(0)) = select.wait_timeout(limit) {
                    taken.extend(rx.try_recv());
                }
            }
            9 if rng.u32(..8) == 0 => _ = tx.close(),
            9 => _ = time::sleep(limit),
            10 => {
                self.offered.add(value);
                if let Ok(Ok(Ok(()))) = timeout(limit, || wait(tx.send_async(value))) {
                    self.sent.add(value);
                }
            }
            11 => {
                let received = timeout(limit, || wait(rx.recv_async()));
                taken.extend(received.ok().and_then(Result::ok).and_then(Result::ok));
            }
            12 => {
                let mut future = Box::pin(rx.recv_async());
                if let Poll::Ready(Ok(value)) = poll_once(future.as_mut()) {
                    taken.push(value);
                }
                let _ = time::sleep(limit);
            }
            _ => match tx.force_send(value) {
                Ok(displaced) => {
                    self.sent.add(value);
                    displaced.into_iter().for_each(|it| self.received.add(it));
                }
                Err(error) => assert_eq!(error.into_inner(), value),
            },
        }
        taken.into_iter().map(|value| (at, value)).collect()
    }

    /// A select over one send of `value` at most, and some receives. Returns what it has received.
    fn select(&self, rng: &mut Rng, value: u32, limit: Duration) -> Option<(usize, u32)> {
        let mut sends = Vec::new();
        let mut receives = Vec::new();
        let mut places = Vec::new();
        for (at, (tx, rx)) in self.channels.iter().enumerate() {
            if sends.is_empty() && rng.bool() {
                sends.push(tx.send_case(value));
            } else if rng.bool() {
                receives.push(rx.recv_case());
                places.push(at);
            }
        }
        let count = sends.len();
        let mut select = match rng.bool() {
            true => Select::new(),
            false => Select::biased(),
        };
        let cases = sends.iter_mut().map(|case| case as &mut dyn Case);
        let others = receives.iter_mut().map(|case| case as &mut dyn Case);
        for case in cases.chain(others) {
            select.add(case);
        }
        let chosen = match rng.bool() {
            true => select.wait_timeout(limit).ok().flatten(),
            false => select.try_wait(),
        };
        match chosen {
            Some(index) if index < count => match sends[index].take() {
                Ok(()) => self.sent.add(value),
                Err(error) => assert_eq!(error.into_inner(), value),
            },
            Some(index) => {
                let received = receives[index - count].take().ok();
                return received.map(|value| (places[index - count], value));
            }
            None => {
                let kept = sends.pop().map(|case| case.reclaim());
                assert!(kept.is_none_or(|kept| kept == Some(value)));
            }
        }
        None
    }

    /// Checks that each value has been received once that was sent.
    fn close(self) {
        let mut received = self.received.take();
        for (tx, rx) in self.channels {
            drop(tx);
            received.extend(rx.iter());
        }
        received.sort_unstable();
        assert!(
            received.is_sorted_by(|one, next| one < next),
            "{received:?}"
        );
        let (sent, offered) = (self.sent.take(), self.offered.take());
        assert!(
            sent.iter().all(|it| received.contains(it)),
            "{sent:?} {received:?}"
        );
        let may_come = |it: &u32| sent.contains(it) || offered.contains(it);
        assert!(received.iter().all(may_come), "{sent:?} {received:?}");
    }
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

// Proves: U30-drawn.
#[test]
fn values_of_drawn_programs_are_accounted_for() {
    check(|| {
        let mut rng = rng();
        let books = Arc::new(Books::draw(&mut rng));
        let token = Token::new();
        scope(|s| {
            for fiber in 0..3 {
                let (mut rng, books, token) =
                    (rng.fork(), Arc::clone(&books), token.clone());
                s.spawn(move || {
                    let mut taken = Vec::new();
                    for step in 0..4 {
                        let value = fiber * 4 + step;
                        let mut take = || books.step(&mut rng, value);
                        taken.extend(match fiber {
                            0 => take(),
                            _ => token.enter(take),
                        });
                    }
                    // Values of one sender through one channel come in their order.
                    for (sender, at) in
                        (0..3).flat_map(|it| (0..3).map(move |at| (it, at)))
                    {
                        let is_theirs =
                            |it: &&(usize, u32)| it.0 == at && it.1 / 4 == sender;
                        let is_sorted = taken.iter().filter(is_theirs).is_sorted();
                        assert!(is_sorted || books.has_futures, "{taken:?}");
                    }
                    taken.into_iter().for_each(|it| books.received.add(it.1));
                });
            }
            let _ = time::sleep(length(&mut rng));
            token.cancel();
        });
        Arc::into_inner(books).unwrap().close();
    });
}
