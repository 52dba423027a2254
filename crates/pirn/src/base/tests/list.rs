//! Both lists against `VecDeque`, by random operations.

use std::collections::VecDeque;
use std::ptr::NonNull;

use crate::base::list::{DoublyLinked, Fifo, Links, List};
use crate::base::rng::Rng;
use crate::base::tests::node::{Node, Nodes};

// Proves: B15.
#[test]
fn fifo_agrees_with_a_deque() {
    const NODES: usize = 40;
    let nodes = Nodes::new(NODES);
    let mut rng = Rng::new(11);
    let mut free: Vec<usize> = (0..NODES).collect();
    let mut fifos = [Fifo::<Node>::new(), Fifo::new()];
    let mut models: [VecDeque<usize>; 2] = Default::default();
    for _ in 0..100_000 {
        let (a, b) = if rng.below(2) == 0 { (0, 1) } else { (1, 0) };
        match rng.below(6) {
            0 => {
                if let Some(id) = free.pop() {
                    fifos[a].push_back(nodes.ready(id));
                    models[a].push_back(id);
                }
            }
            1 => {
                if let Some(id) = free.pop() {
                    fifos[a].push_front(nodes.ready(id));
                    models[a].push_front(id);
                }
            }
            2 | 3 => {
                let id = fifos[a].pop_front().map(|node| nodes.take(node));
                assert_eq!(id, models[a].pop_front());
                free.extend(id);
            }
            4 => {
                let n = rng.below(NODES + 2);
                let front = fifos[a].split_front(n as u32);
                let rest = models[a].split_off(n.min(models[a].len()));
                let model = std::mem::replace(&mut models[a], rest);
                assert_eq!(front.len() as usize, model.len());
                fifos[b].append(front);
                models[b].extend(model);
            }
            _ => {
                let other = std::mem::take(&mut fifos[b]);
                fifos[a].append(other);
                let other = std::mem::take(&mut models[b]);
                models[a].extend(other);
            }
        }
        for (fifo, model) in fifos.iter().zip(&models) {
            assert_eq!(fifo.len() as usize, model.len());
            assert_eq!(fifo.is_empty(), model.is_empty());
        }
    }
}

#[test]
fn chain_built_newest_first_comes_out_oldest_first() {
    let nodes = Nodes::new(3);
    let mut newest = None;
    for id in 0..3 {
        let node = nodes.ready(id);
        crate::base::list::set_next(node, newest);
        newest = Some(node);
    }
    let mut fifo = Fifo::from_newest_first(newest);
    let order: Vec<_> = std::iter::from_fn(|| fifo.pop_front()).collect();
    let order: Vec<_> = order.into_iter().map(|node| nodes.take(node)).collect();
    assert_eq!(order, [0, 1, 2]);
    assert!(Fifo::<Node>::from_newest_first(None).is_empty());
}

struct Waiter {
    id: usize,
    links: Links<Waiter>,
}

// SAFETY: always the same field; the tests make no `&mut` to it.
unsafe impl DoublyLinked for Waiter {
    fn links(node: NonNull<Self>) -> NonNull<Links<Self>> {
        // SAFETY: the tests keep their waiters while they use them.
        NonNull::from(&unsafe { node.as_ref() }.links)
    }
}

#[test]
fn list_agrees_with_a_deque() {
    const NODES: usize = 30;
    let waiters: Vec<_> = (0..NODES)
        .map(|id| Waiter {
            id,
            links: Links::new(),
        })
        .collect();
    let at = |id: usize| NonNull::from(&waiters[id]);
    // SAFETY: the waiters live to the end of the test.
    let id_of = |node: NonNull<Waiter>| unsafe { node.as_ref() }.id;
    let mut rng = Rng::new(12);
    let mut list = List::new();
    let mut model: VecDeque<usize> = VecDeque::new();
    for _ in 0..100_000 {
        let id = rng.below(NODES);
        let linked = model.contains(&id);
        // SAFETY: the waiter lives, and is in this list or in none.
        assert_eq!(unsafe { list.is_linked(at(id)) }, linked);
        match rng.below(5) {
            0 if !linked => {
                // SAFETY: it is in no list and lives to the end of the test.
                unsafe { list.push_front(at(id)) };
                model.push_front(id);
            }
            1 | 2 if !linked => {
                // SAFETY: as above.
                unsafe { list.push_back(at(id)) };
                model.push_back(id);
            }
            3 => assert_eq!(list.pop_front().map(id_of), model.pop_front()),
            _ => {
                // SAFETY: the waiter lives, and is in this list or in none.
                assert_eq!(unsafe { list.remove(at(id)) }, linked);
                model.retain(|&other| other != id);
            }
        }
        assert_eq!(list.front().map(id_of), model.front().copied());
        assert_eq!(list.is_empty(), model.is_empty());
        assert!(list.iter().map(id_of).eq(model.iter().copied()));
    }
}
