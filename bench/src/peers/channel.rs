//! Blocking channels of numbers with one interface, and the cases of libraries that have nothing
//! else.

use std::sync::mpsc;

use crate::case::{Kind, Talk};
use crate::child::{Job, Laps, Outcome, Skip};

use super::blocking::{messages, ping_pong};
use super::stock::Stock;
use super::threads::Threads;

/// A note on the use of a library that has channels only.
pub(super) const NOTE: &str = "its channels between plain threads";

/// A library's channel.
pub(super) trait Channel: 'static {
    /// Its sending end.
    type Sender: Clone + Send + 'static;
    /// Its receiving end.
    type Receiver: Send + 'static;

    /// Returns a channel with this capacity, or without a bound; nothing if the library has none.
    fn open(capacity: Option<usize>) -> Option<(Self::Sender, Self::Receiver)>;

    /// Sends; waits for capacity.
    fn send(sender: &Self::Sender, value: u64);

    /// Waits for a value; none once all senders are dropped and the channel is drained.
    fn recv(receiver: &Self::Receiver) -> Option<u64>;

    /// Clones the receiver; nothing if there is only one.
    fn clone_receiver(receiver: &Self::Receiver) -> Option<Self::Receiver>;
}

/// Implements the trait for the types of a library, from how it opens a channel and clones a
/// receiver.
macro_rules! channel {
    ($(#[$doc:meta])* $name:ident, $sender:ty, $receiver:ty, $open:expr, $clone:expr) => {
        $(#[$doc])*
        pub(super) struct $name;

        impl Channel for $name {
            type Sender = $sender;
            type Receiver = $receiver;

            fn open(capacity: Option<usize>) -> Option<($sender, $receiver)> {
                let open = $open;
                open(capacity)
            }

            fn send(sender: &$sender, value: u64) {
                sender.send(value).expect("the receiver is there");
            }

            fn recv(receiver: &$receiver) -> Option<u64> {
                receiver.recv().ok()
            }

            fn clone_receiver(receiver: &$receiver) -> Option<$receiver> {
                let clone = $clone;
                clone(receiver)
            }
        }
    };
}

/// Opens a channel of a library with functions for both forms.
macro_rules! either {
    ($($library:ident)::+) => {{
        use $($library)::+ as library;
        |capacity| {
            Some(match capacity {
                Some(capacity) => library::bounded(capacity),
                None => library::unbounded(),
            })
        }
    }};
}

channel!(
    /// pirn's, on fibers and on plain threads.
    PirnChannel,
    pirn::channel::Sender<u64>,
    pirn::channel::Receiver<u64>,
    either!(pirn::channel),
    |receiver: &_| Some(Clone::clone(receiver))
);
channel!(
    /// crossbeam's.
    Crossbeam,
    crossbeam::channel::Sender<u64>,
    crossbeam::channel::Receiver<u64>,
    either!(crossbeam::channel),
    |receiver: &_| Some(Clone::clone(receiver))
);
channel!(
    /// kanal's.
    Kanal,
    kanal::Sender<u64>,
    kanal::Receiver<u64>,
    either!(kanal),
    |receiver: &_| Some(Clone::clone(receiver))
);
channel!(
    /// flume's.
    Flume,
    flume::Sender<u64>,
    flume::Receiver<u64>,
    either!(flume),
    |receiver: &_| Some(Clone::clone(receiver))
);
channel!(
    /// The standard library's bounded one.
    Std,
    mpsc::SyncSender<u64>,
    mpsc::Receiver<u64>,
    |capacity: Option<usize>| capacity.map(mpsc::sync_channel),
    |_| None
);
channel!(
    /// may's, which is unbounded. It replaces a rendezvous where the sender waits for an answer, so
    /// that there is never more than one value.
    MayChannel,
    may::sync::mpsc::Sender<u64>,
    may::sync::mpsc::Receiver<u64>,
    |_| Some(may::sync::mpsc::channel()),
    |_| None
);
channel!(
    /// may's for several receivers.
    MaySharedChannel,
    may::sync::mpmc::Sender<u64>,
    may::sync::mpmc::Receiver<u64>,
    |_| Some(may::sync::mpmc::channel()),
    |receiver: &_| Some(Clone::clone(receiver))
);

/// Runs a case between plain threads, for a library that has channels only.
pub(super) fn run<C: Channel>(job: &Job) -> Outcome {
    match job.kind {
        Kind::Talk(Talk::PingPong(place)) => ping_pong::<C, Threads>(job, place),
        Kind::Talk(Talk::Messages(shape)) => messages::<C, Threads>(job, shape),
        _ => Err(Skip("channels only")),
    }
}

/// Expands to a closure that receives from any of these channels, with the `select!` in scope.
macro_rules! any_of {
    ($($way:ident),*) => {
        |[$($way),*]| {
            select! {
                $(recv($way) -> value => value,)*
            }
            .expect("there are values")
        }
    };
}
pub(super) use any_of;

/// Times `one`, which receives from any of `WAYS` channels. `rest` receives without waiting.
pub(super) fn choose<C: Channel, const WAYS: usize>(
    job: &Job,
    one: impl Fn(&[C::Receiver; WAYS]) -> u64,
    rest: impl Fn(&C::Receiver) -> Option<u64>,
) -> Outcome {
    let mut stock = Stock::new(job, WAYS);
    let capacity = Some(stock.each());
    let ends = (0..WAYS).map(|_| C::open(capacity).expect("it has such a channel"));
    let (senders, receivers): (Vec<_>, Vec<_>) = ends.unzip();
    let receivers: Result<[C::Receiver; WAYS], _> = receivers.try_into();
    let receivers = receivers.ok().expect("so many were opened");
    let mut laps = Laps::new(job);
    loop {
        stock.fill(|way, value| C::send(&senders[way], value));
        if !laps.begin() {
            break;
        }
        let sum: u64 = (0..job.n).map(|_| one(&receivers)).sum();
        laps.end();
        stock.taken(sum, |way| rest(&receivers[way]));
    }
    laps.per_operation(job.n);
    Ok(())
}
