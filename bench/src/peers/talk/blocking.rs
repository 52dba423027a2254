//! Ping-pong and messages, once for all libraries with blocking channels.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::case::{Place, Shape};
use crate::child::{Job, Laps, Outcome, Skip};

use super::channel::Channel;
use super::home::Home;

const OPEN: &str = "the other party is there";

/// Keeps two sides computing until both have begun.
#[derive(Debug, Default)]
pub(super) struct Gate(AtomicU64);

impl Gate {
    /// Waits for the other side, if they must begin on different workers.
    pub(super) fn pass(&self, place: Place) {
        if place != Place::Apart {
            return;
        }
        self.0.fetch_add(1, Ordering::SeqCst);
        while self.0.load(Ordering::SeqCst) < 2 {
            spin_loop();
        }
    }
}

pub(super) fn ping_pong<C: Channel, H: Home>(job: &Job, place: Place) -> Outcome {
    let trips = job.n;
    let mut laps = Laps::new(job);
    while laps.begin() {
        let (Some((there, far)), Some((back, near))) =
            (C::open(Some(0)), C::open(Some(0)))
        else {
            return Err(Skip("no rendezvous"));
        };
        let gate = Arc::new(Gate::default());
        let other = gate.clone();
        let caller = H::spawn(move || {
            gate.pass(place);
            let mut ball = 0;
            for _ in 0..trips {
                C::send(&there, ball);
                ball = C::recv(&near).expect(OPEN);
            }
            ball
        });
        let echo = H::spawn(move || {
            other.pass(place);
            for _ in 0..trips {
                let ball = C::recv(&far).expect(OPEN);
                C::send(&back, ball + 1);
            }
            0
        });
        let ball = H::join(caller);
        H::join(echo);
        laps.end();
        assert_eq!(ball, trips, "a message was lost or came twice");
    }
    laps.per_operation(trips);
    Ok(())
}

pub(super) fn messages<C: Channel, H: Home>(job: &Job, shape: Shape) -> Outcome {
    let each = job.n / shape.senders;
    let total = each * shape.senders;
    let mut laps = Laps::new(job);
    while laps.begin() {
        let Some((sender, receiver)) = C::open(shape.capacity) else {
            return Err(Skip("no channel of this capacity"));
        };
        let mut receivers = Vec::new();
        for _ in 1..shape.receivers {
            let Some(another) = C::clone_receiver(&receiver) else {
                return Err(Skip("one receiver only"));
            };
            receivers.push(another);
        }
        receivers.push(receiver);
        let receive = |receiver: C::Receiver| {
            H::spawn(move || {
                let mut sum = 0;
                while let Some(value) = C::recv(&receiver) {
                    sum += value;
                }
                sum
            })
        };
        let receivers: Vec<_> = receivers.into_iter().map(receive).collect();
        let send = |first: u64| {
            let sender = C::clone_sender(&sender);
            H::spawn(move || {
                (first..first + each).for_each(|value| C::send(&sender, value));
                0
            })
        };
        let senders: Vec<_> = (0..shape.senders).map(|at| send(at * each)).collect();
        drop(sender);
        let sum: u64 = senders.into_iter().chain(receivers).map(H::join).sum();
        laps.end();
        assert_eq!(sum, sum_below(total), "a message was lost or came twice");
    }
    laps.per_operation(total);
    Ok(())
}

/// 0 + 1 + … + (`count` − 1).
pub(super) fn sum_below(count: u64) -> u64 {
    count * (count - 1) / 2
}

#[cfg(test)]
mod tests {
    use crossbeam::channel::{Receiver, Sender};

    use super::*;
    use crate::case::{Kind, Talk};
    use crate::peers::talk::channel::Crossbeam;
    use crate::peers::talk::home::Threads;

    /// crossbeam's channel, with one value lost or duplicated.
    struct Broken<const COPIES: usize>;

    const BROKEN: u64 = 7;

    impl<const COPIES: usize> Channel for Broken<COPIES> {
        type Sender = Sender<u64>;
        type Receiver = Receiver<u64>;

        fn open(capacity: Option<usize>) -> Option<(Self::Sender, Self::Receiver)> {
            Crossbeam::open(capacity)
        }

        fn send(sender: &Self::Sender, value: u64) {
            let copies = if value == BROKEN { COPIES } else { 1 };
            (0..copies).for_each(|_| Crossbeam::send(sender, value));
        }

        fn recv(receiver: &Self::Receiver) -> Option<u64> {
            Crossbeam::recv(receiver)
        }

        fn clone_sender(sender: &Self::Sender) -> Self::Sender {
            sender.clone()
        }

        fn clone_receiver(receiver: &Self::Receiver) -> Option<Self::Receiver> {
            Some(receiver.clone())
        }
    }

    fn exchange<C: Channel>(senders: u64, receivers: u64) {
        let shape = Shape {
            senders,
            receivers,
            capacity: Some(10),
            threads: true,
        };
        let job = Job {
            kind: Kind::Talk(Talk::Messages(shape)),
            workers: 2,
            n: 100,
            warmups: 1,
            rounds: 1,
            stack: 0,
        };
        messages::<C, Threads>(&job, shape).expect("it has such a channel");
    }

    #[test]
    fn a_sound_channel_passes() {
        exchange::<Broken<1>>(1, 1);
        exchange::<Broken<1>>(4, 4);
    }

    #[test]
    #[should_panic(expected = "a message was lost")]
    fn a_lost_message_is_noticed() {
        exchange::<Broken<0>>(1, 1);
    }

    #[test]
    #[should_panic(expected = "a message was lost")]
    fn a_message_that_comes_twice_is_noticed() {
        exchange::<Broken<2>>(4, 4);
    }
}
