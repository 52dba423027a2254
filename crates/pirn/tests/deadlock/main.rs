//! Which programs are reported as deadlocked, and which are not. Each is a process of its own. The
//! detector must know all its threads, so the test harness must not be in it: this binary runs a
//! program before its `main` if the environment names one.
#![cfg(all(target_os = "linux", not(any(loom, shuttle, pirn_asan, pirn_tsan))))]
#![allow(
    clippy::disallowed_methods,
    reason = "programs with plain threads, watched by plain processes"
)]

#[expect(unsafe_code, reason = "runs a program before `main`")]
mod early;
mod programs;

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use early::PROGRAM;
use programs::{LONG, PROGRAMS, Program, Verdict};

/// How a program ended.
struct Ended {
    code: Option<i32>,
    stderr: String,
    /// How long it ran.
    took: Duration,
}

/// Returns the command that runs the program.
fn command(program: &Program, mode: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command
        .env(PROGRAM, program.name)
        .env("PIRN_DEADLOCK", mode)
        .env_remove("PIRN_WORKERS")
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

fn start(program: &Program, mode: &str) -> Child {
    let mut command = command(program, mode);
    command
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process starts")
}

/// Waits for the end of the program, which was started at `begun`, within a limit.
fn end(mut child: Child, begun: Instant) -> Ended {
    let mut pipe = child.stderr.take().expect("a pipe");
    let reader = std::thread::spawn(move || std::io::read_to_string(&mut pipe));
    let code = code_of(&mut child);
    let took = begun.elapsed();
    let stderr = reader.join().expect("reads on").expect("text");
    Ended { code, stderr, took }
}

/// Waits for the end of the program, within a limit; returns its exit code, if it has one.
fn code_of(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            return status.code();
        }
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().expect("a child of ours");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs all programs of which `meant` is true, at the same time.
fn run(mode: &str, meant: impl Fn(&Program) -> bool) -> Vec<(&'static Program, Ended)> {
    let meant = PROGRAMS.iter().filter(|program| meant(program));
    let ends: Vec<_> = meant
        .map(|program| {
            let begun = Instant::now();
            let child = start(program, mode);
            (program, std::thread::spawn(move || end(child, begun)))
        })
        .collect();
    let ended = ends
        .into_iter()
        .map(|(program, end)| (program, end.join().expect("it has ended")));
    ended.collect()
}

/// Cycles and standstill end the process with code 124, and the report names each fiber, its
/// spawn line and its wait. Either is detected before the end of a program that is alive.
// Proves: P6, P15.
#[test]
fn deadlocks_are_reported_and_end_the_process() {
    let told = run("abort", |program| program.verdict != Verdict::Alive);
    for standstill in [false, true] {
        let is_one = |verdict: &Verdict| matches!(verdict, Verdict::Standstill(_));
        let own = told.iter().filter(|it| is_one(&it.0.verdict) == standstill);
        // The others may be late on a busy machine.
        let quickest = own.map(|it| it.1.took).min().expect("there are some");
        assert!(quickest < LONG, "after {quickest:?}, {standstill}");
    }
    for (program, Ended { code, stderr, .. }) in told {
        let name = program.name;
        assert_eq!(code, Some(124), "{name}: {stderr}");
        let head = match program.verdict {
            Verdict::Itself => "pirn: deadlock: a fiber waits for itself".to_owned(),
            Verdict::Cycle(n) => {
                format!("pirn: deadlock: {n} fibers wait for each other")
            }
            Verdict::Standstill(n) => match n {
                1 => "pirn: deadlock: 1 fiber waits, no thread".to_owned(),
                n => format!("pirn: deadlock: {n} fibers wait, no thread"),
            },
            Verdict::Alive => unreachable!("filtered out"),
        };
        assert!(stderr.contains(&head), "{name}: no `{head}` in: {stderr}");
        for part in program.parts {
            assert!(stderr.contains(part), "{name}: no `{part}` in: {stderr}");
        }
        assert!(stderr.contains("programs.rs"), "{name}: {stderr}");
        assert_eq!(
            stderr.matches("pirn: deadlock").count(),
            1,
            "{name}: {stderr}"
        );
    }
}

/// A report that standard error does not take does not keep the process from its end.
// Proves: P6.
#[test]
fn a_full_stream_does_not_put_off_the_end() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut fills = writer.try_clone().expect("a descriptor");
    // Keeps the pipe full until it has no reader.
    let fill = move || while fills.write_all(&[b'x'; 4096]).is_ok() {};
    let filler = std::thread::spawn(fill);
    let named = |program: &&Program| program.name == "cycle_of_locks";
    let program = PROGRAMS.iter().find(named).expect("is there");
    let mut command = command(program, "abort");
    let mut child = command.stderr(writer).spawn().expect("a process starts");
    assert_eq!(code_of(&mut child), Some(124));
    drop(reader);
    filler.join().expect("no reader is left");
}

/// A wait that a timer, a thread outside, a blocking call, or more stacks may still end is no
/// deadlock.
// Proves: K12, P6.
#[test]
fn what_may_go_on_is_no_deadlock() {
    let ran = run("abort", |program| program.verdict == Verdict::Alive);
    assert!(ran.len() >= 7);
    for (program, Ended { code, stderr, took }) in ran {
        let name = program.name;
        assert_eq!(code, Some(0), "{name}: {stderr}");
        assert!(!stderr.contains("deadlock"), "{name}: {stderr}");
        assert!(took >= LONG, "{name} has ended after {took:?}");
    }
}

/// By default the only effect is one report, and other fibers keep running; no report if so
/// configured.
// Proves: P6.
#[test]
fn a_report_is_all_unless_more_is_asked_for() {
    let partial = |program: &Program| program.name == "cycle_beside_others";
    let [(_, told)] = &run("report", partial)[..] else {
        panic!("one program");
    };
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert_eq!(
        told.stderr.matches("pirn: deadlock").count(),
        1,
        "{}",
        told.stderr
    );
    let [(_, quiet)] = &run("off", partial)[..] else {
        panic!("one program");
    };
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""));
}

/// An invalid value causes an error that names it.
#[test]
fn a_wrong_value_is_named() {
    let simple = |program: &Program| program.name == "cycle_of_locks";
    let [(_, ended)] = &run("maybe", simple)[..] else {
        panic!("one program");
    };
    assert_ne!(ended.code, Some(0));
    assert!(
        ended.stderr.contains("PIRN_DEADLOCK is 'maybe'"),
        "{}",
        ended.stderr
    );
}
