//! Published bugs of channels, as ports of the functions concerned.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Word;
use super::prelude::{Condvar, Mutex, coin, spawn, yield_now};

/// A receiver finds no value by a counter, then that the channel is closed: the last values, sent
/// in between, are lost.
pub(super) fn two_ways_to_the_end(fixed: bool) {
    #[derive(Default)]
    struct Stream {
        values: Mutex<VecDeque<usize>>,
        count: Word,
        is_closed: Word,
        changed: Condvar,
    }
    impl Stream {
        fn send(&self, value: usize) {
            let mut values = self.values.lock();
            values.push_back(value);
            self.count.add(1);
            drop(values);
            self.changed.notify_one();
        }

        fn close(&self) {
            let values = self.values.lock();
            self.is_closed.store(1);
            drop(values);
            self.changed.notify_all();
        }

        fn recv(&self, fixed: bool) -> Option<usize> {
            if !fixed && self.count.load() == 0 && self.is_closed.load() == 1 {
                return None;
            }
            let mut values = self.values.lock();
            loop {
                if let Some(value) = values.pop_front() {
                    self.count.add(usize::MAX);
                    return Some(value);
                }
                if self.is_closed.load() == 1 {
                    return None;
                }
                values = self.changed.wait(values);
            }
        }
    }
    let stream = Arc::new(Stream::default());
    let sent = Arc::clone(&stream);
    let sender = spawn(move || {
        (0..3).for_each(|value| sent.send(value));
        sent.close();
    });
    let mut received = Vec::new();
    while let Some(value) = stream.recv(fixed) {
        received.push(value);
    }
    sender.join().unwrap();
    assert_eq!(received, [0, 1, 2]);
}

/// The first block of a list is freed by the last receiver, and again by the last sender.
pub(super) fn crossbeam_1187(fixed: bool) {
    /// The number of messages before this bit of the tail.
    const CLOSED: usize = 1 << 16;
    /// A block is a number; 0 is none.
    #[derive(Default)]
    struct List {
        head_block: Word,
        tail_block: Word,
        tail: Word,
        is_written: [Word; 2],
        blocks: Mutex<Blocks>,
    }
    #[derive(Default)]
    struct Blocks {
        made: usize,
        freed: Vec<usize>,
    }
    impl List {
        fn make_block(&self) -> usize {
            let mut blocks = self.blocks.lock();
            blocks.made += 1;
            blocks.made
        }

        fn free(&self, block: usize) {
            let mut blocks = self.blocks.lock();
            assert!(!blocks.freed.contains(&block), "a block is freed twice");
            blocks.freed.push(block);
        }

        fn send(&self) {
            loop {
                let tail = self.tail.load();
                let block = self.tail_block.load();
                if tail & CLOSED != 0 {
                    return;
                }
                if block == 0 {
                    let new = self.make_block();
                    if !self.tail_block.exchange(0, new) {
                        self.free(new);
                        continue;
                    }
                    // Here the tail has a block, and the head has none.
                    self.head_block.store(new);
                }
                if self.tail.exchange(tail, tail + 1) {
                    return self.is_written[tail].store(1);
                }
            }
        }

        /// Closes the channel for the last receiver, and discards its messages.
        fn disconnect(&self, fixed: bool) {
            let messages = self.tail.add(CLOSED);
            let mut block = self.head_block.swap(0);
            if messages > 0 {
                while block == 0 {
                    yield_now();
                    block = match fixed {
                        true => self.head_block.swap(0),
                        false => self.head_block.load(),
                    };
                }
            }
            for is_written in &self.is_written[..messages] {
                while is_written.load() == 0 {
                    yield_now();
                }
            }
            if block != 0 {
                self.free(block);
            }
        }
    }
    let list = Arc::new(List::default());
    let senders = [(); 2].map(|()| {
        let list = Arc::clone(&list);
        spawn(move || list.send())
    });
    list.disconnect(fixed);
    senders.into_iter().for_each(|it| it.join().unwrap());
    // The last sender drops the channel.
    let block = list.head_block.load();
    if block != 0 {
        list.free(block);
    }
}

const EMPTY: usize = 0;
const DISCONNECTED: usize = usize::MAX;

/// A channel for one message, and the shared one that it is upgraded to. A token is a number of 1
/// and above.
#[derive(Default)]
struct Packet {
    /// Of the channel for one message: `EMPTY`, a token, or `DISCONNECTED` after the upgrade.
    state: Word,
    is_signalled: [Word; 8],
    /// Of the shared channel: messages less those taken, wrapping; less one if a receiver waits.
    count: Word,
    to_wake: Word,
    messages: Word,
    steals: Word,
    select: Mutex<()>,
}
impl Packet {
    /// Returns true if the wait has timed out.
    fn wait(&self, token: usize) -> bool {
        while self.is_signalled[token].load() == 0 {
            // The limit may be over at any time.
            if coin() {
                return true;
            }
            yield_now();
        }
        false
    }

    fn take_to_wake(&self) -> usize {
        let token = self.to_wake.swap(EMPTY);
        assert_ne!(token, EMPTY);
        token
    }

    /// Clones the sender.
    fn upgrade(&self) {
        let _select = self.select.lock();
        let token = self.state.swap(DISCONNECTED);
        if token != EMPTY {
            assert_eq!(self.count.load(), 0);
            assert_eq!(self.to_wake.load(), EMPTY);
            self.to_wake.store(token);
            self.count.store(usize::MAX);
            self.steals.store(usize::MAX);
        }
    }

    fn send(&self) {
        self.messages.add(1);
        if self.count.add(1) == usize::MAX {
            self.is_signalled[self.take_to_wake()].store(1);
        }
    }

    fn recv_timeout(&self, token: usize, fixed: bool) -> bool {
        let waits = self.state.load() == EMPTY && self.state.exchange(EMPTY, token);
        if waits && self.wait(token) {
            if self.state.exchange(token, EMPTY) {
                return false;
            }
            if fixed {
                self.abort_selection();
            }
        }
        self.state.load() == DISCONNECTED && self.recv_shared(token + 1)
    }

    fn recv_shared(&self, token: usize) -> bool {
        if self.try_recv() {
            return true;
        }
        assert_eq!(self.to_wake.load(), EMPTY, "a receiver waits already");
        self.to_wake.store(token);
        let steals = self.steals.swap(0);
        let count = self.count.add(0_usize.wrapping_sub(steals.wrapping_add(1)));
        if count.wrapping_sub(steals).cast_signed() > 0 {
            self.to_wake.store(EMPTY);
        } else if self.wait(token) {
            self.abort_selection();
        }
        let is_received = self.try_recv();
        if is_received {
            self.steals.add(usize::MAX);
        }
        is_received
    }

    fn try_recv(&self) -> bool {
        let is_received = self.messages.load() > 0;
        if is_received {
            self.messages.add(usize::MAX);
            self.steals.add(1);
        }
        is_received
    }

    /// Ends the wait of the receiver in the shared channel.
    fn abort_selection(&self) {
        drop(self.select.lock());
        let count = self.count.load().cast_signed();
        let steals = count.min(0).unsigned_abs();
        let before = self.count.add(steals + 1).cast_signed();
        if before < 0 {
            self.take_to_wake();
        } else {
            while self.to_wake.load() != EMPTY {
                yield_now();
            }
        }
        self.steals.store(steals);
    }
}

/// A receive with a limit times out while the clone of the sender upgrades the channel. The new
/// channel has inherited the waiting receiver, which does not wait any more.
pub(super) fn rust_39364(fixed: bool) {
    let packet = Arc::new(Packet::default());
    let receiving = Arc::clone(&packet);
    let receiver = spawn(move || {
        let mut received = 0;
        for turn in 0..3 {
            let is_received = receiving.recv_timeout(2 * turn + 1, fixed);
            received += usize::from(is_received);
        }
        received
    });
    packet.upgrade();
    packet.send();
    let received = receiver.join().unwrap();
    assert_eq!(received + packet.messages.load(), 1);
}
