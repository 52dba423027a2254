//! Differences on a terminal: a question, a refusal, a progress bar.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Stdio;

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::sandbox::{Sandbox, noise, text};

/// A pseudo-terminal: the user's end and the program's.
fn terminal() -> (File, File) {
    let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&user).unwrap();
    unlockpt(&user).unwrap();
    let name = ptsname(&user, Vec::new()).unwrap().into_string().unwrap();
    let program = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(OFlags::NOCTTY.bits().cast_signed())
        .open(name)
        .unwrap();
    (File::from(user), program)
}

/// Returns the program's whole output, once it has ended. The end of a terminal is an error.
fn printed(mut user: File) -> String {
    let mut out = Vec::new();
    let _ = user.read_to_end(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[test]
fn compressed_data_does_not_go_to_a_terminal() {
    let box_ = Sandbox::new();
    box_.write("a", &text(1, 100));
    for (args, code) in [(&["-c", "a"][..], 1), (&["-cf", "a"], 0), (&["-"], 1)] {
        let (user, program) = terminal();
        let child = box_
            .command("pgz")
            .args(args)
            .stdin(Stdio::null())
            .stdout(program)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let done = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(code), "{args:?} {stderr}");
        assert_eq!(stderr.contains("terminal"), code == 1, "{args:?} {stderr}");
        assert_eq!(printed(user).is_empty(), code == 1, "{args:?}");
    }
}

#[test]
fn compressed_data_does_not_come_from_a_terminal() {
    let box_ = Sandbox::new();
    let (_user, program) = terminal();
    let done = box_
        .command("pgz")
        .arg("-d")
        .stdin(program)
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(String::from_utf8(done.stderr).unwrap().contains("terminal"));
}

#[test]
fn the_user_is_asked_before_a_file_is_replaced() {
    for (answer, replaced) in [("y\n", true), ("n\n", false), ("\n", false)] {
        let box_ = Sandbox::new();
        box_.write("a", b"new");
        box_.write("a.gz", b"old");
        let (mut user, program) = terminal();
        user.write_all(answer.as_bytes()).unwrap();
        // It does not ask where SIGINT is ignored.
        let done = box_
            .command("env")
            .args(["--default-signal=INT", env!("CARGO_BIN_EXE_pgz"), "a"])
            .stdin(program)
            .output()
            .unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert!(stderr.contains("overwrite (y or n)?"), "{stderr}");
        assert_eq!(
            done.status.code(),
            Some(if replaced { 0 } else { 2 }),
            "{stderr}"
        );
        assert_eq!(box_.names().len(), if replaced { 1 } else { 2 });
    }
}

#[test]
fn the_bar_is_for_terminals_only() {
    let box_ = Sandbox::new();
    box_.write("a", &noise(1, 40 << 20));
    let done = box_.pgz(&["-1k", "a"]).expect(0);
    assert_eq!(done.stderr, "");
    for (flag, bar) in [("-1kf", true), ("-1kfq", false)] {
        let (user, program) = terminal();
        let mut child = box_
            .command("pgz")
            .args([flag, "a"])
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .stderr(program)
            .spawn()
            .unwrap();
        let reader = std::thread::spawn(move || printed(user));
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let out = reader.join().unwrap();
        assert_eq!(out.contains("MiB"), bar, "{flag}: {out:?}");
    }
}

/// In the background of a script, where SIGINT is ignored, a question would have no answer.
#[test]
fn in_the_background_there_is_no_question() {
    let run = |program: &str| {
        let box_ = Sandbox::new();
        box_.write("a", b"new");
        box_.write("a.gz", b"old");
        let args = ["--ignore-signal=INT", program, "---presume-input-tty", "a"];
        let done = box_.run("env", &args, b"y\n").expect(2);
        assert!(!done.stderr.contains("(y or n)?"), "{}", done.stderr);
        box_.names()
    };
    assert_eq!(run(env!("CARGO_BIN_EXE_pgz")), run("gzip"));
}
