//! `poll` and `select`.

use std::env;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use libc::c_int;
use pirn::cancel::Token;
use pirn::runtime::Builder;
use pirn::{sleep, spawn};
use pirn_hooks::within;

use crate::fixture::{blocks, on_one_worker, parks};
use crate::raw;

// Proves: T4.
#[test]
fn poll_waits_for_the_first_of_three() {
    on_one_worker(|| {
        let pipes: Vec<_> = (0..3).map(|_| io::pipe().unwrap()).collect();
        let (readers, mut writers): (Vec<_>, Vec<_>) = pipes.into_iter().unzip();
        let mut writer = writers.remove(1);
        let late = spawn(move || {
            sleep(Duration::from_millis(5)).unwrap();
            within(|| writer.write_all(b"x").unwrap());
            writer
        });
        let wanted: Vec<_> = readers
            .iter()
            .map(|it| (it.as_raw_fd(), libc::POLLIN))
            .collect();
        let (ready, found) = raw::poll(&wanted, -1).unwrap();
        assert_eq!((ready, found), (1, vec![0, libc::POLLIN, 0]));
        drop(late.join().unwrap());
        let wanted: Vec<_> = readers.iter().map(AsRawFd::as_raw_fd).collect();
        let (ready, found, _) = raw::select(&wanted, 1_000).unwrap();
        assert_eq!((ready, found), (1, vec![wanted[1]]));
    });
    assert!(parks("poll") > 0);
}

// Proves: T4.
#[test]
fn select_waits_for_one() {
    on_one_worker(|| {
        let (one, mut to) = io::pipe().unwrap();
        let (other, _kept) = io::pipe().unwrap();
        let late = spawn(move || {
            sleep(Duration::from_millis(5)).unwrap();
            within(|| to.write_all(b"x").unwrap());
        });
        let wanted = [other.as_raw_fd(), one.as_raw_fd()];
        let (ready, found, left) = raw::select(&wanted, 60_000).unwrap();
        assert_eq!((ready, found), (1, vec![one.as_raw_fd()]));
        assert!((1..60_000).contains(&left));
        late.join().unwrap();
    });
    assert!(parks("select") > 0);
}

// Proves: T4.
#[test]
fn poll_and_select_time_out() {
    on_one_worker(|| {
        let (one, _to) = io::pipe().unwrap();
        let start = Instant::now();
        let wanted = [(one.as_raw_fd(), libc::POLLIN)];
        assert_eq!(raw::poll(&wanted, 5).unwrap(), (0, vec![0]));
        assert_eq!(raw::poll(&[], 5).unwrap(), (0, vec![]));
        assert_eq!(raw::select(&[one.as_raw_fd()], 5).unwrap(), (0, vec![], 0));
        assert!(start.elapsed() >= Duration::from_millis(15));
    });
}

// Proves: T4.
#[test]
fn poll_reports_what_is_not_open_and_what_ends() {
    on_one_worker(|| {
        let (one, to) = io::pipe().unwrap();
        let late = spawn(move || {
            sleep(Duration::from_millis(5)).unwrap();
            within(|| drop(to));
        });
        let wanted = [(one.as_raw_fd(), libc::POLLIN), (-1, libc::POLLIN)];
        assert_eq!(raw::poll(&wanted, -1).unwrap(), (1, vec![libc::POLLHUP, 0]));
        late.join().unwrap();
        let number = raw::far_number(one.into(), 1);
        raw::close(number);
        let closed = raw::poll(&[(number, libc::POLLIN)], -1).unwrap();
        assert_eq!(closed, (1, vec![libc::POLLNVAL]));
    });
}

// Proves: T4.
#[test]
fn sockets_of_pirn_may_be_polled() {
    on_one_worker(|| {
        let (one, other) = pirn::net::UnixStream::pair().unwrap();
        let one = Arc::new(one);
        let same = Arc::clone(&one);
        // The fiber waits for the same number by the socket's own record.
        let reader = spawn(move || {
            let mut byte = [0];
            (&*same).read(&mut byte).unwrap()
        });
        pirn::yield_now();
        let late = spawn(move || {
            for _ in 0..2 {
                sleep(Duration::from_millis(5)).unwrap();
                (&other).write_all(b"xx").unwrap();
            }
        });
        for _ in 0..2 {
            let polled = raw::poll(&[(one.as_raw_fd(), libc::POLLIN)], -1).unwrap();
            assert_eq!(polled, (1, vec![libc::POLLIN]));
            (&*one).read_exact(&mut [0]).unwrap();
        }
        assert_eq!(reader.join().unwrap(), 1);
        late.join().unwrap();
    });
}

// Proves: T4.
#[test]
fn a_poll_of_one_notices_that_it_is_closed() {
    on_one_worker(|| {
        let (one, _kept) = io::pipe().unwrap();
        let number = one.into_raw_fd();
        let waiter = spawn(move || within(|| raw::poll(&[(number, libc::POLLIN)], -1)));
        pirn::yield_now();
        raw::close(number);
        assert_eq!(waiter.join().unwrap().unwrap(), (1, vec![libc::POLLNVAL]));
    });
}

// Proves: T4.
#[test]
fn the_same_descriptor_may_be_polled_twice() {
    on_one_worker(|| {
        let (one, mut to) = io::pipe().unwrap();
        let late = spawn(move || {
            sleep(Duration::from_millis(5)).unwrap();
            within(|| to.write_all(b"x").unwrap());
            to
        });
        let fd = one.as_raw_fd();
        let wanted = [(fd, libc::POLLPRI), (fd, libc::POLLIN)];
        assert_eq!(raw::poll(&wanted, -1).unwrap(), (1, vec![0, libc::POLLIN]));
        drop(late.join().unwrap());
    });
}

/// A runtime inside of a crate waits so, with a context in thread-locals.
// Proves: T4.
#[test]
fn epoll_blocks_and_is_counted() {
    on_one_worker(|| {
        let (from, mut to) = io::pipe().unwrap();
        let epoll = raw::epoll_of(&from);
        assert_eq!(raw::epoll_wait(&epoll, 0).unwrap(), 0);
        let before = blocks("epoll_wait");
        let other = spawn(|| ());
        assert_eq!(raw::epoll_wait(&epoll, 10).unwrap(), 0);
        assert!(!other.is_finished(), "the fiber has left its thread");
        assert!(blocks("epoll_wait") > before);
        to.write_all(&[1]).unwrap();
        assert_eq!(raw::epoll_wait(&epoll, -1).unwrap(), 1);
        other.join().unwrap();
    });
}

/// The variable by which this program, started again, blocks, and for how long.
const BLOCKS: &str = "PIRN_TEST_BLOCKS_MILLIS";

/// Blocks in `epoll_wait`, twice in fibers of one spawn line and once of another, and in `ppoll`.
fn block(builder: Builder, millis: c_int) {
    let runtime = builder.workers(1).hooks(true).build().unwrap();
    runtime.run(move || {
        let (from, _to) = io::pipe().unwrap();
        let epoll = raw::epoll_of(&from);
        let waits = || assert_eq!(raw::epoll_wait(&epoll, millis).unwrap(), 0);
        let mask = || {
            let wanted = [(from.as_raw_fd(), libc::POLLIN)];
            assert_eq!(raw::ppoll_masked(&wanted, millis).unwrap(), 0);
        };
        pirn::scope(|s| {
            for both in [false, true] {
                s.spawn(move || {
                    waits();
                    if both {
                        mask();
                    }
                });
            }
            s.spawn(waits);
        });
    });
}

// Proves: T13.
#[test]
fn a_call_that_blocks_for_long_is_reported_once_for_its_spawn_line() {
    const NAME: &str =
        "readiness::a_call_that_blocks_for_long_is_reported_once_for_its_spawn_line";
    if let Ok(millis) = env::var(BLOCKS) {
        return match millis.strip_suffix(" off") {
            Some(millis) => {
                block(Builder::new().slow_fiber(None), millis.parse().unwrap());
            }
            None => block(Builder::new(), millis.parse().unwrap()),
        };
    }
    let reports = |millis: &str| -> Vec<String> {
        let mut again = Command::new("/proc/self/exe");
        again.args(["--exact", NAME, "--nocapture"]);
        let ended = again.env(BLOCKS, millis).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.success(), "{said}");
        let lines = said.lines().filter(|line| line.contains("has blocked"));
        lines.map(str::to_owned).collect()
    };
    let said = reports("10");
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(
        said.iter().all(|line| line.contains("readiness.rs:")),
        "{said:?}"
    );
    let polls = said.iter().filter(|line| line.contains("by poll"));
    assert_eq!(polls.count(), 1, "{said:?}");
    assert_eq!(reports("20 off"), [""; 0]);
    // Some wait for a processor as long, on a crowded machine.
    let short = (0..20).map(|_| reports("5").len());
    assert_eq!(short.min(), Some(0));
}

/// Linux has room for 500 epoll instances that watch one object and are watched themselves. The
/// calls beyond that ask again and again.
// Proves: T4.
#[test]
fn more_than_five_hundred_poll_one_descriptor() {
    on_one_worker(|| {
        let (stop, mut stops) = io::pipe().unwrap();
        let (other, _kept) = io::pipe().unwrap();
        let both = [
            (stop.as_raw_fd(), libc::POLLIN),
            (other.as_raw_fd(), libc::POLLIN),
        ];
        let poll = move || within(|| raw::poll(&both, -1)).unwrap().0;
        let all: Vec<_> = (0..520).map(|_| spawn(poll)).collect();
        sleep(Duration::from_millis(50)).unwrap();
        stops.write_all(b"x").unwrap();
        all.into_iter()
            .for_each(|one| assert_eq!(one.join().unwrap(), 1));
        let early = raw::poll(&both[1..], 1).unwrap();
        assert_eq!(early.0, 0);
    });
}

/// A loop of `poll` and a receive that does not wait, as libraries of clients have it, yields.
// Proves: T4.
#[test]
fn a_loop_of_polls_and_receives_yields() {
    const SIZE: usize = 50_000;
    on_one_worker(|| {
        let (mut to, from) = UnixStream::pair().unwrap();
        to.write_all(&[1; SIZE]).unwrap();
        raw::set_nonblocking(&from, true).unwrap();
        let turns = Arc::new(AtomicUsize::new(0));
        let (counts, over) = (Arc::clone(&turns), Token::new());
        let end = over.clone();
        let other = spawn(move || {
            while !end.is_cancelled() {
                counts.fetch_add(1, Ordering::Relaxed);
                pirn::yield_now();
            }
        });
        for _ in 0..SIZE {
            let wanted = [(from.as_raw_fd(), libc::POLLIN)];
            assert_eq!(raw::poll(&wanted, -1).unwrap().0, 1);
            assert_eq!(raw::recv(&from, &mut [0], 0).unwrap(), 1);
        }
        let turns = turns.load(Ordering::Relaxed);
        over.cancel();
        other.join().unwrap();
        assert!(turns >= SIZE / 1_000, "{turns} turns of another fiber");
    });
}

/// In a child that no function of libc has made, `poll` without descriptors blocks: it runs no
/// fibers of the parent.
// Proves: T5.
#[test]
fn a_child_by_a_system_call_runs_no_fiber() {
    on_one_worker(|| {
        let (mut from, to) = io::pipe().unwrap();
        let other = spawn(move || within(|| raw::write(&to, &[1]).unwrap()));
        assert_eq!(raw::polls_in_a_child(10).unwrap(), 0);
        assert_eq!(other.join().unwrap(), 1);
        let mut came = Vec::new();
        from.read_to_end(&mut came).unwrap();
        assert_eq!(came, [1], "one byte of the fiber in each process");
    });
}
