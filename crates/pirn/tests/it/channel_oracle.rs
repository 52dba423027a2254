//! Channels and selects compared with the simplest equivalent: a queue, and a list of which cases
//! are possible. Random programs without a wait, so every answer is determined.

use std::collections::VecDeque;

use pirn::channel::{
    Receiver, RecvError, SendError, Sender, TryRecvError, TrySendError, bounded,
    unbounded,
};
use pirn::select::Select;

use crate::util::Dice;

/// The expected behavior of a channel.
struct Model {
    capacity: usize,
    values: VecDeque<u64>,
    closed: bool,
}

/// A channel and its model.
struct Pair {
    tx: Sender<u64>,
    rx: Receiver<u64>,
    model: Model,
}

impl Pair {
    fn new(capacity: Option<usize>) -> Pair {
        let (tx, rx) = capacity.map_or_else(unbounded, bounded);
        let model = Model {
            capacity: capacity.unwrap_or(usize::MAX),
            values: VecDeque::new(),
            closed: false,
        };
        Pair { tx, rx, model }
    }

    fn step(&mut self, dice: &mut Dice, value: u64) {
        let model = &mut self.model;
        let full = model.values.len() >= model.capacity;
        match dice.below(12) {
            0..3 => {
                let expected = match (model.closed, full) {
                    (true, _) => Err(TrySendError::Disconnected(value)),
                    (false, true) => Err(TrySendError::Full(value)),
                    (false, false) => {
                        model.values.push_back(value);
                        Ok(())
                    }
                };
                assert_eq!(self.tx.try_send(value), expected);
            }
            3..6 => {
                let expected = model.values.pop_front().ok_or(if model.closed {
                    TryRecvError::Disconnected
                } else {
                    TryRecvError::Empty
                });
                assert_eq!(self.rx.try_recv(), expected);
            }
            6 => {
                let expected = match (model.closed, full) {
                    (true, _) => Err(SendError::Disconnected(value)),
                    (false, false) => {
                        model.values.push_back(value);
                        Ok(None)
                    }
                    (false, true) if model.capacity == 0 => Ok(Some(value)),
                    (false, true) => {
                        model.values.push_back(value);
                        Ok(model.values.pop_front())
                    }
                };
                assert_eq!(self.tx.force_send(value), expected);
            }
            7 => {
                let room = model.capacity.saturating_sub(model.values.len()).min(5);
                let mut values: VecDeque<u64> =
                    (0..room as u64).map(|i| value + i).collect();
                let expected = if model.closed && room > 0 {
                    Err(SendError::Disconnected(()))
                } else {
                    model.values.extend(&values);
                    Ok(())
                };
                assert_eq!(self.tx.send_many(&mut values), expected);
                assert_eq!(values.is_empty(), expected.is_ok());
            }
            8 if !model.values.is_empty() || model.closed => {
                let max = dice.below(6);
                let mut out = Vec::new();
                let count = max.min(model.values.len());
                let expected = if count == 0 && max > 0 {
                    Err(RecvError::Disconnected)
                } else {
                    Ok(count)
                };
                assert_eq!(self.rx.recv_many(&mut out, max), expected);
                assert!(out.into_iter().eq(model.values.drain(..count)));
            }
            9 => {
                let (tx, rx) = (self.tx.clone(), self.rx.clone());
                self.tx = tx;
                self.rx = rx;
            }
            10 if dice.below(40) == 0 => {
                assert_eq!(self.tx.close(), !model.closed);
                model.closed = true;
            }
            _ => {
                assert_eq!(self.rx.len(), model.values.len());
                assert_eq!(self.tx.is_full(), full);
                assert_eq!(self.rx.is_closed(), model.closed);
            }
        }
    }

    fn can_receive(&self) -> bool {
        self.model.closed || !self.model.values.is_empty()
    }

    fn can_send(&self) -> bool {
        self.model.closed || self.model.values.len() < self.model.capacity
    }
}

const CAPACITIES: [Option<usize>; 6] =
    [Some(0), Some(1), Some(2), Some(3), Some(8), None];

// Proves: I1.
#[test]
fn a_channel_is_a_queue() {
    for seed in 0..200 {
        let dice = &mut Dice(seed);
        for capacity in CAPACITIES {
            let mut pair = Pair::new(capacity);
            (0..500).for_each(|i| pair.step(dice, 1_000 * seed + i));
        }
    }
}

/// Random selects over the receiving and sending ends of several channels: the winner was possible,
/// and the first possible one if biased; the others are unaffected.
// Proves: J1.
#[test]
fn a_select_completes_one_possible_case() {
    let mut won = [0_usize; 2];
    for seed in 0..300 {
        let dice = &mut Dice(seed);
        let mut pairs: Vec<_> = (0..3)
            .map(|_| Pair::new(CAPACITIES[dice.below(6)]))
            .collect();
        for i in 0..200 {
            for pair in &mut pairs {
                pair.step(dice, 10_000 * seed + 10 * i);
            }
            let biased = dice.below(2) == 0;
            let list: Vec<(usize, bool)> = (0..dice.below(6))
                .map(|_| (dice.below(3), dice.below(2) == 0))
                .collect();
            won[usize::from(select(&mut pairs, &list, biased, seed))] += 1;
        }
    }
    assert!(won.into_iter().all(|times| times > 1_000), "{won:?}");
}

/// One select of `list`: channels, and whether to send. Returns true if a case won.
fn select(pairs: &mut [Pair], list: &[(usize, bool)], biased: bool, value: u64) -> bool {
    let possible: Vec<bool> = list
        .iter()
        .map(|&(i, sends)| {
            if sends {
                pairs[i].can_send()
            } else {
                pairs[i].can_receive()
            }
        })
        .collect();
    let mut sends: Vec<_> = Vec::new();
    let mut recvs: Vec<_> = Vec::new();
    for &(i, sending) in list {
        if sending {
            sends.push(pairs[i].tx.send_case(value));
        } else {
            recvs.push(pairs[i].rx.recv_case());
        }
    }
    let mut select = if biased {
        Select::biased()
    } else {
        Select::new()
    };
    let (mut next_send, mut next_recv) = (sends.iter_mut(), recvs.iter_mut());
    for &(_, sending) in list {
        if sending {
            select.add(next_send.next().unwrap());
        } else {
            select.add(next_recv.next().unwrap());
        }
    }
    let Some(index) = select.try_wait() else {
        assert!(!possible.contains(&true), "{possible:?}");
        return false;
    };
    assert!(possible[index], "{index} of {possible:?}");
    if biased {
        assert_eq!(Some(index), possible.iter().position(|&possible| possible));
    }
    let (channel, sending) = list[index];
    let nth = list[..index]
        .iter()
        .filter(|case| case.1 == sending)
        .count();
    let sent = sending.then(|| sends[nth].take());
    let received = (!sending).then(|| recvs[nth].take());
    drop((sends, recvs));
    let model = &mut pairs[channel].model;
    match sent {
        Some(Ok(())) => model.values.push_back(value),
        Some(Err(error)) => {
            assert!(model.closed);
            assert_eq!(error, SendError::Disconnected(value));
        }
        None => {
            let expected = model.values.pop_front().ok_or(RecvError::Disconnected);
            assert_eq!(received, Some(expected));
        }
    }
    true
}
