//! Sockets within the machine: what differs from TCP.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::time::Duration;
use std::{fs, thread};

use pirn::net::{Shutdown, UnixDatagram, UnixListener, UnixStream};
use pirn::timeout;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs};
use crate::util::{Directory, LONG};

/// A write of nothing returns at once, as in `std`, also if the other side reads nothing.
// Proves: N5-X-std.
#[test]
fn a_write_of_nothing_needs_no_room() {
    for kind in EXECUTOR_KINDS {
        let (mut stream, _other) = UnixStream::pair().unwrap();
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let limit = Duration::from_millis(20);
            while timeout(limit, || stream.write_all(&[0; 4_096])).is_ok() {}
            assert_eq!(timeout(LONG, || stream.write(&[]).unwrap()), Ok(0));
        });
        jobs.run(kind, 1);
    }
}

/// The end of the writing side wakes writers that wait, though the system does not report it.
// Proves: N5-X-std.
#[test]
fn a_waiting_writer_sees_the_end_of_its_side() {
    for kind in EXECUTOR_KINDS {
        for how in [Shutdown::Write, Shutdown::Both] {
            let (stream, _other) = UnixStream::pair().unwrap();
            let (datagrams, _peer) = UnixDatagram::pair().unwrap();
            let mut jobs = Jobs::new();
            jobs.add(|| {
                let ended = (&stream).write_all(&vec![0; 4 << 20]);
                assert_eq!(ended.unwrap_err().kind(), ErrorKind::BrokenPipe, "{how:?}");
            });
            jobs.add(|| {
                let mut sends = (0..).map(|_| datagrams.send(&[0; 1_000]));
                let ended = sends.find_map(Result::err).unwrap();
                assert_eq!(ended.kind(), ErrorKind::BrokenPipe, "{how:?}");
            });
            thread::scope(|s| {
                s.spawn(|| {
                    // Both wait by then.
                    thread::sleep(Duration::from_millis(20));
                    stream.shutdown(how).unwrap();
                    datagrams.shutdown(how).unwrap();
                });
                jobs.run(kind, 1);
            });
        }
    }
}

/// A path with a zero byte is refused: the system would take another name.
// Proves: N5-X-std.
#[test]
fn a_path_with_a_zero_byte_is_refused() {
    let directory = Directory::new();
    let path = directory.at("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let longer = [path.as_os_str().as_bytes(), b"\0suffix"].concat();
    for name in [longer.as_slice(), b"\0name"] {
        let connected = UnixStream::connect(OsStr::from_bytes(name));
        assert_eq!(connected.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    assert!(fs::exists(&path).unwrap());
}
