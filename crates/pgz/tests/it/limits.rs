//! Full disks, vanished files and signals: a message, and no partial result.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{Done, Sandbox, noise, text};
use crate::unmeasured::unmeasured;

const MIB: usize = 1 << 20;

#[test]
fn a_full_device_is_named() {
    let box_ = Sandbox::new();
    let data = noise(1, 3 * MIB);
    box_.write("a", &data);
    let packed = box_.run("pgz", &["-1"], &data).expect(0).stdout;
    box_.write("b.gz", &packed);
    for args in [
        &["-c", "a"][..],
        &["-ci", "a"],
        &["-dc", "b.gz"],
        &["-c1", "b.gz"],
    ] {
        let done = box_
            .command("pgz")
            .args(args)
            .stdout(File::create("/dev/full").unwrap())
            .output()
            .unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(1), "{args:?}: {stderr}");
        assert_eq!(stderr, "pgz: stdout: No space left on device\n", "{args:?}");
    }
}

#[test]
fn a_full_disk_leaves_no_partial_file() {
    let box_ = Sandbox::new();
    let Some(disk) = SmallDisk::mount(&box_, 4) else {
        return unmeasured("may not mount a tmpfs");
    };
    let data = noise(1, 3 * MIB);
    box_.write("disk/a", &data);
    for args in [&["disk/a"][..], &["-i", "disk/a"], &["-k", "disk/a"]] {
        let done = box_.pgz(args).expect(1);
        assert_eq!(done.stderr, "pgz: disk/a.gz: No space left on device\n");
        assert_eq!(box_.names(), ["disk", "disk/a"]);
        assert!(box_.read("disk/a") == data);
    }
    fs::remove_file(box_.path("disk/a")).unwrap();
    let packed = box_
        .run("pgz", &["-9"], &vec![0; 40 * MIB])
        .expect(0)
        .stdout;
    box_.write("disk/z.gz", &packed);
    let done = box_.pgz(&["-d", "disk/z.gz"]).expect(1);
    assert_eq!(done.stderr, "pgz: disk/z: No space left on device\n");
    assert_eq!(box_.names(), ["disk", "disk/z.gz"]);
    drop(disk);
}

#[test]
fn a_file_size_limit_leaves_no_partial_file() {
    let box_ = Sandbox::new();
    box_.write("a", &noise(1, 3 * MIB));
    let pgz = env!("CARGO_BIN_EXE_pgz");
    let done = box_
        .command("sh")
        .args(["-c", &format!("ulimit -f 1024; exec {pgz} a")])
        .output()
        .unwrap();
    let stderr = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{stderr}");
    assert_eq!(stderr, "pgz: a.gz: File too large\n");
    assert_eq!(box_.names(), ["a"]);
}

#[test]
fn a_file_that_vanishes_while_it_is_read_leaves_no_partial_file() {
    let box_ = Sandbox::new();
    box_.write("a", &text(1, 48 * MIB));
    let child = start(&box_, &["-9", "-p1", "a"]);
    wait_for_temporary(&box_);
    fs::remove_file(box_.path("a")).unwrap();
    let done = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(done.stderr).unwrap();
    // All of it could be read, so the result is whole.
    assert_eq!(done.status.code(), Some(2), "{stderr}");
    assert_eq!(stderr, "pgz: a: No such file or directory\n");
    assert_eq!(box_.names(), ["a.gz"]);
    box_.run("gzip", &["-t", "a.gz"], b"").expect(0);
}

#[test]
fn a_file_that_shrinks_or_grows_is_kept() {
    for grow in [false, true] {
        let box_ = Sandbox::new();
        box_.write("a", &text(1, 48 * MIB));
        let child = start(&box_, &["-9", "-p1", "a"]);
        wait_for_temporary(&box_);
        let file = File::options().append(true).open(box_.path("a")).unwrap();
        file.set_len(if grow { 49 * MIB as u64 } else { 1000 })
            .unwrap();
        let done = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(1), "{stderr}");
        assert_eq!(stderr, "pgz: a: changed while being read -- kept\n");
        assert_eq!(box_.names(), ["a"]);
    }
}

/// Data that is appended to a file while it is decompressed is not removed with it.
#[test]
fn a_compressed_file_that_grows_is_kept() {
    let box_ = Sandbox::new();
    let data = text(1, 48 * MIB);
    let packed = box_.run("pgz", &["-1"], &data).expect(0).stdout;
    let more = box_.run("pgz", &["-1"], b"more").expect(0).stdout;
    let halted = (0..100).find_map(|_| {
        box_.write("a.gz", &packed);
        let child = start(&box_, &["-d", "-p1", "a.gz"]);
        let child = halt(&box_, child, data.len() / 2);
        // The result of a program that was too fast.
        let _ = fs::remove_file(box_.path("a"));
        child
    });
    let child = halted.expect("the program is caught in the middle of its work");
    let file = File::options().append(true).open(box_.path("a.gz"));
    file.unwrap().write_all(&more).unwrap();
    libc_signal::send(&child, libc_signal::CONT);
    let done = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{stderr}");
    assert_eq!(stderr, "pgz: a.gz: changed while being read -- kept\n");
    assert_eq!(box_.names(), ["a.gz"]);
    assert_eq!(box_.read("a.gz").len(), packed.len() + more.len());
}

/// Stops the program when its temporary file has up to `most` bytes. If the program is too fast for
/// that, waits for its end.
fn halt(box_: &Sandbox, mut child: Child, most: usize) -> Option<Child> {
    let written = || {
        let entries = fs::read_dir(box_.path("")).unwrap();
        let lengths = entries.filter_map(|entry| {
            let entry = entry.ok()?;
            let named = entry.file_name().to_string_lossy().ends_with(".tmp");
            let facts = entry.metadata().ok().filter(|_| named)?;
            Some(facts.len())
        });
        lengths.sum::<u64>()
    };
    let started = Instant::now();
    while written() == 0 {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "no temporary file appears"
        );
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        thread::sleep(Duration::from_millis(1));
    }
    libc_signal::send(&child, libc_signal::STOP);
    if (1..=most as u64).contains(&written()) {
        return Some(child);
    }
    libc_signal::send(&child, libc_signal::CONT);
    child.wait().unwrap();
    None
}

#[test]
fn the_directory_vanishes() {
    let box_ = Sandbox::new();
    let done = box_.pgz(&["gone/a", "-d", "gone/b.gz"]).expect(1);
    assert_eq!(done.stderr.lines().count(), 2, "{}", done.stderr);
    assert!(
        done.stderr.contains("gone/b.gz: No such file"),
        "{}",
        done.stderr
    );
}

#[test]
fn signals_leave_no_partial_file() {
    use libc_signal::{HUP, INT, TERM, XCPU};
    for signal in [INT, TERM, HUP, XCPU] {
        let box_ = Sandbox::new();
        // Minutes of work, so that the signal comes in the middle of it; a hole on the disk.
        const LEN: u64 = 256 << 30;
        box_.write("a", b"");
        let hole = File::options().write(true).open(box_.path("a"));
        hole.unwrap().set_len(LEN).unwrap();
        // In the background of a script some of them are ignored.
        let child = box_
            .command("env")
            .arg("--default-signal=INT,TERM,HUP")
            .args([env!("CARGO_BIN_EXE_pgz"), "-9", "-p1", "a"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for_temporary(&box_);
        libc_signal::send(&child, signal);
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.signal(), Some(signal), "{:?}", done.status);
        assert_eq!(box_.names(), ["a"]);
        assert_eq!(fs::metadata(box_.path("a")).unwrap().len(), LEN);
    }
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let box_ = Sandbox::new();
    box_.write("a", &text(1, 24 * MIB));
    let pgz = env!("CARGO_BIN_EXE_pgz");
    let child = box_
        .command("sh")
        .args(["-c", &format!("trap '' HUP; exec {pgz} -9 -p1 a")])
        .spawn()
        .unwrap();
    wait_for_temporary(&box_);
    libc_signal::send(&child, libc_signal::HUP);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(box_.names(), ["a.gz"]);
}

fn start(box_: &Sandbox, args: &[&str]) -> Child {
    let mut command = box_.command("pgz");
    command
        .args(args)
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits until the program is in the middle of its work.
fn wait_for_temporary(box_: &Sandbox) {
    let started = Instant::now();
    while !box_.names().iter().any(|name| {
        name.ends_with(".tmp") && fs::metadata(box_.path(name)).is_ok_and(|f| f.len() > 0)
    }) {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "no temporary file appears"
        );
        thread::sleep(Duration::from_millis(1));
    }
}

/// A file system may report only at the end that it has no room. The input is kept then.
#[test]
fn an_error_of_close_keeps_the_input() {
    let box_ = Sandbox::new();
    box_.write("a", &text(1, MIB));
    if !has_strace() {
        return unmeasured("no strace on this machine");
    }
    // Not those of the dynamic loader, which are the first three or four of a thread.
    let run = |args: &[&str], input: &[u8]| {
        injected(&box_, "close:error=EDQUOT:when=7+", args, input)
    };
    let done = run(&["a"], b"").expect(1);
    assert_eq!(done.stderr, "pgz: a.gz: Disk quota exceeded\n");
    assert_eq!(box_.names(), ["a", "trace"]);
    let packed = box_.run("pgz", &["-c"], b"plain").expect(0).stdout;
    for (args, input) in [
        (&["-c", "a"][..], &[][..]),
        (&[], b"plain"),
        (&["-"], b"plain"),
        (&["-d"], &packed),
    ] {
        let done = run(args, input).expect(1);
        assert_eq!(
            done.stderr, "pgz: stdout: Disk quota exceeded\n",
            "{args:?}"
        );
    }
}

/// Not every file system has modes: that they cannot be set is a warning.
#[test]
fn a_mode_that_cannot_be_set_is_a_warning() {
    if !has_strace() {
        return unmeasured("no strace on this machine");
    }
    let box_ = Sandbox::new();
    box_.write("a", &text(1, MIB));
    let run = |args: &[&str]| injected(&box_, "fchmod:error=EPERM", args, b"");
    let done = run(&["a"]).expect(2);
    assert_eq!(done.stderr, "pgz: a.gz: Operation not permitted\n");
    assert_eq!(box_.names(), ["a.gz", "trace"]);
    let done = run(&["-d", "a.gz"]).expect(2);
    assert_eq!(done.stderr, "pgz: a: Operation not permitted\n");
    assert_eq!(box_.read("a"), text(1, MIB));
}

/// Runs pgz with failing system calls.
fn injected(box_: &Sandbox, failure: &str, args: &[&str], input: &[u8]) -> Done {
    let inject = format!("inject={failure}");
    let strace = [
        "-f",
        "-o",
        "trace",
        "-e",
        &inject,
        env!("CARGO_BIN_EXE_pgz"),
    ];
    box_.run("strace", &[&strace[..], args].concat(), input)
}

fn has_strace() -> bool {
    let version = Command::new("strace")
        .arg("-V")
        .stdout(Stdio::null())
        .status();
    version.is_ok_and(|status| status.success())
}

/// A tmpfs of a few MiB, gone when dropped.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn mount(box_: &Sandbox, mib: usize) -> Option<SmallDisk> {
        let place = box_.path("disk");
        fs::create_dir(&place).unwrap();
        let size = format!("size={mib}m");
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(&place)
            .stderr(Stdio::null())
            .status();
        done.is_ok_and(|status| status.success())
            .then(|| SmallDisk(place))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        unmount(&self.0);
    }
}

fn unmount(place: &Path) {
    let done = Command::new("umount").arg(place).status();
    assert!(
        done.is_ok_and(|status| status.success()),
        "cannot unmount the small disk"
    );
}

/// Signals to children, by number and without unsafe code.
mod libc_signal {
    use std::process::Child;

    use rustix::process::{Pid, Signal, kill_process};

    pub(super) const HUP: i32 = Signal::HUP.as_raw();
    pub(super) const INT: i32 = Signal::INT.as_raw();
    pub(super) const TERM: i32 = Signal::TERM.as_raw();
    pub(super) const XCPU: i32 = Signal::XCPU.as_raw();
    pub(super) const STOP: i32 = Signal::STOP.as_raw();
    pub(super) const CONT: i32 = Signal::CONT.as_raw();

    pub(super) fn send(child: &Child, signal: i32) {
        let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
        kill_process(pid, Signal::from_named_raw(signal).unwrap()).unwrap();
    }
}
