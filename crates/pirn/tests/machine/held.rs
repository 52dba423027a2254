//! No wake is lost though any thread may be stopped between two instructions.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::time::Duration;

use pirn::{Runtime, channel};

use crate::holds::{Held, Holder, dice, pause};
use crate::sockets_util::{at_once, echo, listener};
use crate::util::{LONG, scaled};

/// Requests and waits for the answer, repeatedly. Each time one thread may be held: a worker, or
/// the calling one.
fn ask(runtime: &Runtime, held: &Held, mut ask: impl FnMut(usize)) {
    let holder = Holder::of(held);
    let holds = scaled(1_500) as u64;
    held.while_in(|| {
        let mut round = 0;
        while holder.count() < holds {
            held.allow();
            pause();
            ask(round);
            round += 1;
        }
    });
    drop(holder);
    assert_eq!(runtime.metrics().total.rescues, 0);
}

fn on_held_workers(test: impl Fn(&Runtime, &Held)) {
    for workers in [1, 2, 4] {
        let held = Held::default();
        let (starts, stops) = (held.clone(), held.clone());
        let runtime = Runtime::builder()
            .workers(workers)
            .on_thread_start(move || starts.enter())
            .on_thread_stop(move || stops.leave())
            .build()
            .unwrap();
        test(&runtime, &held);
    }
}

/// A fiber answers a plain thread, while its worker sleeps in a futex between the requests.
// Proves: C7-held.
#[test]
fn a_fiber_answers_a_thread() {
    on_held_workers(|runtime, held| {
        let (asks, asked) = channel::bounded::<usize>(0);
        let (answer, answers) = mpsc::channel();
        runtime.spawn(move || {
            while let Ok(n) = asked.recv() {
                answer.send(n).unwrap();
            }
        });
        ask(runtime, held, |round| {
            asks.send(round).unwrap();
            assert_eq!(answers.recv_timeout(LONG), Ok(round));
        });
    });
}

/// Fibers on any workers pass a number on; the last one answers a plain thread.
// Proves: C7-held.
#[test]
fn fibers_answer_a_thread_together() {
    on_held_workers(|runtime, held| {
        let (asks, mut asked) = channel::bounded::<usize>(1);
        let (answer, answers) = mpsc::channel();
        for _ in 0..4 {
            let (next, after) = channel::bounded(1);
            let from = std::mem::replace(&mut asked, after);
            runtime.spawn(move || from.iter().for_each(|n| next.send(n).unwrap()));
        }
        runtime.spawn(move || asked.iter().for_each(|n| answer.send(n).unwrap()));
        ask(runtime, held, |round| {
            asks.send(round).unwrap();
            assert_eq!(answers.recv_timeout(LONG), Ok(round));
        });
        drop(asks);
        runtime.wait_idle().unwrap();
    });
}

/// A fiber answers over a socket: its worker sleeps in epoll between the requests.
// Proves: C7-held.
#[test]
fn a_fiber_answers_over_a_socket() {
    on_held_workers(|runtime, held| {
        let server = runtime.run(listener);
        let mut client = TcpStream::connect(server.local_addr().unwrap()).unwrap();
        client.set_nodelay(true).unwrap();
        let answers = runtime.spawn(move || {
            let (stream, _) = server.accept().unwrap();
            at_once(&stream);
            echo(&stream).unwrap()
        });
        // Not by a timeout of the system, which a signal would restart.
        ask(runtime, held, |round| {
            let sent = round.to_ne_bytes();
            client.write_all(&sent).unwrap();
            let mut back = [0; size_of::<usize>()];
            client.read_exact(&mut back).unwrap();
            assert_eq!(back, sent);
        });
        drop(client);
        answers.join().unwrap();
    });
}

/// A fiber answers a plain thread over a channel, while its worker sleeps in epoll, since another
/// fiber waits for a socket.
// Proves: C7-held.
#[test]
fn a_fiber_answers_a_thread_beside_a_socket() {
    on_held_workers(|runtime, held| {
        let (asks, asked) = channel::bounded::<usize>(0);
        let (answer, answers) = mpsc::channel();
        let server = runtime.run(listener);
        let address = server.local_addr().unwrap();
        // One for each worker, and some more.
        for _ in 0..8 {
            let asked = asked.clone();
            let answer = answer.clone();
            let server = server.try_clone().unwrap();
            runtime.spawn(move || server.accept().map(drop).unwrap());
            runtime.spawn(move || asked.iter().for_each(|n| answer.send(n).unwrap()));
        }
        ask(runtime, held, |round| {
            asks.send(round).unwrap();
            assert_eq!(answers.recv_timeout(LONG), Ok(round));
        });
        drop(asks);
        (0..8).for_each(|_| drop(TcpStream::connect(address).unwrap()));
        runtime.wait_idle().unwrap();
    });
}

/// Sleeps end, though the worker is held while it parks.
// Proves: C7-held.
#[test]
fn a_sleep_ends() {
    on_held_workers(|runtime, held| {
        let (asks, asked) = channel::bounded::<usize>(0);
        let (answer, answers) = mpsc::channel();
        runtime.spawn(move || {
            while let Ok(n) = asked.recv() {
                pirn::sleep(Duration::from_nanos(dice() % 100_000)).unwrap();
                answer.send(n).unwrap();
            }
        });
        ask(runtime, held, |round| {
            asks.send(round).unwrap();
            assert_eq!(answers.recv_timeout(LONG), Ok(round));
        });
    });
}
