//! Reads of every size, and reads of data in memory.

use std::fs as system;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use pirn::Interrupt;
use pirn::fs::{self, File};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, runtime};
#[cfg(target_os = "linux")]
use crate::files_queued::tells_what_is_cached;
#[cfg(target_os = "linux")]
use crate::files_threads::threads_for_files;
#[cfg(target_os = "linux")]
use crate::unmeasured::{repeat, unmeasured};
use crate::util::Directory;
#[cfg(target_os = "linux")]
use crate::util::apart;

/// A large read or write is one call, and parks once at most.
// Proves: N5-X-files.
#[test]
fn large_calls_are_handed_over_once() {
    let directory = Directory::new();
    let runtime = runtime(1);
    runtime.run(|| {
        let path = directory.at("file");
        let mut file = File::create_new(&path).unwrap();
        let parks = || runtime.metrics().total.fiber_parks;
        let once = |call: &mut dyn FnMut()| {
            let before = parks();
            call();
            assert!(parks() <= before + 1);
        };
        once(&mut || file.write_all(&[1; 100_000]).unwrap());
        once(&mut || write!(file, "{}{}{}", 1, 2, 3).unwrap());
        file.rewind().unwrap();
        let mut bytes = Vec::new();
        once(&mut || _ = file.read_to_end(&mut bytes).unwrap());
        assert_eq!(bytes.len(), 100_003);
        once(&mut || drop(fs::read(&path).unwrap()));
        once(&mut || _ = fs::copy(&path, directory.at("copy")).unwrap());
        let before = parks();
        file.rewind().unwrap();
        assert_eq!(file.stream_position().unwrap(), 0);
        assert_eq!(parks(), before);
    });
}

/// Reads of every size return the content of the file, in place and on a thread, at the position
/// and elsewhere; none exceeds the end.
// Proves: N5-X-cached.
#[test]
fn reads_of_every_size_are_right() {
    const LEN: usize = 200_000;
    let right: Vec<u8> = (0..LEN).map(|n| (n % 251) as u8).collect();
    let directory = Directory::new();
    let path = directory.at("file");
    system::write(&path, &right).unwrap();
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for size in [0, 1, 4096, 65_535, 65_536, 65_537, LEN, LEN + 1] {
            let (path, right) = (&path, &right);
            jobs.add(move || reads_of(path, right, size).unwrap());
        }
        jobs.run(executor, 2);
    }
}

fn reads_of(path: &Path, right: &[u8], size: usize) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; size];
    for start in [
        0,
        1,
        70_000,
        right.len() - 4096,
        right.len(),
        right.len() + 1,
    ] {
        let there = right.get(start..).unwrap_or_default();
        let there = &there[..there.len().min(size)];
        buffer.fill(0);
        let n = file.read_at(&mut buffer, start as u64)?;
        assert_eq!(buffer[..n], *there);
        buffer.fill(0);
        let exact = file.read_exact_at(&mut buffer, start as u64);
        if size <= there.len() {
            exact?;
            assert_eq!(buffer, there);
        } else {
            assert_eq!(exact.unwrap_err().kind(), ErrorKind::UnexpectedEof);
        }
        file.seek(SeekFrom::Start(start as u64))?;
        buffer.fill(0);
        if size <= there.len() {
            file.read_exact(&mut buffer)?;
            assert_eq!(buffer, there);
            assert_eq!(file.stream_position()?, (start + size) as u64);
        } else {
            assert!(file.read_exact(&mut buffer).is_err());
        }
    }
    if size >= 4096 {
        file.rewind()?;
        let mut all = Vec::new();
        while let n @ 1.. = file.read(&mut buffer)? {
            all.extend_from_slice(&buffer[..n]);
        }
        assert_eq!(all, right);
    }
    let error = file.read_exact_at(&mut [0], u64::MAX).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    Ok(())
}

/// Cached data is read without a thread, where the system can report it.
// Proves: N5-X-cached.
#[cfg(target_os = "linux")]
#[test]
fn what_is_in_memory_is_read_in_place() {
    let name = "files_reads::what_is_in_memory_is_read_in_place";
    let ended = apart(name, &[], || {
        let directory = Directory::new();
        let path = directory.at("file");
        // It stays in memory until the system has written it to the disk.
        system::write(&path, [7; 8192]).unwrap();
        let file = system::File::open(&path).unwrap();
        if !tells_what_is_cached(&file) {
            return unmeasured("the file system does not tell what is in memory");
        }
        let again = file.try_clone().unwrap();
        runtime(1).run(|| {
            let mut file = File::from(file);
            let mut buffer = [0; 4096];
            for _ in 0..100 {
                file.rewind().unwrap();
                file.read_exact(&mut buffer).unwrap();
                assert_eq!(file.read(&mut buffer).unwrap(), 4096);
                // The end of the file, too.
                assert_eq!(file.read(&mut buffer).unwrap(), 0);
                assert_eq!(file.read_at(&mut buffer, 8000).unwrap(), 192);
                file.read_exact_at(&mut buffer, 1).unwrap();
                assert_eq!(buffer, [7; 4096]);
            }
        });
        if threads_for_files() > 0 && !tells_what_is_cached(&again) {
            return unmeasured("the system needs the memory that the file is in");
        }
        assert_eq!(threads_for_files(), 0);
    });
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
        repeat(&ended.stderr);
    }
}

/// A fiber that reads cached data in a loop does not starve the others of its worker, and its
/// cancellation is reported.
// Proves: N5-X-cached.
#[test]
fn a_fiber_that_only_reads_gives_way() {
    let directory = Directory::new();
    let path = directory.at("file");
    system::write(&path, [7; 4096]).unwrap();
    runtime(1).run(|| {
        let reader = pirn::spawn(move || {
            let file = File::open(&path).unwrap();
            let mut buffer = [0; 4096];
            loop {
                if let Err(error) = file.read_at(&mut buffer, 0) {
                    return Interrupt::of(&error);
                }
            }
        });
        for _ in 0..100 {
            pirn::yield_now();
        }
        reader.cancel();
        assert_eq!(reader.join().unwrap(), Some(Interrupt::Cancelled));
    });
}
