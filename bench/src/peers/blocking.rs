//! The cases, once for all libraries that wait by blocking: only the library differs.

use std::hint::{black_box, spin_loop};
use std::ops::DerefMut;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::case::{Kind, Place, Shape, Talk};
use crate::child::{
    Job, Laps, Latency, Outcome, Skip, Stamp, memory, peak_mib, report_parked, sample,
};

use super::channel::Channel;

/// A library of fibers, coroutines or threads. "Fiber" stands for all of these here.
pub(super) trait Blocking: Send + Sync + 'static {
    /// A fiber that can be joined.
    type Handle<T: Send + 'static>: Send;
    /// A channel that can be without a bound, for any number of senders and receivers.
    type Channel: Channel<Sender: Sync, Receiver: Sync>;
    /// A mutex around a number.
    type Mutex: Default + Send + Sync + 'static;
    /// The factor by which skynet is smaller with this library.
    const SKYNET: f64 = 1.0;

    /// Starts the library as the job asks and runs `root` on one of its fibers.
    fn run<T: Send + 'static>(job: &Job, root: impl FnOnce() -> T + Send + 'static) -> T;

    /// Starts a fiber.
    #[track_caller]
    fn spawn<T: Send + 'static>(
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Self::Handle<T>;

    /// Waits for a fiber's result.
    fn join<T: Send + 'static>(handle: Self::Handle<T>) -> T;

    /// Starts a fiber that is not joined, with the job's size of stack.
    fn start(job: &Job, work: impl FnOnce() + Send + 'static);

    /// Starts `count` fibers and waits for all, in the way that is usual with this library.
    fn all<W: FnOnce() + Send + 'static>(count: u64, work: impl Fn(u64) -> W) {
        let mut handles = Vec::with_capacity(count as usize);
        handles.extend((0..count).map(|index| Self::spawn(work(index))));
        handles.into_iter().for_each(Self::join);
    }

    /// Yields to other fibers.
    fn pause();

    /// Waits for good.
    fn park();

    /// Sleeps for this time.
    fn sleep(time: Duration);

    /// Locks the mutex.
    fn lock(mutex: &Self::Mutex) -> impl DerefMut<Target = u64>;
}

/// Runs a case that these libraries have in common.
pub(super) fn run<B: Blocking>(job: &Job) -> Outcome {
    match job.kind {
        Kind::Yield(fibers) => yields::<B>(job, fibers),
        Kind::SpawnJoin => spawn_join::<B>(job),
        Kind::SpawnJoinYield => spawn_join_yield::<B>(job),
        Kind::SpawnMany => spawn_many::<B>(job),
        Kind::Skynet => skynet::<B>(job),
        Kind::Parked => parked::<B>(job),
        Kind::BusyChild | Kind::Wake => starts::<B>(job),
        Kind::HandOver => hand_over::<B>(job),
        Kind::Throughput => throughput::<B>(job),
        Kind::Talk(Talk::Crowd(fibers)) => crowd::<B>(job, fibers),
        _ => return Err(Skip("no such case")),
    }
    Ok(())
}

fn yields<B: Blocking>(job: &Job, fibers: u64) {
    let each = job.n / fibers;
    let laps = Laps::of(job, || {
        let work = move || (0..each).for_each(|_| B::pause());
        let all: Vec<_> = (0..fibers).map(|_| B::spawn(work)).collect();
        all.into_iter().for_each(B::join);
    });
    laps.per_operation(each * fibers);
}

fn spawn_join<B: Blocking>(job: &Job) {
    let laps = Laps::of(job, || (0..job.n).for_each(|_| B::join(B::spawn(|| {}))));
    laps.per_operation(job.n);
}

fn spawn_join_yield<B: Blocking>(job: &Job) {
    let laps = Laps::of(job, || (0..job.n).for_each(|_| B::join(B::spawn(B::pause))));
    laps.per_operation(job.n);
}

fn spawn_many<B: Blocking>(job: &Job) {
    let laps = Laps::of(job, || {
        B::all(job.n, |index| {
            let captured = [index; 4];
            move || {
                black_box(captured);
            }
        });
    });
    laps.cold_and_warm(job.n);
    sample("peak", peak_mib());
}

fn skynet<B: Blocking>(job: &Job) {
    let laps = Laps::of(job, || {
        let sum = B::join(node::<B>(0, job.n));
        assert_eq!(sum, sum_below(job.n));
    });
    laps.milliseconds(B::SKYNET);
}

fn node<B: Blocking>(number: u64, leaves: u64) -> B::Handle<u64> {
    B::spawn(move || {
        if leaves == 1 {
            return number;
        }
        let below = leaves / 10;
        let children: [_; 10] =
            std::array::from_fn(|index| node::<B>(number + index as u64 * below, below));
        children.into_iter().map(B::join).sum()
    })
}

fn parked<B: Blocking>(job: &Job) {
    let started = Arc::new(AtomicU64::new(0));
    let before = memory();
    for _ in 0..job.n {
        let started = started.clone();
        B::start(job, move || {
            started.fetch_add(1, Ordering::Relaxed);
            B::park();
        });
    }
    while started.load(Ordering::Relaxed) < job.n {
        B::pause();
    }
    report_parked(before, job.n)
}

/// Prints the times from the start of a fiber to its first step.
fn starts<B: Blocking>(job: &Job) {
    Latency::of_starts(job, |stamp| {
        let fiber = B::spawn(move || stamp.mark());
        move || B::join(fiber)
    });
}

/// Two fibers at a time: many libraries keep the newest in a slot that thieves see only later.
fn hand_over<B: Blocking>(job: &Job) {
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        let before = Latency::now();
        let first = B::spawn(move || child.mark());
        let between = Latency::now();
        let second = B::spawn(|| {});
        latency.push(stamp.spin_pair(before, between));
        B::join(first);
        B::join(second);
    }
    latency.print();
}

fn throughput<B: Blocking>(job: &Job) {
    const BATCH: u64 = 1000;
    let batches = job.n / BATCH / job.workers as u64;
    let laps = Laps::of(job, || {
        let spawner = move || (0..batches).for_each(|_| B::all(BATCH, |_| || {}));
        let spawners: Vec<_> = (0..job.workers).map(|_| B::spawn(spawner)).collect();
        spawners.into_iter().for_each(B::join);
    });
    laps.rate(batches * BATCH * job.workers as u64);
}

pub(super) fn crowd<B: Blocking>(job: &Job, fibers: u64) {
    let each = job.n / fibers;
    let laps = Laps::of(job, || {
        let mutex = Arc::new(B::Mutex::default());
        let lock = |mutex: Arc<B::Mutex>| {
            move || {
                for _ in 0..each {
                    *B::lock(&mutex) += 1;
                }
            }
        };
        let all: Vec<_> = (0..fibers).map(|_| B::spawn(lock(mutex.clone()))).collect();
        all.into_iter().for_each(B::join);
        assert_eq!(*B::lock(&mutex), each * fibers);
    });
    laps.per_operation(each * fibers);
}

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

/// Starts one party of a conversation: all of them have this spawn line.
fn party<B: Blocking>(work: impl FnOnce() -> u64 + Send + 'static) -> B::Handle<u64> {
    B::spawn(work)
}

const OPEN: &str = "the other party is there";

pub(super) fn ping_pong<C: Channel, B: Blocking>(job: &Job, place: Place) -> Outcome {
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
        let caller = party::<B>(move || {
            gate.pass(place);
            let mut ball = 0;
            for _ in 0..trips {
                C::send(&there, ball);
                ball = C::recv(&near).expect(OPEN);
            }
            ball
        });
        let echo = party::<B>(move || {
            other.pass(place);
            for _ in 0..trips {
                let ball = C::recv(&far).expect(OPEN);
                C::send(&back, ball + 1);
            }
            0
        });
        let ball = B::join(caller);
        B::join(echo);
        laps.end();
        assert_eq!(ball, trips, "a message was lost or came twice");
    }
    laps.per_operation(trips);
    Ok(())
}

pub(super) fn messages<C: Channel, B: Blocking>(job: &Job, shape: Shape) -> Outcome {
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
            party::<B>(move || {
                let mut sum = 0;
                while let Some(value) = C::recv(&receiver) {
                    sum += value;
                }
                sum
            })
        };
        let receivers: Vec<_> = receivers.into_iter().map(receive).collect();
        let send = |first: u64| {
            let sender = sender.clone();
            party::<B>(move || {
                (first..first + each).for_each(|value| C::send(&sender, value));
                0
            })
        };
        let senders: Vec<_> = (0..shape.senders).map(|at| send(at * each)).collect();
        drop(sender);
        let sum: u64 = senders.into_iter().chain(receivers).map(B::join).sum();
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
    use crate::peers::channel::Crossbeam;
    use crate::peers::threads::Threads;

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
