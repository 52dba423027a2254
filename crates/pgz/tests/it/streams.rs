//! Standard streams that are closed, full, or without a reader.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;

use crate::sandbox::{Done, Sandbox, noise, text};

const MIB: usize = 1 << 20;

/// Runs a program in a shell that changes its streams, as in `{} -dc a.gz >&-`.
fn shell(box_: &Sandbox, program: &str, line: &str) -> Done {
    let program = match program {
        "pgz" => env!("CARGO_BIN_EXE_pgz"),
        other => other,
    };
    let line = line.replace("{}", program);
    box_.run("bash", &["-c", &line], b"")
}

fn usual(box_: &Sandbox) {
    box_.write("a", &text(1, 300_000));
    box_.write("e", b"");
    box_.run("gzip", &["-k", "a", "e"], b"").expect(0);
    box_.run("gzip", &["-kn1", "-S", ".foo", "a"], b"")
        .expect(0);
}

#[test]
fn closed_streams_fail_as_for_gzip() {
    for (line, code) in [
        ("{} -dc a.gz >&-", 1),
        ("{} -dc e.gz >&-", 0),
        ("{} -c a >&-", 1),
        ("{} -ci a >&-", 1),
        ("{} <a >&-", 1),
        ("{} -c <&-", 1),
        ("{} <&-", 1),
        ("{} -d <&-", 1),
        ("{} -t <&-", 1),
        ("{} -l <&-", 1),
        ("{} -l a.gz >&-", 1),
        ("{} -l a.gz e.gz >&-", 1),
        ("{} -h >&-", 1),
        ("{} -V >&-", 1),
        ("{} -L >&-", 1),
        ("{} -t a.gz >&-", 0),
        ("{} -t a.gz <&-", 0),
        ("{} -dc a.gz <&-", 0),
        ("{} -kf a <&- >&-", 0),
        ("{} -kf a <&- >&- 2>&-", 0),
        ("{} -dkf a.gz <&- >&- 2>&-", 0),
        ("{} -dc nosuch >&-", 1),
        ("{} -dc a.gz >&- 2>&-", 1),
    ] {
        let (gzip, pgz) = (Sandbox::new(), Sandbox::new());
        usual(&gzip);
        usual(&pgz);
        // pgz has an option that gzip does not know.
        let theirs = shell(&gzip, "gzip", &line.replace("-ci", "-c"));
        let ours = shell(&pgz, "pgz", line);
        let what = format!("{line}\n{}\n{}", theirs.stderr, ours.stderr);
        assert_eq!((theirs.code, ours.code), (Some(code), Some(code)), "{what}");
        assert_eq!(theirs.stderr.is_empty(), ours.stderr.is_empty(), "{what}");
        assert_eq!(theirs.stdout.is_empty(), ours.stdout.is_empty(), "{what}");
        assert_eq!(gzip.listing(), pgz.listing(), "{what}");
    }
}

#[test]
fn a_closed_stream_is_named() {
    let box_ = Sandbox::new();
    usual(&box_);
    for (line, name) in [
        ("{} -dc a.gz >&-", "stdout"),
        ("{} -l a.gz >&-", "stdout"),
        ("{} -h >&-", "stdout"),
        ("{} <&-", "stdin"),
    ] {
        let done = shell(&box_, "pgz", line).expect(1);
        assert_eq!(done.stderr, format!("pgz: {name}: Bad file descriptor\n"));
    }
}

/// A newly opened file must not get the descriptor of a closed stream and be written to.
#[test]
fn no_file_takes_the_place_of_a_closed_stream() {
    for streams in ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"] {
        let box_ = Sandbox::new();
        let data = noise(1, 300_000);
        box_.write("a", &data);
        shell(&box_, "pgz", &format!("{{}} -v a nosuch {streams}")).expect(1);
        assert_eq!(box_.names(), ["a.gz"], "{streams}");
        shell(&box_, "pgz", &format!("{{}} -dv a nosuch {streams}")).expect(1);
        assert_eq!(box_.names(), ["a"], "{streams}");
        assert!(box_.read("a") == data, "{streams}");
    }
}

#[test]
fn texts_that_cannot_be_written_are_errors() {
    let box_ = Sandbox::new();
    usual(&box_);
    for arg in ["-h", "-V", "-L", "-la.gz"] {
        let arg = arg.replace("-l", "-l ");
        let done = shell(&box_, "pgz", &format!("{{}} {arg} >/dev/full")).expect(1);
        assert_eq!(
            done.stderr, "pgz: stdout: No space left on device\n",
            "{arg}"
        );
    }
}

#[test]
fn without_a_reader_the_program_dies_silently() {
    let box_ = Sandbox::new();
    box_.write("a", &noise(1, 8 * MIB));
    box_.pgz(&["-k1", "a"]).expect(0);
    for (args, signal, code) in [
        (&["-c", "a"][..], Some(Signal::PIPE), None),
        (&["-c", "a", "a"], Some(Signal::PIPE), None),
        (&["-dc", "a.gz"], Some(Signal::PIPE), None),
        (&["-dvc", "a.gz"], Some(Signal::PIPE), None),
        (&["-qc", "a"], None, Some(2)),
        (&["-qdc", "a.gz"], None, Some(2)),
    ] {
        for program in ["gzip", "pgz"] {
            let mut child = box_
                .command(program)
                .args(args)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut start = [0; 100];
            child.stdout.take().unwrap().read_exact(&mut start).unwrap();
            let done = child.wait_with_output().unwrap();
            let stderr = String::from_utf8(done.stderr).unwrap();
            let signal = signal.map(Signal::as_raw);
            let what = format!("{program} {args:?}: {stderr}");
            assert_eq!(done.status.signal(), signal, "{what}");
            assert_eq!(done.status.code(), code, "{what}");
            // gzip prints the name before the file, and the ratio behind it.
            assert!(!stderr.contains("roken"), "{what}");
        }
    }
}

#[test]
fn texts_without_a_reader() {
    let box_ = Sandbox::new();
    usual(&box_);
    for args in [&["-h"][..], &["-V"], &["-l", "a.gz"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = box_.command("pgz");
        command.args(args).stdout(writer);
        let done = command.output().unwrap();
        assert_eq!(
            done.status.signal(),
            Some(Signal::PIPE.as_raw()),
            "{args:?}"
        );
        assert_eq!(done.stderr, b"", "{args:?}");
    }
}

#[test]
fn where_the_signal_is_ignored_a_closed_pipe_is_an_error() {
    let box_ = Sandbox::new();
    box_.write("a", &noise(1, 8 * MIB));
    box_.pgz(&["-k1", "a"]).expect(0);
    for args in ["-c a", "-dc a.gz", "-qdc a.gz"] {
        for program in ["gzip", "pgz"] {
            let line = format!(
                "trap '' PIPE; {{}} {args} | head -c 9 >/dev/null; echo ${{PIPESTATUS[0]}}"
            );
            let done = shell(&box_, program, &line).expect(0);
            assert_eq!(String::from_utf8(done.stdout).unwrap(), "1\n", "{args}");
            assert!(
                done.stderr.contains("stdout: Broken pipe"),
                "{}",
                done.stderr
            );
        }
    }
}

#[test]
fn a_null_device_that_was_asked_for_is_no_closed_stream() {
    let box_ = Sandbox::new();
    usual(&box_);
    for line in ["{} -dc a.gz >/dev/null", "{} -dc a.gz 1<>/dev/null"] {
        shell(&box_, "pgz", line).expect(0);
    }
    let done = shell(&box_, "pgz", "{} -c </dev/null").expect(0);
    assert_eq!(
        box_.run("gzip", &["-d"], &done.stdout).expect(0).stdout,
        b""
    );
    let null = File::options().read(true).write(true).open("/dev/null");
    let mut command = box_.command("pgz");
    command.args(["-dc", "a.gz"]).stdout(null.unwrap());
    assert_eq!(command.status().unwrap().code(), Some(0));
}

/// A stream that another program has made non-blocking is read and written as any other.
#[test]
fn streams_that_do_not_block_are_waited_for() {
    let box_ = Sandbox::new();
    let (near, far) = UnixStream::pair().unwrap();
    let (out, packed) = UnixStream::pair().unwrap();
    // The other ends share the setting with those of the child.
    for stream in [&far, &packed] {
        stream.set_nonblocking(true).unwrap();
    }
    let data = noise(3, 4 * MIB);
    let mut command = box_.command("pgz");
    command
        .arg("-c")
        .stdin(OwnedFd::from(far))
        .stdout(OwnedFd::from(packed));
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    drop(command);
    let (mut feed, mut out) = (near, out);
    let sent = data.clone();
    let feeder = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        feed.write_all(&sent)
    });
    // The output has no room meanwhile.
    std::thread::sleep(Duration::from_millis(200));
    let mut received = Vec::new();
    out.read_to_end(&mut received).unwrap();
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!((child.wait().unwrap().code(), &*said), (Some(0), ""));
    feeder.join().unwrap().unwrap();
    let done = box_.run("gzip", &["-dc"], &received).expect(0);
    assert!(done.stdout == data, "other data");
}
