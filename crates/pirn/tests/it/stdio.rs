//! Standard input and output, and copying.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::time::Duration;

use pirn::cancel::Token;
use pirn::io::{HalfClose, copy, copy_bidirectional, stderr, stdin, stdout};
use pirn::net::UnixStream;
use pirn::process::{Child, Command, Stdio};
use pirn::time::timeout;
use pirn::{Interrupt, fs};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, runtime};
use crate::util::{Directory, LONG, eventually, on_every_shape, scaled};

const PART: &str = "PIRN_STDIO_PART";

/// Returns a command for this binary, to run the test of that name, with `PART` set.
fn again(name: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    command.env(PART, "1").stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn is_part() -> bool {
    std::env::var_os(PART).is_some()
}

/// A wait for input holds no worker, can be limited, and loses nothing; written data arrives in
/// order with printed data.
// Proves: N7-X-stdio.
#[test]
fn input_is_waited_for_and_output_is_written() {
    if is_part() {
        return runtime(1).run(echo);
    }
    runtime(1).run(|| {
        let mut child = again("stdio::input_is_waited_for_and_output_is_written");
        let mut input = child.stdin.take().unwrap();
        let output = child.stdout.take().unwrap();
        let mut lines = BufReader::new(output).lines().map(Result::unwrap);
        let mut next = |expected: &str| {
            let found = lines.find(|line| line.ends_with(expected));
            assert!(found.is_some(), "{expected}");
        };
        next("timed out twice");
        next("a fiber ran meanwhile");
        input.write_all(b"one\ntw").unwrap();
        next("read: one");
        next("printed: one, written behind it");
        input.write_all(b"o\nthree").unwrap();
        next("read: two");
        drop(input);
        next("read: three");
        let mut errors = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut errors)
            .unwrap();
        assert!(errors.contains("an error, too"), "{errors}");
        assert!(child.wait().unwrap().success());
    });
}

fn echo() {
    let mut lines = BufReader::new(stdin());
    let mut line = String::new();
    for _ in 0..2 {
        let limit = Duration::from_millis(5);
        assert!(timeout(limit, || lines.read_line(&mut line)).is_err());
    }
    assert_eq!(line, "");
    stdout().write_all(b"\ntimed out twice\n").unwrap();
    pirn::scope(|s| {
        let reader = s.spawn(|| {
            lines.read_line(&mut line).unwrap();
        });
        s.spawn(|| {
            pirn::sleep(Duration::from_millis(5)).unwrap();
            stdout().write_all(b"a fiber ran meanwhile\n").unwrap();
        });
        reader.join().unwrap();
    });
    write!(stdout(), "read: {line}").unwrap();
    // Without the end of a line, it stays in the buffer of `std` until the next write.
    print(&format!("printed: {}", line.trim_end()));
    stdout().write_all(b", written behind it\n").unwrap();
    for line in lines.lines() {
        writeln!(stdout(), "read: {}", line.unwrap()).unwrap();
        stdout().flush().unwrap();
    }
    assert_eq!(stdin().read(&mut [0]).unwrap(), 0);
    stderr().write_all(b"an error, too\n").unwrap();
}

/// Prints like `std`.
fn print(text: &str) {
    io::stdout().write_all(text.as_bytes()).unwrap();
}

/// Input from a file and output to one.
// Proves: N7-X-stdio.
#[test]
fn input_and_output_may_be_files() {
    if is_part() {
        return pirn::run(|| {
            let mut text = String::new();
            stdin().read_to_string(&mut text).unwrap();
            write!(stdout(), "\n{} bytes\n", text.len()).unwrap();
        });
    }
    let directory = Directory::new();
    pirn::run(|| {
        let (from, to) = (directory.at("from"), directory.at("to"));
        fs::write(&from, vec![b'x'; 100_000]).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "stdio::input_and_output_may_be_files"]);
        command
            .args(["--nocapture", "--test-threads=1"])
            .env(PART, "1");
        command.stdin(fs::File::open(&from).unwrap());
        command.stdout(fs::File::create(&to).unwrap());
        assert!(command.status().unwrap().success());
        let text = fs::read_to_string(&to).unwrap();
        assert!(text.contains("\n100000 bytes\n"), "{text}");
    });
}

/// Everything arrives, and the first error ends it, except retryable ones.
// Proves: N5-X-copy.
#[test]
fn copying_passes_everything_on() {
    struct Unsteady(u32);
    impl Read for Unsteady {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            match self.0 {
                1 | 3 => Err(ErrorKind::Interrupted.into()),
                2 => {
                    into[0] = 7;
                    Ok(1)
                }
                _ => Err(ErrorKind::InvalidData.into()),
            }
        }
    }
    let mut copied = Vec::new();
    assert_eq!(copy(&mut &[5; 200_000][..], &mut copied).unwrap(), 200_000);
    assert_eq!(copied, [5; 200_000]);
    copied.clear();
    let error = copy(&mut Unsteady(0), &mut copied).unwrap_err();
    assert_eq!((error.kind(), copied), (ErrorKind::InvalidData, vec![7]));
    let error = copy(&mut &b"x"[..], &mut &mut [][..]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WriteZero);
}

/// Two connections joined to one: far more than the buffers hold passes in both directions at once,
/// and the end of one direction leaves the other one open.
// Proves: N5-X-copy.
#[test]
fn both_directions_are_copied() {
    let n = scaled(500_000);
    on_every_shape(|runtime| {
        let (client, a) = UnixStream::pair().unwrap();
        let (b, server) = UnixStream::pair().unwrap();
        runtime.scope(|s| {
            let proxy = s.spawn(move || copy_bidirectional(&a, &b).unwrap());
            s.spawn(move || {
                let mut request = Vec::new();
                (&server).read_to_end(&mut request).unwrap();
                assert_eq!(request.len(), n);
                (&server).write_all(&request).unwrap();
                (&server).write_all(b"!").unwrap();
            });
            let sends = s.spawn(|| {
                (&client).write_all(&vec![3; n]).unwrap();
                client.half_close().unwrap();
            });
            let mut answer = Vec::new();
            (&client).read_to_end(&mut answer).unwrap();
            assert_eq!((answer.len(), answer[n]), (n + 1, b'!'));
            sends.join().unwrap();
            assert_eq!(proxy.join().unwrap(), (n as u64, n as u64 + 1));
        });
    });
}

/// From threads too.
// Proves: N5-X-copy.
#[test]
fn threads_copy_in_both_directions() {
    for executor in EXECUTOR_KINDS {
        let (client, a) = UnixStream::pair().unwrap();
        let (b, server) = UnixStream::pair().unwrap();
        let mut jobs = Jobs::new();
        jobs.add(move || assert_eq!(copy_bidirectional(&a, &b).unwrap(), (5, 6)));
        jobs.add(move || {
            (&client).write_all(b"hello").unwrap();
            client.half_close().unwrap();
            let mut answer = String::new();
            (&client).read_to_string(&mut answer).unwrap();
            assert_eq!(answer, "world!");
        });
        jobs.add(move || {
            let mut request = String::new();
            (&server).read_to_string(&mut request).unwrap();
            assert_eq!(request, "hello");
            (&server).write_all(b"world!").unwrap();
        });
        jobs.run(executor, 2);
    }
}

/// A side that fails permanently.
struct Broken;

impl Read for &Broken {
    fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        Err(ErrorKind::ConnectionReset.into())
    }
}

impl Write for &Broken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl HalfClose for Broken {
    fn half_close(&self) -> io::Result<()> {
        Ok(())
    }
}

/// The first error ends the other direction, which would wait indefinitely; so does an interrupt
/// from outside.
// Proves: N5-X-copy.
#[test]
fn an_error_ends_both_directions() {
    let runtime = runtime(1);
    let (_client, a) = UnixStream::pair().unwrap();
    let (b, _server) = UnixStream::pair().unwrap();
    for error in [
        runtime.run(|| copy_bidirectional(&a, &Broken)),
        runtime.run(|| copy_bidirectional(&Broken, &a)),
        copy_bidirectional(&Broken, &a),
    ] {
        assert_eq!(error.unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
    let stop = Token::new();
    runtime.scope(|s| {
        let before = runtime.metrics().total.fiber_parks;
        let proxy = s.spawn(|| stop.enter(|| copy_bidirectional(&a, &b)));
        eventually("both wait", || {
            runtime.metrics().total.fiber_parks >= before + 2
        });
        stop.cancel();
        let error = proxy.join().unwrap().unwrap_err();
        assert_eq!(Interrupt::of(&error), Some(Interrupt::Cancelled));
    });
}

/// The texts that fibers write by one `writeln!` each are whole, those beyond a pipe's size too.
// Proves: N7-X-stdio.
#[test]
fn lines_are_written_whole() {
    const FIBERS: usize = 4;
    const LINES: usize = 50;
    const LONG_LINE: usize = 100_000;
    if is_part() {
        return runtime(2).run(|| {
            pirn::scope(|s| {
                for fiber in 0..FIBERS {
                    s.spawn(move || {
                        for line in 0..LINES {
                            writeln!(stderr(), "fiber {fiber} line {line} end").unwrap();
                        }
                        let long = "x".repeat(LONG_LINE);
                        writeln!(stderr(), "fiber {fiber} {long} end").unwrap();
                    });
                }
            });
        });
    }
    runtime(1).run(|| {
        let child = again("stdio::lines_are_written_whole");
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stderr).unwrap();
        let whole = |line: &str| match *line.split(' ').collect::<Vec<_>>() {
            ["fiber", _, "line", _, "end"] => true,
            ["fiber", _, long, "end"] => long.len() == LONG_LINE,
            _ => false,
        };
        let broken = text.lines().find(|line| !whole(line));
        let broken = broken.map(|line| line.get(..60).unwrap_or(line));
        assert_eq!(broken, None);
        assert_eq!(text.lines().count(), FIBERS * (LINES + 1));
    });
}

/// A read into nothing and a write of nothing return at once, as in `std`.
// Proves: N7-X-stdio.
#[test]
fn nothing_is_not_waited_for() {
    if is_part() {
        return runtime(1).run(|| {
            let limit = Duration::from_millis(20);
            let read = timeout(limit, || stdin().read(&mut []).unwrap());
            let wrote = timeout(limit, || stderr().write(&[]).unwrap());
            assert_eq!((read, wrote), (Ok(0), Ok(0)));
            // The other end of the pipe is not read.
            let more = || timeout(limit, || stderr().write_all(&[b'.'; 4_096]));
            while more().is_ok() {}
            let all = timeout(LONG, || stderr().write_all(&[]).unwrap());
            let flushed = timeout(LONG, || stderr().flush().unwrap());
            if (all, flushed) != (Ok(()), Ok(())) {
                // The message of an assertion would wait for the reader.
                std::process::exit(3);
            }
        });
    }
    runtime(1).run(|| {
        let mut child = again("stdio::nothing_is_not_waited_for");
        // Open, and silent.
        let _input = child.stdin.take().unwrap();
        let _errors = child.stderr.take().unwrap();
        assert!(child.wait().unwrap().success());
    });
}
