//! Children of `fork` that run no other program: copies of the parent's memory and descriptors.

use std::fs;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use pirn::Runtime;

use crate::trace_format::check;
use crate::util::{Directory, LONG, apart, is_again};

/// Returns the number of a new child, which calls `child`.
fn fork(child: fn() -> !) -> libc::pid_t {
    // SAFETY: the child calls functions of the C library only.
    let id = unsafe { libc::fork() };
    assert!(id >= 0, "there is no child");
    if id == 0 {
        child();
    }
    id
}

fn pause() -> ! {
    loop {
        // SAFETY: no memory is passed.
        unsafe { libc::pause() };
    }
}

fn exit() -> ! {
    // SAFETY: the handlers of this library are meant to run in a child too.
    unsafe { libc::exit(0) }
}

/// Waits for the end of a child; returns its status.
fn wait(child: libc::pid_t) -> libc::c_int {
    let mut status = 0;
    // SAFETY: the status is writable.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(ended, child);
    status
}

/// A child with copies of the descriptors does not delay the end of a runtime with a socket.
// Proves: P15.
#[test]
fn a_child_does_not_delay_the_end() {
    let name = "forks::a_child_does_not_delay_the_end";
    let ended = apart(name, &[], || {
        let directory = Directory::new();
        let path = directory.at("socket");
        let build = Runtime::builder().workers(1).inspect(&path).build();
        let runtime = build.unwrap();
        let child = fork(pause);
        let (start, end) = (Instant::now(), thread::spawn(move || drop(runtime)));
        while !end.is_finished() && start.elapsed() < LONG {
            thread::sleep(Duration::from_millis(1));
        }
        let in_time = end.is_finished();
        // Before the assertion, which would leave the child behind.
        // SAFETY: a child that has not been waited for.
        unsafe { libc::kill(child, libc::SIGKILL) };
        wait(child);
        assert!(in_time, "it waits for the child");
        assert!(directory.names().is_empty());
    });
    let Some(ended) = ended else { return };
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
}

/// The process under test: uses the default runtime, and has a child that exits.
fn run_and_fork() {
    pirn::run(|| pirn::spawn(|| 1).join().unwrap());
    assert_eq!(wait(fork(exit)), 0);
    process::exit(0);
}

/// A child that exits writes no report on its parent's runtimes, and leaves their sockets alone.
// Proves: P3, P15.
#[test]
fn a_child_that_exits_reports_nothing() {
    const STATS: (&str, &str) = ("PIRN_STATS", "1");
    let name = "forks::a_child_that_exits_reports_nothing";
    if is_again(name) {
        run_and_fork();
    }
    let directory = Directory::new();
    let (trace, socket) = (directory.at("trace"), directory.at("socket"));
    let reports = [("PIRN_TRACE", trace.to_str().expect("text")), STATS];
    let inspects = [("PIRN_INSPECT", socket.to_str().expect("text"))];
    let variables: [&[(&str, &str)]; 2] = [&reports, &inspects];
    for variables in variables {
        let ended = apart(name, variables, run_and_fork).expect("the parent");
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
        let counters = ended.stderr.matches("counters of 'pirn'").count();
        let expected = usize::from(variables.contains(&STATS));
        assert_eq!(counters, expected, "{}", ended.stderr);
    }
    let trace = check(&fs::read_to_string(trace).unwrap());
    assert!(trace.slices.values().map(Vec::len).sum::<usize>() > 0);
    assert_eq!(directory.names(), ["trace"]);
}
