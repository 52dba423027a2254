//! Full disks, closed pipes, vanished files, signals, and memory that stays flat.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, noise, text};

const MIB: usize = 1 << 20;
/// The promise: the program's memory, whatever the file and the consumer.
const MOST_MEMORY_KIB: u64 = 64 << 10;

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
        eprintln!("cannot mount a tmpfs here: only the file size limit is tried");
        return;
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
        .command("bash")
        .args(["-c", &format!("ulimit -f 1024; exec {pgz} a")])
        .output()
        .unwrap();
    let stderr = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{stderr}");
    assert_eq!(stderr, "pgz: a.gz: File too large\n");
    assert_eq!(box_.names(), ["a"]);
}

#[test]
fn a_closed_pipe_is_named() {
    let box_ = Sandbox::new();
    let data = noise(1, 8 * MIB);
    box_.write("a", &data);
    box_.pgz(&["-k1", "a"]).expect(0);
    for args in [&["-c", "a"][..], &["-dc", "a.gz"]] {
        let mut child = box_
            .command("pgz")
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut start = [0; 100];
        child.stdout.take().unwrap().read_exact(&mut start).unwrap();
        let done = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(1), "{args:?}: {stderr}");
        assert_eq!(stderr, "pgz: stdout: Broken pipe\n", "{args:?}");
    }
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
    for signal in [libc_signal::INT, libc_signal::TERM, libc_signal::HUP] {
        let box_ = Sandbox::new();
        let data = text(1, 48 * MIB);
        box_.write("a", &data);
        let child = start(&box_, &["-9", "-p1", "a"]);
        wait_for_temporary(&box_);
        libc_signal::send(&child, signal);
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.signal(), Some(signal), "{:?}", done.status);
        assert_eq!(box_.names(), ["a"]);
        assert!(box_.read("a") == data);
    }
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let box_ = Sandbox::new();
    box_.write("a", &text(1, 24 * MIB));
    let pgz = env!("CARGO_BIN_EXE_pgz");
    let child = box_
        .command("bash")
        .args(["-c", &format!("trap '' HUP; exec {pgz} -9 -p1 a")])
        .spawn()
        .unwrap();
    wait_for_temporary(&box_);
    libc_signal::send(&child, libc_signal::HUP);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(box_.names(), ["a.gz"]);
}

#[test]
fn a_consumer_that_stops_stops_the_reading_too() {
    let box_ = Sandbox::new();
    let data = noise(1, 4 * MIB);
    for args in [&["-1"][..], &["-1i"]] {
        // 96 MiB on offer; a consumer that takes nothing until all is still.
        let memory = pour(&box_, args, 24, &data, &Consumer::Stalls);
        assert!(memory <= MOST_MEMORY_KIB, "{args:?}: {memory} KiB");
    }
    let packed = box_.run("pgz", &["-i"], &data).expect(0).stdout;
    let memory = pour(&box_, &["-d"], 24, &packed, &Consumer::Stalls);
    assert!(memory <= MOST_MEMORY_KIB, "{memory} KiB");
    let packed = box_
        .run("gzip", &["-1"], &vec![0; 64 * MIB])
        .expect(0)
        .stdout;
    let memory = pour(&box_, &["-d"], 4, &packed, &Consumer::Stalls);
    assert!(memory <= MOST_MEMORY_KIB, "{memory} KiB");
}

#[test]
fn half_a_gibibyte_of_zeros_in_flat_memory() {
    let box_ = Sandbox::new();
    for args in [&["-6"][..], &["-6i"]] {
        let memory = pour(&box_, args, 512, &vec![0; MIB], &Consumer::Eager);
        assert!(memory <= MOST_MEMORY_KIB, "{args:?}: {memory} KiB");
    }
}

#[test]
#[ignore = "minutes: run by `cargo xtask stress`"]
fn four_gibibytes_of_zeros_in_flat_memory() {
    let box_ = Sandbox::new();
    for consumer in [Consumer::Eager, Consumer::PerSecond(MIB)] {
        for args in [&["-6"][..], &["-6i"]] {
            let memory = pour(&box_, args, 4096, &vec![0; MIB], &consumer);
            eprintln!("{args:?} {consumer:?}: {memory} KiB");
            assert!(memory <= MOST_MEMORY_KIB, "{args:?}: {memory} KiB");
        }
    }
}

/// Who reads what the program writes.
#[derive(Debug)]
enum Consumer {
    /// As fast as it comes.
    Eager,
    /// So many bytes a second.
    PerSecond(usize),
    /// Nothing until the program has stopped reading; then everything.
    Stalls,
}

/// Feeds `data` so many times through the program and returns the most memory it had, in
/// KiB. With a consumer that stalls, the program must stop reading by itself.
fn pour(
    box_: &Sandbox,
    args: &[&str],
    times: usize,
    data: &[u8],
    consumer: &Consumer,
) -> u64 {
    let mut child = box_
        .command("pgz")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) =
        (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let id = child.id();
    let fed = AtomicU64::new(0);
    let total = (times * data.len()) as u64;
    let most = thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..times {
                for piece in data.chunks(64 << 10) {
                    stdin.write_all(piece).unwrap();
                    fed.fetch_add(piece.len() as u64, Ordering::Relaxed);
                }
            }
            drop(stdin);
        });
        if matches!(consumer, Consumer::Stalls) {
            let at_rest = wait_until_still(&fed);
            assert!(at_rest < total, "{args:?} took all {total} bytes unasked");
        }
        let mut most = memory(id);
        let mut buffer = vec![0; 64 << 10];
        let (started, mut received) = (Instant::now(), 0);
        loop {
            let n = match stdout.read(&mut buffer) {
                Ok(n) => n,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => panic!("{e}"),
            };
            most = most.max(memory(id));
            if n == 0 {
                return most;
            }
            received += n;
            if let Consumer::PerSecond(rate) = consumer {
                let due = Duration::from_secs_f64(received as f64 / *rate as f64);
                thread::sleep(due.saturating_sub(started.elapsed()));
            }
        }
    });
    assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
    most
}

/// Waits until a counter stands still for half a second.
fn wait_until_still(counter: &AtomicU64) -> u64 {
    let mut last = (0, Instant::now());
    loop {
        thread::sleep(Duration::from_millis(20));
        let now = counter.load(Ordering::Relaxed);
        if now != last.0 || now == 0 {
            last = (now, Instant::now());
        } else if last.1.elapsed() > Duration::from_millis(500) {
            return now;
        }
    }
}

/// The most memory the process has had so far, in KiB; 0 once it has gone.
fn memory(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
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
            .then_some(SmallDisk(place))
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

    pub const HUP: i32 = Signal::HUP.as_raw();
    pub const INT: i32 = Signal::INT.as_raw();
    pub const TERM: i32 = Signal::TERM.as_raw();

    pub fn send(child: &Child, signal: i32) {
        let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
        kill_process(pid, Signal::from_named_raw(signal).unwrap()).unwrap();
    }
}
