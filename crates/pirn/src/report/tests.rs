//! Cycles among fibers that wait for each other.

use crate::report::cycle::{Link, On, cycles};

fn link(id: u64, on: On) -> Link {
    Link {
        id,
        wait: 10 * id,
        scope: 0,
        on,
    }
}

fn child(id: u64, scope: usize, on: On) -> Link {
    Link {
        scope,
        ..link(id, on)
    }
}

#[test]
fn chains_and_trees_are_no_cycles() {
    assert!(cycles(&[]).is_empty());
    let chain: Vec<Link> = (1..100).map(|i| link(i, On::Fiber(i + 1))).collect();
    assert!(cycles(&chain).is_empty());
    let tree: Vec<Link> = (2..100).map(|i| link(i, On::Fiber(i / 2))).collect();
    assert!(cycles(&tree).is_empty());
    assert!(cycles(&[link(1, On::Scope(7)), child(2, 8, On::Fiber(1))]).is_empty());
}

// Proves: P6.
#[test]
fn a_cycle_is_found_from_anywhere() {
    let ring = |n: u64, first: u64| -> Vec<Link> {
        (0..n)
            .map(|i| link((first + i) % n + 1, On::Fiber((first + i + 1) % n + 1)))
            .collect()
    };
    for n in [1, 2, 3, 50] {
        let expected: Vec<(u64, u64)> = (1..=n).map(|id| (id, 10 * id)).collect();
        for first in 0..n {
            assert_eq!(cycles(&ring(n, first)), std::slice::from_ref(&expected));
        }
    }
}

#[test]
fn waiters_for_a_cycle_are_no_part_of_it() {
    let links = [
        link(9, On::Fiber(1)),
        link(1, On::Fiber(2)),
        link(2, On::Fiber(1)),
        link(8, On::Fiber(9)),
    ];
    assert_eq!(cycles(&links), [vec![(1, 10), (2, 20)]]);
}

#[test]
fn a_scope_waits_for_each_of_its_children() {
    let links = [
        link(1, On::Scope(7)),
        child(2, 7, On::Fiber(5)),
        child(3, 7, On::Fiber(4)),
        link(4, On::Fiber(1)),
    ];
    assert_eq!(cycles(&links), [vec![(1, 10), (3, 30), (4, 40)]]);
}

#[test]
fn two_cycles_are_two() {
    let links = [
        link(1, On::Fiber(2)),
        link(2, On::Fiber(1)),
        link(3, On::Fiber(3)),
    ];
    assert_eq!(cycles(&links), [vec![(1, 10), (2, 20)], vec![(3, 30)]]);
}
