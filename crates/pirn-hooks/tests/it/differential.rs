//! Generated programs of calls give the same results on a plain thread and on a fiber.
//!
//! A program is a sequence of steps on one of two ends that are connected. In some steps the other
//! end, on a thread of its own, acts a moment after the call of this end has begun, so that the
//! call has to wait. The generator keeps count of what is on its way, so every result is
//! determined.

use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::fixture::on_one_worker;
use crate::raw;

const PROGRAMS: u64 = 200;
/// How long after the call of this end the other one acts.
const MOMENT: Duration = Duration::from_millis(2);
/// More than the buffers of a Unix socket hold.
const MUCH: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unix,
    Tcp,
    Datagram,
    Udp,
}

/// What the other end does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Nothing,
    Write(usize),
    /// Reads this many bytes.
    Read(usize),
    ShutDown,
    Close,
}

/// What this end calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Read(usize),
    Readv(usize),
    Recv(usize),
    Recvmsg(usize),
    /// Receives all of these bytes.
    RecvAll(usize),
    Peek(usize),
    Write(usize),
    Writev(usize),
    Send(usize),
    Sendmsg(usize),
    Poll(i16, i32),
    Select(i64),
    SetNonblocking(bool),
    /// Sets the time limit of reads, in milliseconds.
    Limit(u64),
    ShutDown,
    /// Goes on with a duplicate, and closes the first number.
    Duplicate,
}

#[derive(Debug, Clone, Copy)]
struct Step {
    call: Call,
    /// Acts after the call has begun.
    act: Act,
}

/// The result of a call, or the number of its error; and what was read.
type Outcome = (Result<usize, Option<i32>>, Vec<u8>);

/// Numbers of a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn size(&mut self) -> usize {
        1 + self.below(900) as usize
    }
}

/// Generates a program.
fn program(kind: Kind, random: &mut Random) -> Vec<Step> {
    let is_stream = matches!(kind, Kind::Unix | Kind::Tcp);
    let mut steps = Vec::new();
    // Messages, or on a stream one with all bytes, that wait to be read.
    let mut waiting: Vec<usize> = Vec::new();
    let mut nonblocking = false;
    let mut ended = false;
    for _ in 0..8 {
        let (call, act) = match random.below(12) {
            0..=3 => {
                let step = read_step(random, &waiting, (is_stream, nonblocking || ended));
                if let Act::Write(n) = step.1 {
                    waiting.push(n);
                }
                take(&mut waiting, step.0.room(), is_stream);
                step
            }
            4 if !ended => {
                let n = random.size();
                let call = match random.below(4) {
                    0 => Call::Write(n),
                    1 => Call::Writev(n),
                    2 => Call::Send(n),
                    _ => Call::Sendmsg(n),
                };
                (call, Act::Read(n))
            }
            5 if is_stream && !ended && !nonblocking => {
                let call = match random.below(4) {
                    0 => Call::Write(MUCH),
                    1 => Call::Writev(MUCH),
                    2 => Call::Send(MUCH),
                    _ => Call::Sendmsg(MUCH),
                };
                (call, Act::Read(MUCH))
            }
            6 if waiting.is_empty() && !ended => {
                let n = random.size();
                waiting.push(n);
                let call = match random.below(3) {
                    0 => Call::Poll(libc::POLLIN, -1),
                    1 => Call::Poll(libc::POLLIN | libc::POLLPRI, 10_000),
                    _ => Call::Select(10_000),
                };
                (call, Act::Write(n))
            }
            7 => match random.below(3) {
                0 => (Call::Poll(libc::POLLIN | libc::POLLOUT, 0), Act::Nothing),
                1 => (Call::Poll(libc::POLLPRI, 3), Act::Nothing),
                _ => (Call::Select(3), Act::Nothing),
            },
            8 => {
                nonblocking = random.below(2) == 0;
                (Call::SetNonblocking(nonblocking), Act::Nothing)
            }
            9 if waiting.is_empty() && !nonblocking && !ended => {
                steps.push(Step {
                    call: Call::Limit(3),
                    act: Act::Nothing,
                });
                let read = Call::Read(random.size());
                steps.push(Step {
                    call: read,
                    act: Act::Nothing,
                });
                (Call::Limit(0), Act::Nothing)
            }
            10 if is_stream && !ended => {
                ended = true;
                let act = match random.below(2) {
                    0 => Act::ShutDown,
                    _ => Act::Close,
                };
                match waiting.is_empty() && !nonblocking {
                    true => (Call::Read(random.size()), act),
                    false => (Call::ShutDown, act),
                }
            }
            11 if !waiting.is_empty() => (Call::Peek(random.size()), Act::Nothing),
            _ => (Call::Duplicate, Act::Nothing),
        };
        steps.push(Step { call, act });
    }
    steps
}

/// Generates a read. `at_once`: it must not have to wait.
fn read_step(
    random: &mut Random,
    waiting: &[usize],
    (is_stream, at_once): (bool, bool),
) -> (Call, Act) {
    let want = random.size();
    let call = match random.below(5) {
        0 => Call::Read(want),
        1 => Call::Readv(want),
        2 => Call::Recv(want),
        3 => Call::Recvmsg(want),
        _ if is_stream && !at_once => Call::RecvAll(want),
        _ => Call::Recv(want),
    };
    let there: usize = waiting.iter().sum();
    let act = match call {
        _ if at_once => Act::Nothing,
        Call::RecvAll(want) if want > there => Act::Write(want - there),
        Call::RecvAll(_) => Act::Nothing,
        _ if waiting.is_empty() => Act::Write(random.size()),
        _ => Act::Nothing,
    };
    (call, act)
}

impl Call {
    /// Returns how many bytes a read takes at most.
    fn room(self) -> usize {
        match self {
            Call::Read(n)
            | Call::Readv(n)
            | Call::Recv(n)
            | Call::Recvmsg(n)
            | Call::RecvAll(n) => n,
            _ => 0,
        }
    }
}

/// Removes what a read of `want` bytes takes.
fn take(waiting: &mut Vec<usize>, want: usize, is_stream: bool) {
    if !is_stream {
        // A datagram is taken whole.
        waiting.drain(..waiting.len().min(1));
        return;
    }
    let there: usize = waiting.drain(..).sum();
    if there > want {
        waiting.push(there - want);
    }
}

fn connected(kind: Kind) -> (OwnedFd, OwnedFd) {
    match kind {
        Kind::Unix => {
            let (one, other) = UnixStream::pair().unwrap();
            (one.into(), other.into())
        }
        Kind::Tcp => {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let other = listener.accept().unwrap().0;
            one.set_nodelay(true).unwrap();
            other.set_nodelay(true).unwrap();
            (one.into(), other.into())
        }
        Kind::Datagram => {
            let (one, other) = UnixDatagram::pair().unwrap();
            (one.into(), other.into())
        }
        Kind::Udp => {
            let bind = || UdpSocket::bind("127.0.0.1:0").unwrap();
            let (one, other) = (bind(), bind());
            one.connect(other.local_addr().unwrap()).unwrap();
            other.connect(one.local_addr().unwrap()).unwrap();
            (one.into(), other.into())
        }
    }
}

fn bytes(n: usize, seed: usize) -> Vec<u8> {
    let few: Vec<_> = (0..n.min(1_000)).map(|i| (i * 7 + seed) as u8).collect();
    few.iter().copied().cycle().take(n).collect()
}

/// The other end: does one act for each message, and answers when it has.
fn act_on(end: OwnedFd, acts: &Receiver<(usize, Act)>, done: &Sender<()>) {
    let mut end = Some(end);
    for (number, act) in acts {
        if act != Act::Nothing {
            thread::sleep(MOMENT);
        }
        match (act, &end) {
            (Act::Nothing, _) | (_, None) => {}
            (Act::Write(n), Some(end)) => {
                raw::send(end, &bytes(n, number), 0).unwrap();
            }
            (Act::Read(n), Some(end)) => {
                let mut left = n;
                let mut room = vec![0; n];
                while left > 0 {
                    match raw::read(end, &mut room[..left]) {
                        Ok(0) | Err(_) => break,
                        Ok(part) => left -= part,
                    }
                }
            }
            (Act::ShutDown, Some(end)) => raw::shut_down(end.as_raw_fd()),
            (Act::Close, Some(_)) => end = None,
        }
        done.send(()).unwrap();
    }
}

/// Executes the program on the calling thread or fiber.
fn execute(kind: Kind, steps: &[Step]) -> Vec<Outcome> {
    let (mut one, other) = connected(kind);
    let (acts, to_do) = channel();
    let (done, has_done) = channel();
    let acting = thread::spawn(move || act_on(other, &to_do, &done));
    let mut outcomes = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        acts.send((number, step.act)).unwrap();
        let outcome = call(&mut one, step.call);
        // The thread is not one of a fiber, so it comes soon.
        has_done.recv().unwrap();
        outcomes.push(outcome);
    }
    drop(acts);
    acting.join().unwrap();
    outcomes
}

fn call(one: &mut OwnedFd, call: Call) -> Outcome {
    let mut room = Vec::new();
    let into = |n: usize| vec![0; n];
    let result = match call {
        Call::Read(n) => {
            room = into(n);
            raw::read(one, &mut room)
        }
        Call::Readv(n) => {
            room = into(n);
            let (first, second) = room.split_at_mut(n / 2);
            raw::readv(one, &mut [first, second])
        }
        Call::Recv(n) | Call::Peek(n) => {
            room = into(n);
            let flags = match call {
                Call::Peek(_) => libc::MSG_PEEK,
                _ => 0,
            };
            raw::recv(one, &mut room, flags)
        }
        Call::Recvmsg(n) => {
            room = into(n);
            raw::recvmsg(one, &mut room)
        }
        Call::RecvAll(n) => {
            room = into(n);
            raw::recv(one, &mut room, libc::MSG_WAITALL)
        }
        Call::Write(n) => raw::write(one, &bytes(n, 0)),
        Call::Send(n) => raw::send(one, &bytes(n, 0), 0),
        Call::Writev(n) => {
            let all = bytes(n, 0);
            raw::writev(one, &[&all[..n / 3], &[], &all[n / 3..]])
        }
        Call::Sendmsg(n) => {
            let all = bytes(n, 0);
            raw::sendmsg(one, &[&all[..n / 3], &[], &all[n / 3..]])
        }
        Call::Poll(events, millis) => raw::poll(&[(one.as_raw_fd(), events)], millis)
            .map(|(ready, found)| ready << 16 | usize::from(found[0].cast_unsigned())),
        Call::Select(millis) => {
            raw::select(&[one.as_raw_fd()], millis).map(|(ready, ..)| ready)
        }
        Call::SetNonblocking(on) => raw::set_nonblocking(one, on),
        Call::Limit(millis) => raw::set_read_limit(one, millis),
        Call::ShutDown => {
            raw::shut_down(one.as_raw_fd());
            Ok(0)
        }
        Call::Duplicate => one.try_clone().map(|same| {
            *one = same;
            0
        }),
    };
    if let Ok(n) = &result {
        room.truncate(*n);
    } else {
        room.clear();
    }
    (
        result.map_err(|error: io::Error| error.raw_os_error()),
        room,
    )
}

// Proves: T2, T4.
#[test]
fn programs_have_the_same_results_on_a_thread_and_on_a_fiber() {
    let kinds = [Kind::Unix, Kind::Tcp, Kind::Datagram, Kind::Udp];
    let tests: Vec<_> = (0..PROGRAMS)
        .map(|seed| {
            let kind = kinds[(seed % 4) as usize];
            let mut random = Random((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            for _ in 0..5 {
                random.below(2);
            }
            (seed, kind, program(kind, &mut random))
        })
        .collect();
    let on_thread: Vec<_> = tests
        .iter()
        .map(|(_, kind, steps)| execute(*kind, steps))
        .collect();
    on_one_worker(move || {
        for ((seed, kind, steps), expected) in tests.iter().zip(on_thread) {
            let found = execute(*kind, steps);
            for (number, step) in steps.iter().enumerate() {
                assert_eq!(
                    found[number], expected[number],
                    "program {seed} on {kind:?}, step {number}: {step:?} of {steps:?}"
                );
            }
        }
    });
}
