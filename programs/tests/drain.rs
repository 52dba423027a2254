//! `drain`, with commands that leave traces.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use peers::{LIMIT, Program, await_refusal, connect, directory, listening};

fn drain(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drain"));
    command.args(args);
    command
}

/// Returns the numbers in answers that begin with `word`, in order.
fn numbers(answers: &[String], word: &str) -> Vec<usize> {
    let number = |answer: &String| {
        let rest = answer.strip_prefix(word)?;
        rest.split_whitespace().next()?.parse().ok()
    };
    let mut numbers: Vec<usize> = answers.iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

// Proves: N7-X-drain.
#[test]
fn every_line_of_the_input_is_run() {
    let directory = directory("every_line_of_the_input_is_run");
    let mut command = drain(&["mkdir", "--"]);
    let mut started = Program::start(command.current_dir(&directory));
    let mut input = started.input();
    for n in 0..50 {
        writeln!(input, "-a name {n}").unwrap();
    }
    // The last line may lack an end.
    write!(input, "last").unwrap();
    drop(input);
    let ended = started.end();
    assert!(ended.status.success(), "{}", ended.output);
    let answers: Vec<_> = ended.output.lines().map(str::to_owned).collect();
    let all: Vec<usize> = (1..=51).collect();
    assert_eq!(numbers(&answers, "accepted"), all);
    assert_eq!(numbers(&answers, "ended"), all);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 51);
    assert!(directory.join("-a name 49").is_dir());
}

// Proves: N7-X-drain.
#[test]
fn failures_are_reported() {
    let run = |args: &[&str], line: &str| {
        let mut started = Program::start(&mut drain(args));
        // It may have ended before it has read all of it.
        let _ = writeln!(started.input(), "{line}");
        let ended = started.end();
        (ended.status.code(), ended.output)
    };
    let (code, said) = run(&["sh", "-c", "exit 3"], "x");
    assert_eq!(
        (code, said.as_str()),
        (Some(1), "accepted 1\nended 1 exit status: 3\n")
    );
    let (code, said) = run(&["sh", "-c", "kill -9 $$"], "x");
    assert!(
        code == Some(1) && said.contains("ended 1 signal: 9"),
        "{said}"
    );
    let (code, said) = run(&["there-is-no-such-program"], "x");
    assert!(
        code == Some(1) && said.contains("failed 1 No such file"),
        "{said}"
    );
    let (code, said) = run(&["true"], &"x".repeat(200_000));
    assert_eq!((code, said.as_str()), (Some(1), ""));
}

// Proves: N7-X-drain.
#[test]
fn as_many_run_at_once_as_may() {
    let directory = directory("as_many_run_at_once_as_may");
    // Each takes one of three places while it runs, and fails if none is free: so at most three
    // run. The first ones wait until there are three: so at least three run.
    let script =
        "for place in 1 2 3 none; do mkdir place-$place 2>/dev/null && break; done
        [ $place != none ] || exit 1
        touch come-$0
        for n in $(seq 3000); do [ $(ls | grep -c come) -ge 3 ] && break; sleep 0.01; done
        [ $(ls | grep -c come) -ge 3 ] || exit 1
        sleep 0.1
        rmdir place-$place";
    let mut command = drain(&["--jobs", "3", "sh", "-c", script]);
    let mut started = Program::start(command.current_dir(&directory));
    started.input().write_all(b"a\nb\nc\nd\ne\nf\ng\n").unwrap();
    let ended = started.end();
    assert!(ended.status.success(), "{}", ended.output);
}

// Proves: N7-X-drain.
#[test]
fn a_signal_under_load_loses_nothing_that_was_accepted() {
    let directory = directory("a_signal_under_load_loses_nothing_that_was_accepted");
    let trace = directory.join("trace");
    let script = format!("echo $0 >> {}", trace.display());
    let (server, address) = Program::serve(
        env!("CARGO_BIN_EXE_drain"),
        &["--jobs", "3", "sh", "-c", &script],
    );
    let clients = 4;
    let (ended, under_load) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let accepted: usize = thread::scope(|s| {
        let client = |client: usize| {
            let (ended, under_load) = (&ended, &under_load);
            s.spawn(move || {
                let stream = connect(address);
                let mut sender = stream.try_clone().unwrap();
                // It sends while its data is read.
                let sends = thread::spawn(move || {
                    let mut n = 0;
                    while writeln!(sender, "client-{client}-{n}").is_ok() {
                        n += 1;
                    }
                });
                let mut answers = Vec::new();
                for line in BufReader::new(&stream).lines() {
                    answers.push(line.unwrap());
                    if answers.last().unwrap().starts_with("ended") {
                        ended.fetch_add(1, Ordering::Relaxed);
                    }
                    if answers.len() == 20 {
                        under_load.fetch_add(1, Ordering::Relaxed);
                    }
                }
                stream.shutdown(Shutdown::Both).unwrap_or_default();
                sends.join().unwrap();
                let accepted = numbers(&answers, "accepted");
                assert_eq!(numbers(&answers, "ended"), accepted);
                accepted.len()
            })
        };
        let clients: Vec<_> = (0..clients).map(client).collect();
        let start = Instant::now();
        while under_load.load(Ordering::Relaxed) < clients.len() {
            assert!(start.elapsed() < LIMIT, "a client gets no answers");
            thread::sleep(Duration::from_millis(1));
        }
        server.terminate();
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .sum()
    });
    assert!(server.end().status.success());
    assert_eq!(ended.load(Ordering::Relaxed), accepted);
    assert_eq!(fs::read_to_string(trace).unwrap().lines().count(), accepted);
}

/// A client that is cut off at the end gets no more answers; its accepted lines are run all the
/// same: one runs, one is queued, and one waits for the queue.
// Proves: N7-X-drain.
#[test]
fn what_was_accepted_from_a_client_that_is_cut_off_is_run() {
    let directory = directory("what_was_accepted_from_a_client_that_is_cut_off_is_run");
    let script =
        "for n in $(seq 6000); do [ -e go ] && break; sleep 0.01; done; touch ran-$0";
    let mut command = listening(env!("CARGO_BIN_EXE_drain"));
    command
        .args(["--jobs", "1", "--grace", "0", "sh", "-c", script])
        .current_dir(&directory);
    let (server, address) = Program::serve_by(&mut command);
    let stream = connect(address);
    (&stream).write_all(b"a\nb\nc\nd\ne\n").unwrap();
    let mut answers = BufReader::new(&stream).lines();
    for n in 1..=3 {
        assert_eq!(answers.next().unwrap().unwrap(), format!("accepted {n}"));
    }
    server.terminate();
    // The connections are cancelled right after this.
    await_refusal(address);
    thread::sleep(Duration::from_millis(20));
    fs::write(directory.join("go"), "").unwrap();
    assert_eq!(server.end().status.code(), Some(1));
    for line in ["a", "b", "c"] {
        assert!(
            directory.join(format!("ran-{line}")).exists(),
            "{line} was not run"
        );
    }
}

// Proves: N7-X-drain.
#[test]
fn a_key_that_interrupts_ends_no_command() {
    let directory = directory("a_key_that_interrupts_ends_no_command");
    // It ends even if the test fails.
    let script = "touch begun; for n in $(seq 6000); do [ -e go ] && exit; sleep 0.01; done; exit 1";
    let mut command = drain(&["sh", "-c", script]);
    let mut started = Program::start(command.current_dir(&directory).process_group(0));
    let mut input = started.input();
    input.write_all(b"a\n").unwrap();
    let start = Instant::now();
    while !directory.join("begun").exists() {
        assert!(start.elapsed() < LIMIT, "it does not begin");
        thread::sleep(Duration::from_millis(2));
    }
    started.interrupt_group();
    fs::write(directory.join("go"), "").unwrap();
    let ended = started.end();
    assert_eq!(ended.output, "accepted 1\nended 1 exit status: 0\n");
    assert!(ended.status.success());
    drop(input);
}

// Proves: N7-X-drain.
#[test]
fn it_ends_when_its_answers_are_not_read() {
    let mut started = Program::start(&mut drain(&["true"]));
    let mut input = started.input();
    input.write_all(b"first\n").unwrap();
    assert_eq!(started.line(), "accepted 1");
    started.close_output();
    let start = Instant::now();
    while input.write_all(b"more\n").is_ok() {
        assert!(start.elapsed() < LIMIT, "it goes on");
    }
    assert_eq!(started.end().status.code(), Some(1));
}

// Proves: N7-X-drain.
#[test]
fn a_signal_ends_what_comes_from_standard_input() {
    let mut started = Program::start(&mut drain(&["sh", "-c", "echo ran $0"]));
    let mut input = started.input();
    writeln!(input, "one").unwrap();
    let mut said = vec![started.line(), started.line(), started.line()];
    said.sort();
    assert_eq!(said, ["accepted 1", "ended 1 exit status: 0", "ran one"]);
    // The input stays open.
    started.terminate();
    let ended = started.end();
    assert!(
        ended.status.success() && ended.output.is_empty(),
        "{}",
        ended.output
    );
    drop(input);
}

/// A second signal ends it although a command runs, whether the input is open or not.
// Proves: N7-X-drain.
#[test]
fn a_second_signal_ends_it_at_once() {
    // It ends even if the test fails.
    let script =
        "touch begun; for n in $(seq 6000); do [ -e go ] && exit; sleep 0.01; done";
    for state in ["open", "closed"] {
        let directory = directory(&format!("a_second_signal_ends_it_at_once-{state}"));
        let mut command = drain(&["sh", "-c", script]);
        let mut started = Program::start(command.current_dir(&directory));
        let mut input = Some(started.input());
        input.as_mut().unwrap().write_all(b"a\n").unwrap();
        input = input.filter(|_| state == "open");
        let start = Instant::now();
        while !directory.join("begun").exists() {
            assert!(start.elapsed() < LIMIT, "it does not begin");
            thread::sleep(Duration::from_millis(2));
        }
        // A signal that comes before the first one has been noticed counts as that one.
        let start = Instant::now();
        while !started.has_ended() {
            assert!(start.elapsed() < LIMIT / 2, "it goes on: {state}");
            started.terminate();
            thread::sleep(Duration::from_millis(10));
        }
        // The command has its output, too.
        fs::write(directory.join("go"), "").unwrap();
        let ended = started.end();
        assert_eq!(ended.status.signal(), Some(15), "{state}: {}", ended.status);
        drop(input);
    }
}

// Proves: N7-X-drain.
#[test]
fn a_client_that_reads_nothing_holds_up_no_other() {
    let (_server, address) =
        Program::serve(env!("CARGO_BIN_EXE_drain"), &["--jobs", "2", "true"]);
    let mut greedy = connect(address);
    // No command runs for these lines, and their answers are longer than the lines: so the answers
    // soon fill all buffers, and then the lines do.
    let lines = b"\0\n".repeat(10_000);
    let taken = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&taken);
    // It ends with the server.
    thread::spawn(move || {
        while greedy.write_all(&lines).is_ok() {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    let (start, mut before, mut looks) = (Instant::now(), 0, 0);
    while looks < 4 {
        assert!(start.elapsed() < LIMIT, "it takes all there is");
        thread::sleep(Duration::from_millis(200));
        let now = taken.load(Ordering::Relaxed);
        looks = if now > 0 && now == before {
            looks + 1
        } else {
            0
        };
        before = now;
    }
    let mut stream = connect(address);
    stream.write_all(b"y\n").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers, "accepted 1\nended 1 exit status: 0\n");
}
