//! Files and directories: as in `std`, off the workers.

use std::collections::BTreeSet;
use std::fs as system;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::{FromRawFd, IntoRawFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use pirn::Interrupt;
use pirn::cancel::{Token, with_deadline};
use pirn::fs::{self, File, OpenOptions};
use pirn::time::now;
use pirn::wait::Reason;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, runtime};
use crate::util::{Directory, eventually};

/// A named pipe: each open waits for an open of the other side.
pub(crate) fn named_pipe(directory: &Directory) -> PathBuf {
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
    for executor in EXECUTOR_KINDS {
        let directory = Directory::new();
        let mut jobs = Jobs::new();
        for n in 0..4 {
            let base = directory.at(&format!("{n}"));
            jobs.add(move || paths_in(&base).unwrap());
        }
        jobs.run(executor, 2);
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
    for executor in EXECUTOR_KINDS {
        let directory = Directory::new();
        let mut jobs = Jobs::new();
        for n in 0..4 {
            let path = directory.at(&format!("{n}"));
            jobs.add(move || positions_in(&path).unwrap());
        }
        jobs.run(executor, 2);
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
    for executor in EXECUTOR_KINDS {
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
        jobs.run(executor, 2);
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

/// A large read or write is one job of a thread, not a job for each of its pieces: the caller parks
/// once.
// Proves: N5-X-files.
#[test]
fn a_large_transfer_is_handed_over_once() {
    const LEN: usize = 8 << 20;
    let directory = Directory::new();
    let runtime = runtime(1);
    let parks = || runtime.metrics().total.fiber_parks;
    let once = |what: &str, call: &mut dyn FnMut() -> io::Result<usize>| {
        let before = parks();
        assert_eq!(call().unwrap(), LEN, "{what}");
        let times = parks() - before;
        assert!(times <= 1, "{what}: parked {times} times");
    };
    let data = vec![7; LEN];
    // A short job may be done before its caller parks, but not each time.
    for round in 0..5 {
        let path = directory.at(&format!("file-{round}"));
        runtime.run(|| {
            once("fs::write", &mut || fs::write(&path, &data).map(|()| LEN));
            let mut file = File::create(&path).unwrap();
            once("write_all", &mut || file.write_all(&data).map(|()| LEN));
            file.rewind().unwrap();
            once("write", &mut || file.write(&data));
            once("write_at", &mut || file.write_at(&data, 1));
            once("write_all_at", &mut || {
                file.write_all_at(&data, 1).map(|()| LEN)
            });
            file.set_len(LEN as u64).unwrap();
            once("fs::read", &mut || fs::read(&path).map(|read| read.len()));
            let mut file = File::open(&path).unwrap();
            let mut text = Vec::new();
            once("read_to_end", &mut || file.read_to_end(&mut text));
            once("read_at", &mut || file.read_at(&mut text, 0));
            once("read_exact_at", &mut || {
                file.read_exact_at(&mut text, 0).map(|()| LEN)
            });
            file.rewind().unwrap();
            once("read", &mut || file.read(&mut text));
            file.rewind().unwrap();
            once("read_exact", &mut || {
                file.read_exact(&mut text).map(|()| LEN)
            });
            once("fs::copy", &mut || {
                fs::copy(&path, directory.at("copy")).map(|n| n as usize)
            });
            fs::remove_file(&path).unwrap();
        });
    }
}

/// A raw descriptor becomes a file, which closes it.
// Proves: N5-X-files.
#[test]
fn a_raw_descriptor_becomes_a_file() {
    let (mut reader, writer) = io::pipe().unwrap();
    // SAFETY: the descriptor is open, and this is its only owner.
    let mut file = unsafe { File::from_raw_fd(writer.into_raw_fd()) };
    file.write_all(b"some text").unwrap();
    drop(file);
    // It ends when no writer is left.
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "some text");
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
