//! When values go by way of the exit, and when they no longer do.

use crate::channel::pipe::Pipe;

/// A channel in which threads have met: values have gone to the exit, and have been taken.
fn crowded(capacity: usize) -> Pipe<usize> {
    let pipe = Pipe::new(Some(capacity), None);
    pipe.state.lock().crowded = u8::MAX;
    pipe.try_send(1).unwrap();
    pipe.try_send(2).unwrap();
    assert_eq!(pipe.recv(None).unwrap(), 1);
    assert_eq!(pipe.exit.len(), 1);
    assert_eq!(pipe.recv(None).unwrap(), 2);
    pipe
}

fn is_calm(pipe: &Pipe<usize>) -> bool {
    let state = pipe.state.lock();
    state.crowded == 0 && !pipe.exit.is_used() && state.ahead == 0
}

#[test]
fn receivers_that_meet_nobody_calm_a_channel() {
    let ways: [fn(&Pipe<usize>) -> usize; 2] = [
        |pipe| pipe.recv(None).unwrap(),
        |pipe| pipe.try_recv().unwrap(),
    ];
    for way in ways {
        let pipe = crowded(4);
        assert!(!is_calm(&pipe));
        for value in 0..1_000 {
            pipe.try_send(value).unwrap();
            assert_eq!(way(&pipe), value);
        }
        assert!(is_calm(&pipe));
    }
}

#[test]
fn receivers_that_find_nothing_calm_it_too() {
    let pipe = crowded(4);
    (0..1_000).for_each(|_| assert!(pipe.try_recv().is_err()));
    assert!(is_calm(&pipe));
}

#[test]
fn what_is_at_the_exit_counts() {
    let pipe = crowded(4);
    (0..4).for_each(|value| pipe.try_send(value).unwrap());
    assert_eq!(pipe.recv(None).unwrap(), 0);
    assert_eq!((pipe.exit.len(), pipe.len()), (3, 3));
    assert!(!pipe.is_full() && !pipe.looks_empty());
    pipe.try_send(4).unwrap();
    assert!(pipe.is_full());
    assert!(pipe.try_send(5).is_err());
    assert_eq!(pipe.force_send(5).unwrap(), Some(1));
    assert_eq!((pipe.exit.len(), pipe.len()), (0, 4));
    let rest: Vec<usize> = (0..4).map(|_| pipe.try_recv().unwrap()).collect();
    assert_eq!(rest, [2, 3, 4, 5]);
}
