//! Blocking channels of numbers, with one interface.

use std::sync::mpsc;

/// A library's channel.
pub(super) trait Channel: 'static {
    /// Its sending end.
    type Sender: Send + 'static;
    /// Its receiving end.
    type Receiver: Send + 'static;

    /// Returns a channel with this capacity, or without a bound; nothing if the library has none.
    fn open(capacity: Option<usize>) -> Option<(Self::Sender, Self::Receiver)>;

    /// Sends; waits for capacity.
    fn send(sender: &Self::Sender, value: u64);

    /// Waits for a value; none once all senders are dropped and the channel is drained.
    fn recv(receiver: &Self::Receiver) -> Option<u64>;

    /// Clones the sender.
    fn clone_sender(sender: &Self::Sender) -> Self::Sender;

    /// Clones the receiver; nothing if there is only one.
    fn clone_receiver(receiver: &Self::Receiver) -> Option<Self::Receiver>;
}

const RECEIVED: &str = "the receiver is there";

/// Implements the trait for a library with cloneable senders and receivers.
macro_rules! cloned {
    ($(#[$doc:meta])* $name:ident, $sender:ty, $receiver:ty, $bounded:path, $unbounded:path) => {
        $(#[$doc])*
        pub(super) struct $name;

        impl Channel for $name {
            type Sender = $sender;
            type Receiver = $receiver;

            fn open(capacity: Option<usize>) -> Option<(Self::Sender, Self::Receiver)> {
                Some(match capacity {
                    Some(capacity) => $bounded(capacity),
                    None => $unbounded(),
                })
            }

            fn send(sender: &Self::Sender, value: u64) {
                sender.send(value).expect(RECEIVED);
            }

            fn recv(receiver: &Self::Receiver) -> Option<u64> {
                receiver.recv().ok()
            }

            fn clone_sender(sender: &Self::Sender) -> Self::Sender {
                sender.clone()
            }

            fn clone_receiver(receiver: &Self::Receiver) -> Option<Self::Receiver> {
                Some(receiver.clone())
            }
        }
    };
}

cloned!(
    /// pirn's, on fibers and on plain threads.
    Pirn,
    pirn::channel::Sender<u64>,
    pirn::channel::Receiver<u64>,
    pirn::channel::bounded,
    pirn::channel::unbounded
);
cloned!(
    /// crossbeam's.
    Crossbeam,
    crossbeam::channel::Sender<u64>,
    crossbeam::channel::Receiver<u64>,
    crossbeam::channel::bounded,
    crossbeam::channel::unbounded
);
cloned!(
    /// kanal's.
    Kanal,
    kanal::Sender<u64>,
    kanal::Receiver<u64>,
    kanal::bounded,
    kanal::unbounded
);
cloned!(
    /// flume's.
    Flume,
    flume::Sender<u64>,
    flume::Receiver<u64>,
    flume::bounded,
    flume::unbounded
);

/// The standard library's bounded one.
pub(super) struct Std;

impl Channel for Std {
    type Sender = mpsc::SyncSender<u64>;
    type Receiver = mpsc::Receiver<u64>;

    fn open(capacity: Option<usize>) -> Option<(Self::Sender, Self::Receiver)> {
        capacity.map(mpsc::sync_channel)
    }

    fn send(sender: &Self::Sender, value: u64) {
        sender.send(value).expect(RECEIVED);
    }

    fn recv(receiver: &Self::Receiver) -> Option<u64> {
        receiver.recv().ok()
    }

    fn clone_sender(sender: &Self::Sender) -> Self::Sender {
        sender.clone()
    }

    fn clone_receiver(_: &Self::Receiver) -> Option<Self::Receiver> {
        None
    }
}

/// may's, which is unbounded. It replaces a rendezvous where the sender waits for an answer, so
/// that there is never more than one value.
pub(super) struct May;

impl Channel for May {
    type Sender = may::sync::mpsc::Sender<u64>;
    type Receiver = may::sync::mpsc::Receiver<u64>;

    fn open(capacity: Option<usize>) -> Option<(Self::Sender, Self::Receiver)> {
        match capacity {
            None | Some(0) => Some(may::sync::mpsc::channel()),
            Some(_) => None,
        }
    }

    fn send(sender: &Self::Sender, value: u64) {
        sender.send(value).expect(RECEIVED);
    }

    fn recv(receiver: &Self::Receiver) -> Option<u64> {
        receiver.recv().ok()
    }

    fn clone_sender(sender: &Self::Sender) -> Self::Sender {
        sender.clone()
    }

    fn clone_receiver(_: &Self::Receiver) -> Option<Self::Receiver> {
        None
    }
}
