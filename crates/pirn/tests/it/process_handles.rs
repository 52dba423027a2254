//! Handles of child processes: pipes by value, pipes from elsewhere, and kills on drop.

use std::io::{Read, Write, pipe, read_to_string};
use std::os::fd::{IntoRawFd, OwnedFd};
use std::path::Path;
use std::process::Command as Plain;
use std::time::Duration;

use pirn::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use pirn::timeout;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, runtime};
use crate::util::LONG;
#[cfg(target_os = "linux")]
use crate::util::eventually;

fn shell(script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]);
    shell
}

/// The pipes move out of their fields, without `take`.
// Proves: N7-X-pipes.
#[test]
fn pipes_move_out_of_a_child() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let mut cat = Command::new("cat");
            cat.stdin(Stdio::piped()).stdout(Stdio::piped());
            let child = cat.spawn().unwrap();
            let (mut input, mut output) = (child.stdin.unwrap(), child.stdout.unwrap());
            input.write_all(b"one").unwrap();
            drop(input);
            assert_eq!(read_to_string(&mut output).unwrap(), "one");

            let Child { stdin, stdout, .. } = cat.spawn().unwrap();
            writeln!(stdin.unwrap(), "two").unwrap();
            assert_eq!(read_to_string(stdout.unwrap()).unwrap(), "two\n");
        });
        jobs.run(executor, 2);
    }
}

/// A read into nothing and a write of nothing return at once, as in `std`, also if the pipe was
/// empty or full before.
// Proves: N7-X-pipes.
#[test]
fn nothing_is_not_waited_for() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let mut sleeper = shell("exec sleep 60");
            sleeper.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = sleeper.kill_on_drop(true).spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            let mut output = child.stdout.take().unwrap();
            let limit = Duration::from_millis(20);
            assert!(timeout(limit, || output.read(&mut [0])).is_err());
            while timeout(limit, || input.write_all(&[0; 4_096])).is_ok() {}
            let read = timeout(LONG, || output.read(&mut []).unwrap());
            let wrote = timeout(LONG, || input.write(&[]).unwrap());
            assert_eq!((read, wrote), (Ok(0), Ok(0)));
        });
        jobs.run(executor, 2);
    }
}

/// A child is killed on drop if it was asked for, before it finds the end of its input.
// Proves: N7-X-child.
#[test]
fn a_child_is_killed_on_drop_on_request() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for (kill, rest) in [(true, ""), (false, "after\n")] {
            jobs.add(move || {
                let mut reader = shell("echo before; read line; echo after");
                reader.stdin(Stdio::piped()).stdout(Stdio::piped());
                let mut child = reader.kill_on_drop(kill).spawn().unwrap();
                let mut output = child.stdout.take().unwrap();
                let mut start = [0; 7];
                output.read_exact(&mut start).unwrap();
                assert_eq!(&start, b"before\n");
                drop(child);
                assert_eq!(read_to_string(&mut output).unwrap(), rest);
            });
        }
        jobs.run(executor, 2);
    }
}

/// A child with moved pipes is killed too, and one that was waited for is left alone.
// Proves: N7-X-child, N7-X-dropped.
#[test]
#[cfg(target_os = "linux")]
fn a_killed_child_leaves_nothing() {
    pirn::run(|| {
        let mut cat = Command::new("cat");
        cat.stdin(Stdio::piped()).kill_on_drop(true);
        let (id, input) = {
            let child = cat.spawn().unwrap();
            // The rest of the child is dropped here.
            (child.id(), child.stdin)
        };
        eventually("it is killed and forgotten", || {
            // Collects the status.
            shell("true").status().unwrap();
            !Path::new(&format!("/proc/{id}")).exists()
        });
        drop(input);

        let mut child = shell("exit 3").kill_on_drop(true).spawn().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3));
        drop(child);
        let mut kept = shell("exit 4");
        let status = kept.kill_on_drop(true).kill_on_drop(false).status();
        assert_eq!(status.unwrap().code(), Some(4));
    });
}

/// Pipes of `std` and of any origin become pipes that park, and descriptors again.
// Proves: N7-X-pipes.
#[test]
fn pipes_come_from_elsewhere() {
    runtime(1).run(|| {
        let (reader, writer) = pipe().unwrap();
        let mut reader = ChildStdout::try_from(OwnedFd::from(reader)).unwrap();
        let mut writer = ChildStdin::try_from(OwnedFd::from(writer)).unwrap();
        pirn::scope(|s| {
            // A read that blocks the only worker would never end.
            let read = s.spawn(|| {
                let mut word = [0; 4];
                reader.read_exact(&mut word).map(|()| word)
            });
            pirn::yield_now();
            writer.write_all(b"ping").unwrap();
            assert_eq!(&read.join().unwrap().unwrap(), b"ping");
        });
        let raw = reader.into_raw_fd();
        let open = Path::new("/proc/self/fd").join(raw.to_string());
        assert!(cfg!(not(target_os = "linux")) || open.exists());

        let mut cat = Plain::new("cat");
        cat.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut cat = cat.spawn().unwrap();
        let mut input = ChildStdin::try_from(cat.stdin.take().unwrap()).unwrap();
        let output = ChildStdout::try_from(cat.stdout.take().unwrap()).unwrap();
        input.write_all(b"pong").unwrap();
        drop(input);
        assert_eq!(read_to_string(output).unwrap(), "pong");
        assert!(cat.wait().unwrap().success());
    });
}
