//! `read` and `write` on objects that are not sockets.

use std::fs;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use pirn::spawn;
use pirn_hooks::within;

use crate::fixture::{blocks, on_one_worker, parks, read_all};
use crate::raw;

// Proves: T3.
#[test]
fn a_pipe_carries_more_than_it_holds() {
    const SIZE: usize = 3 << 20;
    on_one_worker(|| {
        let (from, to) = io::pipe().unwrap();
        let reader = read_all(from);
        let bytes: Vec<u8> = (0..SIZE).map(|i| ((i * i) >> 3) as u8).collect();
        assert_eq!(raw::write(&to, &bytes).unwrap(), SIZE);
        let parts = [IoSlice::new(&bytes[..10]), IoSlice::new(&bytes[10..])];
        assert_eq!((&to).write_vectored(&parts).unwrap(), SIZE);
        drop(to);
        let came = reader.join().unwrap();
        assert!(came[..SIZE] == bytes && came[SIZE..] == bytes);
    });
}

// Proves: T3.
#[test]
fn a_pipe_without_a_reader_is_broken() {
    on_one_worker(|| {
        let (from, to) = io::pipe().unwrap();
        drop(from);
        let broken = (&to).write(b"abc").unwrap_err();
        assert_eq!(broken.kind(), ErrorKind::BrokenPipe);
    });
}

// Proves: T3.
#[test]
fn a_read_of_nothing_returns_at_once() {
    on_one_worker(|| {
        let (from, _to) = io::pipe().unwrap();
        assert_eq!(raw::read(&from, &mut []).unwrap(), 0);
    });
}

/// A terminal has nothing to read until a line is whole.
#[test]
fn a_read_of_a_terminal_parks() {
    on_one_worker(|| {
        let (emulator, terminal) = raw::terminal();
        let before = parks("read");
        // Runs while the reader is parked.
        let writer = spawn(move || {
            within(|| {
                for part in [&b"li"[..], b"ne\n"] {
                    assert_eq!(raw::write(&emulator, part).unwrap(), part.len());
                    pirn::sleep(Duration::from_millis(2)).unwrap();
                }
            });
            emulator
        });
        let mut came = [0; 8];
        assert_eq!(raw::read(&terminal, &mut came).unwrap(), 5);
        assert_eq!(&came[..5], b"line\n");
        assert!(parks("read") > before);
        drop(writer.join().unwrap());
    });
}

// Proves: T3.
#[test]
fn files_are_read_whole_and_counted() {
    on_one_worker(|| {
        let path =
            std::env::temp_dir().join(format!("pirn-hooks-file-{}", std::process::id()));
        let before = blocks("read");
        fs::write(&path, vec![7; 1 << 20]).unwrap();
        let mut file = fs::File::open(&path).unwrap();
        let mut buffer = vec![0; 2 << 20];
        assert_eq!(raw::read(&file, &mut buffer).unwrap(), 1 << 20);
        assert_eq!(file.read(&mut buffer).unwrap(), 0);
        assert!(blocks("read") > before);
        fs::remove_file(&path).unwrap();
    });
}

// Proves: T3.
#[test]
fn the_lock_of_a_file_is_waited_for() {
    on_one_worker(|| {
        let path =
            std::env::temp_dir().join(format!("pirn-hooks-lock-{}", std::process::id()));
        let one = fs::File::create(&path).unwrap();
        let other = fs::File::open(&path).unwrap();
        one.lock().unwrap();
        let waiter = spawn(move || within(|| other.lock().unwrap()));
        pirn::yield_now();
        assert!(parks("flock") > 0);
        one.unlock().unwrap();
        waiter.join().unwrap();
        fs::remove_file(&path).unwrap();
    });
}

// Proves: T3.
#[test]
fn the_lock_of_a_description_is_waited_for() {
    on_one_worker(|| {
        let path =
            std::env::temp_dir().join(format!("pirn-hooks-ofd-{}", std::process::id()));
        let one = fs::File::create(&path).unwrap();
        let other = fs::File::create(&path).unwrap();
        raw::lock_description(&one).unwrap();
        let waiter = spawn(move || within(|| raw::lock_description(&other).unwrap()));
        pirn::yield_now();
        assert!(parks("fcntl") > 0);
        let cut = spawn({
            let third = fs::File::create(&path).unwrap();
            move || {
                let limit = Duration::from_millis(10);
                let lock = || within(|| raw::lock_description(&third));
                let mut ended = None;
                let _ = pirn::timeout(limit, || ended = Some(lock()));
                ended.unwrap().unwrap_err().kind()
            }
        });
        assert_eq!(cut.join().unwrap(), ErrorKind::TimedOut);
        // Closing the last descriptor of it frees the lock.
        drop(one);
        waiter.join().unwrap();
        assert_eq!(raw::owner(&io::pipe().unwrap().0).unwrap(), 0);
        fs::remove_file(&path).unwrap();
    });
}

// Proves: T3.
#[test]
fn copies_of_std_park() {
    const SIZE: usize = 1 << 20;
    on_one_worker(|| {
        let path =
            std::env::temp_dir().join(format!("pirn-hooks-copy-{}", std::process::id()));
        fs::write(&path, vec![7; SIZE]).unwrap();
        // The system would move the bytes by `sendfile` and `splice`.
        let (mut one, to) = UnixStream::pair().unwrap();
        let (mut from, mut pipe) = io::pipe().unwrap();
        let file = path.clone();
        let first = spawn(move || {
            within(|| io::copy(&mut fs::File::open(file).unwrap(), &mut &to).unwrap())
        });
        let second = spawn(move || within(|| io::copy(&mut one, &mut pipe).unwrap()));
        let mut came = Vec::new();
        from.read_to_end(&mut came).unwrap();
        assert_eq!(first.join().unwrap(), SIZE as u64);
        assert_eq!(second.join().unwrap(), SIZE as u64);
        assert!(came == vec![7; SIZE]);
        fs::remove_file(&path).unwrap();
    });
}

/// A stream that the system does not report writable, as it has little room, takes a small write at
/// once.
// Proves: T3.
#[test]
fn a_write_uses_what_room_there_is() {
    on_one_worker(|| {
        let (to, from) = UnixStream::pair().unwrap();
        raw::set_nonblocking(&to, true).unwrap();
        let mut sent = 0;
        while let Ok(moved) = raw::write(&to, &[1; 1_000]) {
            sent += moved;
        }
        raw::set_nonblocking(&to, false).unwrap();
        let is_writable = || raw::poll(&[(to.as_raw_fd(), libc::POLLOUT)], 10).unwrap().0;
        assert_eq!(is_writable(), 0);
        let mut came = 0;
        while came < sent / 2 {
            came += raw::read(&from, &mut [0; 1_000]).unwrap();
        }
        assert_eq!(is_writable(), 0, "it is writable before that");
        let limit = Duration::from_secs(5);
        let written = pirn::timeout(limit, || raw::write(&to, b"x"));
        assert_eq!(written.unwrap().unwrap(), 1);
    });
}
