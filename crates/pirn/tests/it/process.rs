//! Child processes: their ends, their pipes, and waits for them.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::cancel::Token;
use pirn::process::{Child, Command, Stdio};
use pirn::time::timeout;
use pirn::wait::Reason;
use pirn::{Interrupt, Runtime, fs};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, runtime};
use crate::util::{Directory, apart, eventually, on_every_shape, scaled};

fn shell(script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]);
    shell
}

/// Runs until it is terminated.
fn endless() -> Child {
    let mut cat = Command::new("cat");
    cat.stdin(Stdio::piped()).stdout(Stdio::null());
    cat.spawn().unwrap()
}

/// Codes and signals, as `std` reports them, to fibers and threads.
// Proves: N7-X-child.
#[test]
fn children_end_with_codes_and_signals() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for code in 0..4 {
            jobs.add(move || {
                let mut child = shell(&format!("exit {code}")).spawn().unwrap();
                let status = child.wait().unwrap();
                assert_eq!(status.code(), Some(code));
                assert_eq!(child.wait().unwrap(), status);
                assert_eq!(child.try_wait().unwrap(), Some(status));
                let killed = shell("kill -TERM $$").status().unwrap();
                assert_eq!((killed.code(), killed.signal()), (None, Some(15)));
            });
        }
        jobs.run(executor, 2);
    }
}

/// Program, arguments, directory and environment of a child: as in `std`.
// Proves: N7-X-child.
#[test]
fn a_command_has_its_settings() {
    let directory = Directory::new();
    let root = std::fs::canonicalize(directory.at("")).unwrap();
    pirn::run(|| {
        let mut command = shell("echo $0 $1 $A $B $C; pwd");
        command.args(["one", "two"]).env("A", "a").env("B", "b");
        command
            .envs([("C", "c")])
            .env_remove("B")
            .current_dir(&root);
        let output = command.output().unwrap();
        let expected = format!("one two a c\n{}\n", root.display());
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
        assert!(output.status.success() && output.stderr.is_empty());
        assert_eq!(command.as_std().get_program(), "sh");
        assert!(format!("{command:?}").contains("echo"));

        let mut bare = std::process::Command::new("/bin/sh");
        bare.arg0("bare")
            .args(["-c", "echo $0 $HOME; read line"])
            .env_clear();
        // Its input is empty, though this process has an input.
        let output = Command::from(bare).output().unwrap();
        assert_eq!(
            (output.stdout, output.status.code()),
            (b"bare\n".to_vec(), Some(1))
        );

        let path = directory.at("log");
        let log = fs::File::create(&path).unwrap();
        let mut command = shell("echo out; echo error >&2");
        let output = command.stdout(log).output().unwrap();
        assert_eq!(
            (output.stdout, output.stderr),
            (Vec::new(), b"error\n".to_vec())
        );
        assert_eq!(fs::read(path).unwrap(), b"out\n");
    });
}

/// A failure to start is an error of `std`'s.
// Proves: N7-X-child.
#[test]
fn a_program_that_is_not_there() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let error = Command::new("pirn-has-no-such-program")
                .spawn()
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);
            let error = shell("true").current_dir("/nowhere").status().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);
        });
        jobs.run(executor, 1);
    }
}

/// An exchange through pipes: far more than their capacity in both directions, with several fibers
/// at one end.
// Proves: N7-X-pipes.
#[test]
fn a_child_talks_through_pipes() {
    on_every_shape(|runtime| {
        let n = scaled(100_000);
        runtime.run(|| {
            let mut cat = Command::new("cat");
            cat.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = cat.spawn().unwrap();
            let input = child.stdin.take().unwrap();
            let output = child.stdout.take().unwrap();
            let sum: usize = pirn::scope(|s| {
                s.spawn(move || {
                    let mut input = io::BufWriter::new(input);
                    (0..n).for_each(|n| writeln!(input, "{n}").unwrap());
                    input.flush().unwrap();
                });
                let lines = BufReader::new(&output).lines();
                lines
                    .map(|line| line.unwrap().parse::<usize>().unwrap())
                    .sum()
            });
            assert_eq!(sum, n * (n - 1) / 2);
            assert!(child.wait().unwrap().success());
        });
    });
}

/// All output of a child arrives, with any amount on either pipe; the child waits for no full pipe.
// Proves: N7-X-pipes.
#[test]
fn full_pipes_stop_no_fiber() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for _ in 0..2 {
            jobs.add(|| {
                let script = "head -c 300000 /dev/zero >&2; head -c 200000 /dev/zero; \
                              head -c 100000 /dev/zero >&2; exit 3";
                let output = shell(script).output().unwrap();
                assert_eq!(
                    (output.stdout.len(), output.stderr.len()),
                    (200_000, 400_000)
                );
                assert_eq!(output.status.code(), Some(3));
                let mut command = shell(script);
                command.stdout(Stdio::null()).stderr(Stdio::piped());
                let output = command.spawn().unwrap().wait_with_output().unwrap();
                assert_eq!((output.stdout.len(), output.stderr.len()), (0, 400_000));
            });
        }
        jobs.run(executor, 2);
    }
}

/// One child's output is another one's input: it blocks there as programs expect.
// Proves: N7-X-pipes.
#[test]
fn children_are_joined_by_a_pipe() {
    pirn::run(|| {
        let mut first = shell("sleep 0.1; echo b; echo a")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let between = first.stdout.take().unwrap();
        let sorted = Command::new("sort").stdin(between).output().unwrap();
        assert_eq!(sorted.stdout, b"a\nb\n");
        assert!(first.wait().unwrap().success());

        let mut cat = endless();
        let mut input = std::fs::File::from(OwnedFd::from(cat.stdin.take().unwrap()));
        input.write_all(&[b'x'; 300_000]).unwrap();
        drop(input);
        assert!(cat.wait().unwrap().success());
    });
}

/// A hundred children at once, each with a fiber that waits and pipes in both directions: none
/// waits for a thread that another one occupies.
// Proves: N7-X-child.
#[test]
fn a_hundred_children_at_once() {
    let runtime = runtime(2);
    let alive = AtomicUsize::new(0);
    runtime.scope(|s| {
        for n in 0..100 {
            let alive = &alive;
            s.spawn(move || {
                let mut cat = Command::new("cat");
                cat.stdin(Stdio::piped()).stdout(Stdio::piped());
                let mut child = cat.spawn().unwrap();
                alive.fetch_add(1, Ordering::SeqCst);
                let mut output = child.stdout.take().unwrap();
                pirn::scope(|s| {
                    s.spawn(|| {
                        let mut text = String::new();
                        output.read_to_string(&mut text).unwrap();
                        assert_eq!(text, n.to_string());
                    });
                    let mut input = child.stdin.take().unwrap();
                    while alive.load(Ordering::SeqCst) < 100 {
                        pirn::sleep(Duration::from_millis(1)).unwrap();
                    }
                    write!(input, "{n}").unwrap();
                    drop(input);
                    assert!(child.wait().unwrap().success());
                });
            });
        }
    });
}

/// A hundred fibers that wait for their children hold no threads.
// Proves: N7-X-child.
#[test]
#[cfg(target_os = "linux")]
fn a_wait_for_a_child_holds_no_thread() {
    const CHILDREN: usize = 100;
    let name = "process::a_wait_for_a_child_holds_no_thread";
    let ended = apart(name, &[], || {
        // No thread stands in for a worker that starts a child.
        let builder = Runtime::builder().workers(2).max_threads(2);
        let runtime = builder.build().unwrap();
        // Their inputs, which keep them running.
        let inputs = Mutex::new(Vec::new());
        runtime.scope(|s| {
            for _ in 0..CHILDREN {
                s.spawn(|| {
                    let mut child = endless();
                    inputs.lock().unwrap().push(child.stdin.take());
                    assert!(child.wait().unwrap().success());
                });
            }
            eventually("all wait", || {
                let told = runtime.fibers().into_iter();
                let waits = told.filter(|told| told.reason == Some(Reason::Child));
                waits.count() == CHILDREN
            });
            let threads = std::fs::read_dir("/proc/self/task").unwrap().count();
            assert!(threads < CHILDREN / 2, "{threads} threads");
            inputs.lock().unwrap().clear();
        });
    });
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// A wait for a child ends at its limit; the child continues, can be waited for again, and be
/// killed. The same for a pipe.
// Proves: N7-X-child.
#[test]
fn waits_for_a_child_are_limited() {
    const SHORT: Duration = Duration::from_millis(5);
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for _ in 0..4 {
            jobs.add(|| {
                let mut child = shell("read line; echo $line; exec sleep 60");
                child.stdin(Stdio::piped()).stdout(Stdio::piped());
                let mut child = child.spawn().unwrap();
                let mut output = BufReader::new(child.stdout.take().unwrap());
                let mut line = String::new();
                assert!(timeout(SHORT, || output.read_line(&mut line)).is_err());
                let mut input = child.stdin.take().unwrap();
                writeln!(input, "hello").unwrap();
                output.read_line(&mut line).unwrap();
                assert_eq!(line, "hello\n");
                for _ in 0..2 {
                    assert!(timeout(SHORT, || child.wait()).is_err());
                    assert_eq!(child.try_wait().unwrap(), None);
                }
                child.kill().unwrap();
                assert_eq!(child.wait().unwrap().signal(), Some(9));
                child.kill().unwrap();
            });
        }
        jobs.run(executor, 2);
    }
}

/// A fiber that is interrupted while it runs a command kills the child: no other handle of it
/// exists.
// Proves: N7-X-killed.
#[test]
fn an_interrupted_command_is_killed() {
    let runtime = runtime(2);
    let run: [fn(&mut Command) -> io::Result<()>; 2] = [
        |command| command.status().map(drop),
        |command| command.output().map(drop),
    ];
    for run in run {
        let directory = Directory::new();
        let path = directory.at("number");
        let script = format!(
            "echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600",
            path.display()
        );
        let fiber = runtime.spawn(move || run(&mut shell(&script)));
        eventually("it runs", || path.exists());
        let number = std::fs::read_to_string(&path).unwrap();
        fiber.cancel();
        let error = fiber.join().unwrap().unwrap_err();
        assert_eq!(Interrupt::of(&error), Some(Interrupt::Cancelled));
        let stat = format!("/proc/{}/stat", number.trim());
        eventually("it has ended", || {
            // The zombie is reaped when the next child is started.
            std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z"))
        });
    }
}

/// A full pipe does not block a cancelled writer, nor one with an ended child.
// Proves: N7-X-child.
#[test]
fn writes_to_a_child_end() {
    let runtime = runtime(1);
    let mut child = Command::new("sleep")
        .arg("60")
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let input = child.stdin.take().unwrap();
    let writes = || (&input).write_all(&[0; 1_000_000]).unwrap_err();
    runtime.scope(|s| {
        let fiber = s.spawn(writes);
        eventually("the pipe is full", || {
            runtime.metrics().total.fiber_parks >= 1
        });
        fiber.cancel();
        let error = fiber.join().unwrap();
        assert_eq!(Interrupt::of(&error), Some(Interrupt::Cancelled));
        let fiber = s.spawn(writes);
        eventually("it waits again", || {
            runtime.metrics().total.fiber_parks >= 2
        });
        child.kill().unwrap();
        assert_eq!(fiber.join().unwrap().kind(), ErrorKind::BrokenPipe);
    });
    child.wait().unwrap();
}

/// A pending interrupt is reported before any operation.
// Proves: N7-X-child.
#[test]
fn an_interrupted_call_starts_nothing() {
    let directory = Directory::new();
    let path = directory.at("made");
    let stop = Token::new();
    stop.cancel();
    let interrupted = |result: io::Result<()>| {
        assert_eq!(
            Interrupt::of(&result.unwrap_err()),
            Some(Interrupt::Cancelled)
        );
    };
    let mut cat = endless();
    stop.enter(|| {
        let mut touch = Command::new("touch");
        touch.arg(&path);
        interrupted(touch.spawn().map(drop));
        interrupted(touch.status().map(drop));
        interrupted(touch.output().map(drop));
        interrupted(cat.wait().map(drop));
    });
    assert!(!path.exists());
    // Its input is still open.
    assert!(cat.stdin.is_some());
    assert!(cat.wait().unwrap().success());
}

/// Reports name the wait for a child.
// Proves: N7-X-child.
#[test]
fn a_report_has_the_waiting_fibers() {
    let runtime = runtime(1);
    let (tx, rx) = pirn::channel::bounded(1);
    let fiber = runtime.spawn(move || {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        tx.send(child.id()).unwrap();
        child.wait()
    });
    eventually("it is told", || {
        let told = runtime.fibers();
        let waits = told.iter().find(|told| told.id == fiber.fiber().id());
        waits.is_some_and(|told| {
            told.reason == Some(Reason::Child) && told.to_string().contains("process.rs")
        })
    });
    let child = rx.recv().unwrap().to_string();
    shell(&format!("kill {child}")).status().unwrap();
    assert_eq!(fiber.join().unwrap().unwrap().signal(), Some(15));
}

/// A dropped child continues, and its zombie is reaped when the next child is started.
// Proves: N7-X-dropped.
#[test]
#[cfg(target_os = "linux")]
fn a_dropped_child_goes_on_and_leaves_nothing() {
    let there = |child: u32| std::path::Path::new(&format!("/proc/{child}")).exists();
    let mut cat = endless();
    let (id, input) = (cat.id(), cat.stdin.take());
    drop(cat);
    assert!(there(id));
    drop(input);
    let stat = format!("/proc/{id}/stat");
    let has_ended = || {
        // Another test of this process may start a child, which reaps it.
        std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z"))
    };
    eventually("it ends", has_ended);
    shell("true").status().unwrap();
    assert!(!there(id), "it is a zombie");
}
