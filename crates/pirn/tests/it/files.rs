//! Files and directories: as in `std`, off the workers.

use std::collections::BTreeSet;
use std::fs as system;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use pirn::cancel::{Token, with_deadline};
use pirn::fs::{self, File, OpenOptions};
use pirn::time::now;
use pirn::wait::Reason;
use pirn::{Interrupt, blocking, channel};

use crate::executor_kind::{CREWS, Jobs, runtime};
use crate::unmeasured::unmeasured;
use crate::util::{Directory, eventually, on_every_shape, scaled};

/// A named pipe: each open waits for an open of the other side.
fn named_pipe(directory: &Directory) -> PathBuf {
    let path = directory.at("pipe");
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo").success());
    path
}

fn interrupt_in<T>(result: io::Result<T>) -> Option<Interrupt> {
    result.err().and_then(|error| Interrupt::of(&error))
}

/// Paths: each call behaves as in `std`, on fibers and on threads.
// Proves: N5-X-files.
#[test]
fn paths_are_treated_as_by_std() {
    for crew in CREWS {
        let directory = Directory::new();
        let mut jobs = Jobs::new();
        for n in 0..4 {
            let base = directory.at(&format!("{n}"));
            jobs.add(move || paths_in(&base).unwrap());
        }
        jobs.run(crew, 2);
        assert!(directory.names().is_empty());
    }
}

fn paths_in(base: &Path) -> io::Result<()> {
    let deep = base.join("a/b/c");
    fs::create_dir_all(&deep)?;
    fs::DirBuilder::new().recursive(true).create(&deep)?;
    let (one, two, three) = (deep.join("one"), deep.join("two"), deep.join("three"));
    fs::write(&one, "some text")?;
    assert_eq!(fs::read(&one)?, b"some text");
    assert_eq!(fs::copy(&one, &two)?, 9);
    fs::rename(&two, &three)?;
    assert!(!fs::exists(&two)?);
    assert_eq!(fs::read_to_string(&three)?, "some text");
    fs::hard_link(&three, &two)?;
    assert_eq!(fs::metadata(&two)?.len(), 9);
    let link = deep.join("link");
    std::os::unix::fs::symlink("one", &link)?;
    assert_eq!(fs::read_link(&link)?, Path::new("one"));
    assert!(fs::symlink_metadata(&link)?.is_symlink());
    assert_eq!(fs::canonicalize(&link)?, fs::canonicalize(&one)?);
    fs::set_permissions(&one, fs::Permissions::from_mode(0o400))?;
    assert_eq!(fs::metadata(&one)?.permissions().mode() & 0o777, 0o400);
    let names: BTreeSet<_> = fs::read_dir(&deep)?
        .map(|entry| {
            let entry = entry?;
            assert_eq!(entry.file_type()?.is_symlink(), entry.path() == link);
            assert_eq!(entry.metadata()?.is_symlink(), entry.path() == link);
            Ok(entry.file_name().into_string().unwrap())
        })
        .collect::<io::Result<_>>()?;
    assert_eq!(Vec::from_iter(names), ["link", "one", "three", "two"]);
    fs::remove_file(&two)?;
    fs::create_dir(deep.join("d"))?;
    fs::remove_dir(deep.join("d"))?;
    fs::remove_dir_all(base)
}

/// An open file has one position, wherever it is used from, and ends where it was truncated.
// Proves: N5-X-files.
#[test]
fn an_open_file_has_one_position() {
    for crew in CREWS {
        let directory = Directory::new();
        let mut jobs = Jobs::new();
        for n in 0..4 {
            let path = directory.at(&format!("{n}"));
            jobs.add(move || positions_in(&path).unwrap());
        }
        jobs.run(crew, 2);
    }
}

fn positions_in(path: &Path) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    write!(file, "hello {}", 12)?;
    file.write_all(b"345")?;
    file.flush()?;
    assert_eq!(file.stream_position()?, 11);
    assert_eq!(file.seek(SeekFrom::Start(6))?, 6);
    let mut two = [0; 2];
    (&file).read_exact(&mut two)?;
    assert_eq!(&two, b"12");
    let mut rest = String::new();
    file.try_clone()?.read_to_string(&mut rest)?;
    assert_eq!(rest, "345");
    assert_eq!(file.seek(SeekFrom::End(-3))?, 8);
    file.read_at(&mut two, 0)?;
    assert_eq!(&two, b"he");
    file.write_all_at(b"J", 0)?;
    assert_eq!(file.seek(SeekFrom::Current(-1))?, 7);
    file.set_len(9)?;
    rest.clear();
    (&file).read_to_string(&mut rest)?;
    assert_eq!(rest, "23");
    let error = file.seek(SeekFrom::Current(-100)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    file.set_modified(SystemTime::UNIX_EPOCH)?;
    assert_eq!(file.metadata()?.modified()?, SystemTime::UNIX_EPOCH);
    file.sync_data()?;
    file.sync_all()?;
    drop(file);
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    options.open(path)?.write_all(b"!")?;
    options.open(path)?.write_all(b"?")?;
    assert_eq!(fs::read(path)?, b"Jello 123!?");
    let mut theirs = File::open(path)?.into_std();
    let mut bytes = Vec::new();
    theirs.read_to_end(&mut bytes)?;
    assert_eq!(bytes.len(), 11);
    File::create(path)?;
    assert_eq!(fs::metadata(path)?.len(), 0);
    Ok(())
}

/// Errors are those of `std`: a file that is missing or in the way, a directory, no UTF-8.
// Proves: N5-X-files.
#[test]
fn errors_are_those_of_std() {
    fn same<T, U>(own: io::Result<T>, theirs: io::Result<U>) {
        let (own, theirs) = (own.err().unwrap(), theirs.err().unwrap());
        assert_eq!(own.kind(), theirs.kind());
        assert_eq!(own.to_string(), theirs.to_string());
    }
    let directory = Directory::new();
    pirn::run(|| {
        let (missing, there) = (directory.at("missing"), directory.at("there"));
        fs::write(&there, [0xFF]).unwrap();
        same(fs::read(&missing), system::read(&missing));
        same(File::open(&missing), system::File::open(&missing));
        same(File::create_new(&there), system::File::create_new(&there));
        same(fs::read_dir(&there), system::read_dir(&there));
        same(fs::remove_dir(&there), system::remove_dir(&there));
        same(fs::read_to_string(&there), system::read_to_string(&there));
        same(fs::read("a\0b"), system::read("a\0b"));
        let read_only = File::open(&there).unwrap();
        same((&read_only).write(b"x"), read_only.as_std().write(b"x"));
        let short = &mut [0; 2];
        let error = (&read_only).read_exact(short).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    });
}

/// A full disk is reported as such, however the bytes are written.
// Proves: N5-X-files.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_reported() {
    pirn::run(|| {
        let mut options = OpenOptions::new();
        let mut full = options.write(true).open("/dev/full").unwrap();
        for result in [
            full.write(b"x").map(drop),
            full.write_all(b"x"),
            write!(full, "{}", 1),
            full.write_vectored(&[io::IoSlice::new(b"x")]).map(drop),
            fs::write("/dev/full", "x"),
            io::copy(&mut &b"x"[..], &mut full).map(drop),
        ] {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::StorageFull);
        }
    });
}

/// A pending interrupt is reported before any operation, to fibers and threads.
// Proves: N5-X-called.
#[test]
fn an_interrupted_call_has_done_nothing() {
    for crew in CREWS {
        let directory = Directory::new();
        let mut jobs = Jobs::new();
        for n in 0..4 {
            let (path, other) = (directory.at(&format!("{n}")), directory.at("other"));
            jobs.add(move || {
                let mut file = File::create(&path).unwrap();
                file.write_all(b"before").unwrap();
                let stop = Token::new();
                stop.cancel();
                let cancelled = Some(Interrupt::Cancelled);
                stop.enter(|| {
                    assert_eq!(interrupt_in(file.write_all(b"after")), cancelled);
                    assert_eq!(interrupt_in(file.rewind()), cancelled);
                    assert_eq!(interrupt_in(file.seek(SeekFrom::End(0))), cancelled);
                    assert_eq!(interrupt_in(fs::remove_file(&path)), cancelled);
                    assert_eq!(interrupt_in(fs::copy(&path, &other)), cancelled);
                    assert_eq!(interrupt_in(File::create(&path)), cancelled);
                });
                let late = with_deadline(now(), || fs::write(&path, "late"));
                let late = late.unwrap_err();
                assert_eq!(late.kind(), ErrorKind::TimedOut);
                assert_eq!(Interrupt::of(&late), Some(Interrupt::TimedOut));
                assert_eq!(fs::read(&path).unwrap(), b"before");
                assert!(!fs::exists(&other).unwrap());
            });
        }
        jobs.run(crew, 2);
    }
}

/// A call that has been passed to a thread is completed, despite a cancellation; meanwhile a report
/// names it.
// Proves: N5-X-called.
#[test]
fn a_call_is_made_to_its_end() {
    let directory = Directory::new();
    let path = named_pipe(&directory);
    let runtime = runtime(1);
    let stop = Token::new();
    let theirs = (stop.clone(), path.clone());
    let reader = runtime.spawn(move || theirs.0.enter(|| fs::read(&theirs.1)));
    eventually("the call is handed over", || {
        runtime.metrics().total.fiber_parks == 1
    });
    eventually("a report tells of it", || {
        let told = runtime.fibers();
        let waits = told.iter().find(|fiber| fiber.id == reader.fiber().id());
        waits.is_some_and(|fiber| {
            fiber.reason == Some(Reason::File) && fiber.to_string().contains("files.rs")
        })
    });
    stop.cancel();
    assert!(!reader.is_finished());
    system::write(&path, "at last").unwrap();
    assert_eq!(reader.join().unwrap().unwrap(), b"at last");
}

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

/// With any number of fibers, exactly the configured number of threads serve file calls, and each
/// call is answered.
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
    {
        let tasks = system::read_dir("/proc/self/task").unwrap().flatten();
        let names = tasks.map(|task| system::read_to_string(task.path().join("comm")));
        let files = names
            .flatten()
            .filter(|name| name.starts_with("pirn-files-"));
        assert!((1..=64).contains(&files.count()));
    }
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
    for crew in CREWS {
        let mut jobs = Jobs::new();
        for size in [0, 1, 4096, 65_535, 65_536, 65_537, LEN, LEN + 1] {
            let (path, right) = (&path, &right);
            jobs.add(move || reads_of(path, right, size).unwrap());
        }
        jobs.run(crew, 2);
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

/// Cached data is read without parking, where the system can report it.
// Proves: N5-X-cached.
#[cfg(target_os = "linux")]
#[test]
fn what_is_in_memory_is_read_in_place() {
    let directory = Directory::new();
    let path = directory.at("file");
    system::write(&path, [7; 8192]).unwrap();
    let runtime = runtime(1);
    runtime.run(|| {
        let mut file = File::open(&path).unwrap();
        let parks = || runtime.metrics().total.fiber_parks;
        let mut buffer = [0; 4096];
        let before = parks();
        file.read_at(&mut buffer, 0).unwrap();
        if parks() > before {
            // Or another process needs the memory.
            return unmeasured("the file system does not tell what is in memory");
        }
        let least = (0..100).map(|_| {
            let before = parks();
            file.rewind().unwrap();
            file.read_exact(&mut buffer).unwrap();
            assert_eq!(file.read(&mut buffer).unwrap(), 4096);
            // The end of the file, too.
            assert_eq!(file.read(&mut buffer).unwrap(), 0);
            assert_eq!(file.read_at(&mut buffer, 8000).unwrap(), 192);
            file.read_exact_at(&mut buffer, 1).unwrap();
            assert_eq!(buffer, [7; 4096]);
            parks() - before
        });
        assert_eq!(least.min(), Some(0));
    });
}

/// A fiber that reads cached data in a loop does not starve the others of its worker, and its cancellation is
/// reported.
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

/// A directory of any size yields each entry once; an interrupt is yielded once, and ends it.
// Proves: N5-X-files.
#[test]
fn a_large_directory_is_read() {
    let directory = Directory::new();
    for n in 0..1000 {
        system::write(directory.at(&n.to_string()), "").unwrap();
    }
    let root = directory.at("");
    pirn::run(|| {
        let names = fs::read_dir(&root).unwrap().map(|entry| {
            let name = entry.unwrap().file_name();
            name.to_string_lossy().parse::<u32>().unwrap()
        });
        let names: Vec<u32> = names.collect();
        assert_eq!(names.len(), 1000);
        let different: BTreeSet<u32> = names.into_iter().collect();
        assert_eq!(different, (0..1000).collect());

        let stop = Token::new();
        let mut entries = fs::read_dir(&root).unwrap();
        entries.next().unwrap().unwrap();
        stop.cancel();
        let rest: Vec<_> = stop.enter(|| entries.collect());
        let failed: Vec<_> = rest.into_iter().filter_map(Result::err).collect();
        assert_eq!(failed.len(), 1);
        assert_eq!(Interrupt::of(&failed[0]), Some(Interrupt::Cancelled));
    });
}

/// A file that is closed while its fiber unwinds receives all pending writes.
// Proves: N5-X-files.
#[test]
fn a_fiber_that_unwinds_writes_its_file() {
    struct Owed(File);
    impl Drop for Owed {
        fn drop(&mut self) {
            self.0.write_all(b"owed").unwrap();
        }
    }
    let directory = Directory::new();
    let path = directory.at("file");
    let theirs = path.clone();
    let fiber = runtime(1).run(|| {
        let fiber = pirn::spawn(move || {
            let _owed = Owed(File::create(theirs).unwrap());
            std::panic::panic_any(1_u8);
        });
        fiber.join()
    });
    assert!(fiber.is_err_and(|error| error.is_panic()));
    assert_eq!(system::read(path).unwrap(), b"owed");
}

/// Calls on files take no virtual time.
// Proves: N5-X-files.
#[test]
fn virtual_time_stands_still() {
    let directory = Directory::new();
    pirn::runtime::test(|_| {
        let start = now();
        let limited = pirn::timeout(Duration::from_micros(1), || {
            fs::write(directory.at("file"), "text")?;
            fs::read(directory.at("file"))
        });
        assert_eq!(limited.unwrap().unwrap(), b"text");
        assert_eq!(now(), start);
    });
}
