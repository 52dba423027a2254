//! Many sockets at once: deadlines that expire together, descriptors that are reused at once,
//! workers that are stuck meanwhile.

use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pirn::cancel::with_deadline;
use pirn::net::{TcpListener, TcpStream, UnixStream};
use pirn::{JoinHandle, Runtime, scope};

use crate::executor_kind::{runtime, until};
use crate::sockets_util::{at_once, connection, converse, echo, listener, reset};
use crate::util::{
    SLACK, apart, compute_until, eventually, mappings, resident, scaled, sockets,
};

const WORKERS: [usize; 3] = [1, 2, 4];

/// A pair of streams, and what one end has been sent and has read so far.
struct Line {
    one: UnixStream,
    other: UnixStream,
    sent: usize,
    read: usize,
}

/// Ten times a thousand reads with deadlines that expire at about the same time, just as bytes
/// arrive for half of them: each ends with its byte or with a timeout, no byte is lost or read
/// twice, and the sockets remain usable.
// Proves: N5-X-crowds.
#[test]
fn deadlines_come_all_at_once() {
    const ROUNDS: usize = 10;
    let lines = scaled(1_000);
    for workers in WORKERS {
        runtime(workers).run(|| {
            let mut lines: Vec<Line> = (0..lines).map(|_| line()).collect();
            for round in 0..ROUNDS {
                // Late enough that some bytes arrive before, early enough that some arrive after.
                let at = pirn::time::now() + Duration::from_millis(10 + 2 * round as u64);
                scope(|s| {
                    for (index, line) in lines.iter_mut().enumerate() {
                        let own = (index + round) % 3 == 0;
                        let sent = line.sent;
                        if (index + round) % 2 == 0 {
                            line.sent += 1;
                            let other = &line.other;
                            s.spawn(move || {
                                let early = Duration::from_micros(index as u64 % 8 * 500);
                                pirn::time::sleep_until(at - early).unwrap();
                                (&*other).write_all(&[sent as u8]).unwrap();
                            });
                        }
                        let (one, read) = (&line.one, &mut line.read);
                        s.spawn(move || *read += read_until(one, at, own, *read));
                    }
                });
            }
            for line in &mut lines {
                line.one.set_read_timeout(None).unwrap();
                while line.read < line.sent {
                    let mut byte = [0; 1];
                    (&line.one).read_exact(&mut byte).unwrap();
                    assert_eq!(byte[0], line.read as u8);
                    line.read += 1;
                }
                drop((&line.other).write_all(b"the last"));
                let mut last = [0; 8];
                (&line.one).read_exact(&mut last).unwrap();
                assert_eq!(&last, b"the last");
            }
        });
    }
}

fn line() -> Line {
    let (one, other) = UnixStream::pair().unwrap();
    Line {
        one,
        other,
        sent: 0,
        read: 0,
    }
}

/// Reads one byte, the next after `read` others, with a deadline around the read, or with a limit
/// of its own; returns how many arrived.
fn read_until(one: &UnixStream, at: Instant, own: bool, read: usize) -> usize {
    let mut byte = [0; 1];
    let mut stream = one;
    let result = if own {
        let left = at.saturating_duration_since(pirn::time::now());
        let least = Duration::from_micros(1);
        one.set_read_timeout(Some(left.max(least))).unwrap();
        stream.read(&mut byte)
    } else {
        one.set_read_timeout(None).unwrap();
        with_deadline(at, || stream.read(&mut byte))
    };
    match result {
        Ok(n) => {
            assert_eq!((n, byte[0]), (1, read as u8));
            1
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            assert_eq!(byte[0], 0);
            0
        }
    }
}

/// Ten thousand short connections while a worker is stuck for a second, some hundred at a time:
/// sockets, their records, and memory return to where they were.
// Proves: N5-X-crowds.
#[test]
fn connections_come_and_go_beside_a_stuck_worker() {
    let name = "socket_storms::connections_come_and_go_beside_a_stuck_worker";
    // The counts are the process's; a lookup of where the worker is stuck takes memory too.
    let set = [("PIRN_STALL_SIGNAL", "0")];
    if let Some(ended) = apart(name, &set, || WORKERS.into_iter().for_each(come_and_go)) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

fn come_and_go(workers: usize) {
    const AT_ONCE: usize = 200;
    // One more beside the stuck worker. A line of fibers that the system stops for 10 ms counts as
    // one that blocks, and gets up to 512 threads, of 200 KiB each: this test does not count those.
    let builder = Runtime::builder().workers(workers);
    let runtime = builder
        .max_threads(workers + usize::from(workers > 1))
        .build()
        .unwrap();
    let listener = runtime.run(listener);
    let address = listener.local_addr().unwrap();
    let open = sockets();
    let server = runtime.spawn(move || serve(&listener));
    let rounds = scaled(10_000).div_ceil(AT_ONCE);
    let round = |_| {
        runtime.run(|| {
            scope(|s| {
                for seed in 0..AT_ONCE {
                    s.spawn(move || {
                        let stream = TcpStream::connect(address).unwrap();
                        at_once(&stream);
                        converse(&stream, seed, 1);
                        // So that no port is kept busy for a minute.
                        reset(stream);
                    });
                }
            });
        });
    };
    (0..5).for_each(round);
    eventually("all are closed", || sockets() <= open);
    let before = (sockets(), mappings(), resident());
    let sources = pirn::dev::sources_ever();
    let stuck = runtime.spawn(|| thread::sleep(Duration::from_secs(1)));
    (0..rounds).for_each(round);
    stuck.join().unwrap();
    eventually("all are closed again", || sockets() <= before.0);
    let more = pirn::dev::sources_ever() - sources;
    assert!(more <= 2 * AT_ONCE, "{more} more sources at once");
    let grown = resident().saturating_sub(before.2);
    println!("{workers} workers: {more} sources, {grown} bytes more");
    assert!(grown < (16 << 20) * SLACK as usize, "{grown} bytes more");
    let (maps, had) = (mappings(), before.1);
    assert!(
        maps < had + 4 * AT_ONCE,
        "{maps} mappings, and {had} before"
    );
    round(0);
    server.cancel();
    server.join().unwrap();
}

/// Echoes all input, until it is cancelled.
fn serve(listener: &TcpListener) {
    scope::supervise(|s| {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            at_once(&stream);
            drop(s.spawn(move || echo(&stream)));
        }
    });
}

/// While one worker is stuck, connections with fibers on the other ones keep working: each has
/// hundreds of answers before that one is released.
// Proves: N5-X-crowds.
#[test]
fn a_stuck_worker_holds_up_only_its_own() {
    const PAIRS: usize = 40;
    for workers in [2, 4] {
        let runtime = runtime(workers);
        let over = Arc::new(AtomicBool::new(false));
        let mut talks: Vec<_> = (0..PAIRS).map(|_| talk(&runtime, &over)).collect();
        eventually("all talk", || talks.iter().all(|talk| talk.rounds() > 0));
        let released = Arc::new(AtomicBool::new(false));
        let (tell, stuck) = std::sync::mpsc::channel();
        let until_then = Arc::clone(&released);
        let holder = runtime.spawn(move || {
            tell.send(thread::current().id()).unwrap();
            compute_until("it is released", || until_then.load(Ordering::SeqCst));
        });
        let stuck = stuck.recv().unwrap();
        // All may have been on that one. A later pair is not.
        talks.push(talk(&runtime, &over));
        assert!(talks.iter().any(|talk| !talk.is_on(stuck)));
        let others = || talks.iter().filter(|talk| !talk.is_on(stuck));
        let before: Vec<usize> = others().map(Talk::rounds).collect();
        for (talk, before) in others().zip(before) {
            eventually("it goes on", || talk.rounds() >= before + 300);
        }
        released.store(true, Ordering::SeqCst);
        holder.join().unwrap();
        over.store(true, Ordering::SeqCst);
        talks.into_iter().for_each(Talk::end);
        assert_eq!(runtime.metrics().total.rescues, 0);
    }
}

/// Two fibers that send each other bytes.
struct Talk {
    rounds: Arc<AtomicUsize>,
    fibers: [JoinHandle<()>; 2],
    threads: [ThreadId; 2],
}

impl Talk {
    fn rounds(&self) -> usize {
        self.rounds.load(Ordering::SeqCst)
    }

    fn is_on(&self, thread: ThreadId) -> bool {
        self.threads.contains(&thread)
    }

    fn end(self) {
        self.fibers
            .into_iter()
            .for_each(|fiber| fiber.join().unwrap());
    }
}

fn talk(runtime: &Runtime, over: &Arc<AtomicBool>) -> Talk {
    let (one, other) = runtime.run(connection);
    let rounds = Arc::new(AtomicUsize::new(0));
    let (tell, threads) = std::sync::mpsc::channel();
    let caller = {
        let (over, rounds, tell) = (Arc::clone(over), Arc::clone(&rounds), tell.clone());
        runtime.spawn(move || {
            tell.send(thread::current().id()).unwrap();
            while !over.load(Ordering::SeqCst) {
                converse(&one, 1, 1);
                rounds.fetch_add(1, Ordering::SeqCst);
            }
        })
    };
    let answerer = runtime.spawn(move || {
        tell.send(thread::current().id()).unwrap();
        echo(&other).unwrap();
    });
    // Once they have run they stay.
    let threads = [threads.recv().unwrap(), threads.recv().unwrap()];
    Talk {
        rounds,
        fibers: [caller, answerer],
        threads,
    }
}

/// Descriptor numbers that are closed and opened again at once, by fibers of several workers, while
/// others wait with limits: each fiber gets its own bytes, or a timeout.
// Proves: N6.
#[test]
fn numbers_are_used_again_at_once() {
    const FIBERS: usize = 16;
    for workers in WORKERS {
        runtime(workers).run(|| {
            let done = AtomicUsize::new(0);
            let rounds = scaled(1_000).max(100);
            scope(|s| {
                for own in 0..FIBERS {
                    let done = &done;
                    s.spawn(move || {
                        for round in 0..rounds {
                            exchange((own * rounds + round) as u32);
                        }
                        done.fetch_add(1, Ordering::SeqCst);
                    });
                }
            });
            until(&done, FIBERS);
        });
    }
}

/// Opens a pair, waits for what another fiber may send through it, and closes it.
fn exchange(own: u32) {
    let (one, other) = UnixStream::pair().unwrap();
    let limit = Duration::from_micros(u64::from(own % 5) * 100 + 1);
    one.set_read_timeout(Some(limit)).unwrap();
    let sends = !own.is_multiple_of(3);
    let closes = own % 4 == 1;
    let sender = pirn::spawn(move || {
        if sends {
            (&other).write_all(&own.to_ne_bytes()).unwrap();
        }
        // Otherwise its receiver closes it, after the read.
        (!closes).then_some(other)
    });
    let mut bytes = [0; 4];
    let ended = (&one).read(&mut bytes);
    if own.is_multiple_of(7) {
        // While the other end is still being written to.
        drop(one);
    }
    drop(sender.join());
    match ended {
        Ok(0) => assert!(closes && !sends, "an end out of nowhere"),
        Ok(n) => {
            assert!(sends && n == 4, "{n} bytes out of nowhere");
            assert_eq!(u32::from_ne_bytes(bytes), own, "another connection's");
        }
        Err(error) => assert_eq!(error.kind(), ErrorKind::TimedOut),
    }
}
