//! The threads on which file operations run: their number, and what runs meanwhile.

use std::fs as system;
use std::io;
#[cfg(target_os = "linux")]
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pirn::fs::{self, File};
use pirn::{blocking, channel};

use crate::executor_kind::runtime;
use crate::files::named_pipe;
#[cfg(target_os = "linux")]
use crate::util::apart;
use crate::util::{Directory, eventually, on_every_shape, scaled};

/// While a file is copied, fibers of the same worker compute: the copy cannot end before
/// they have.
// Proves: N5-X-files.
#[test]
fn fibers_compute_while_a_file_is_copied() {
    let directory = Directory::new();
    let (from, to) = (named_pipe(&directory), directory.at("copy"));
    let runtime = runtime(1);
    let (copying, done) = (AtomicBool::new(false), AtomicBool::new(false));
    runtime.scope(|s| {
        let copy = s.spawn(|| {
            copying.store(true, Ordering::SeqCst);
            let copy = || io::copy(&mut File::open(&from)?, &mut File::create(&to)?);
            let bytes = copy();
            done.store(true, Ordering::SeqCst);
            bytes
        });
        let sums = [1_u64, 2, 3].map(|seed| {
            let (copying, done) = (&copying, &done);
            s.spawn(move || {
                while !copying.load(Ordering::SeqCst) {
                    pirn::yield_now();
                }
                let mut sum = seed;
                for _ in 0..1000 {
                    sum = sum.wrapping_mul(31).wrapping_add(7);
                    pirn::yield_now();
                }
                assert!(!done.load(Ordering::SeqCst));
                sum
            })
        });
        for sum in sums {
            assert_ne!(sum.join().unwrap(), 0);
        }
        fs::write(&from, vec![7; 100_000]).unwrap();
        assert_eq!(copy.join().unwrap().unwrap(), 100_000);
    });
    assert_eq!(system::read(to).unwrap(), [7; 100_000]);
}

/// Files that fibers copy piece by piece arrive complete, concurrently, on runtimes of every shape.
// Proves: N5-X-files.
#[test]
fn many_files_are_copied_at_once() {
    let bytes: Vec<u8> = (0..scaled(300_000)).map(|n| (n % 251) as u8).collect();
    on_every_shape(|runtime| {
        let directory = Directory::new();
        system::write(directory.at("source"), &bytes).unwrap();
        runtime.scope(|s| {
            for n in 0..8 {
                let (directory, bytes) = (&directory, &bytes);
                s.spawn(move || {
                    let mut from = File::open(directory.at("source")).unwrap();
                    let path = directory.at(&format!("{n}"));
                    let to = File::create(&path).unwrap();
                    let mut to = io::BufWriter::with_capacity(1 << 16, to);
                    let copied = io::copy(&mut from, &mut to).unwrap();
                    assert_eq!(copied, bytes.len() as u64);
                    to.into_inner().unwrap();
                    assert!(fs::read(&path).unwrap() == *bytes);
                });
            }
        });
    });
}

/// With any number of fibers, at most 64 threads serve file calls, and each call is answered.
// Proves: N5-X-files.
#[test]
fn as_many_threads_as_there_may_be() {
    let directory = Directory::new();
    let runtime = runtime(2);
    let n = scaled(1000);
    let answered = AtomicUsize::new(0);
    runtime.scope(|s| {
        for i in 0..n {
            let (directory, answered) = (&directory, &answered);
            s.spawn(move || {
                let path = directory.at(&i.to_string());
                fs::write(&path, i.to_string()).unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), i.to_string());
                answered.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(answered.into_inner(), n);
    #[cfg(target_os = "linux")]
    assert!((1..=64).contains(&threads_for_files()));
}

/// A hundred calls that block in the system: 64 threads serve them.
// Proves: N5-X-files.
#[test]
#[cfg(target_os = "linux")]
fn no_more_threads_than_there_may_be() {
    const CALLS: usize = 100;
    let name = "files_threads::no_more_threads_than_there_may_be";
    let ended = apart(name, &[], || {
        let directory = Directory::new();
        let pipes: Vec<_> = (0..CALLS).map(|n| directory.at(&n.to_string())).collect();
        let made = Command::new("mkfifo").args(&pipes).status();
        assert!(made.expect("mkfifo").success());
        let runtime = runtime(2);
        let _open: Vec<_> = runtime.scope(|s| {
            for pipe in &pipes {
                // Waits for an open of the other side.
                s.spawn(move || drop(File::open(pipe).unwrap()));
            }
            eventually("all are handed over", || {
                runtime.metrics().total.fiber_parks >= CALLS as u64
            });
            eventually("their threads start", || threads_for_files() >= 64);
            // An open of both sides waits for none.
            let mut both = system::OpenOptions::new();
            both.read(true).write(true);
            pipes.iter().map(|pipe| both.open(pipe)).collect()
        });
        // Idle threads stay for a while.
        assert_eq!(threads_for_files(), 64);
    });
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// Returns the number of threads of this process that serve calls on files.
#[cfg(target_os = "linux")]
pub(crate) fn threads_for_files() -> usize {
    let tasks = system::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.map(|task| system::read_to_string(task.path().join("comm")));
    let is_one = |name: &String| name.starts_with("pirn-files-");
    names.flatten().filter(is_one).count()
}

/// All the threads of `blocking` may wait for a fiber that needs a file.
// Proves: N5-X-files.
#[test]
fn blocking_calls_may_wait_for_a_file() {
    let directory = Directory::new();
    let path = directory.at("file");
    system::write(&path, "needed").unwrap();
    let runtime = runtime(2);
    runtime.scope(|s| {
        let (tx, rx) = channel::bounded::<u8>(64);
        for _ in 0..64 {
            let rx = rx.clone();
            s.spawn(move || blocking(|| rx.recv()).unwrap());
        }
        eventually("they wait", || runtime.metrics().total.fiber_parks >= 64);
        s.spawn(|| {
            let tx = tx;
            for _ in 0..64 {
                tx.send(fs::read(&path).unwrap()[0]).unwrap();
            }
        });
    });
}
