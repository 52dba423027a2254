//! Uncached files, read by the system itself or by a thread.

use std::collections::BTreeSet;
use std::fs as system;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[cfg(feature = "io_uring")]
use io_uring::IoUring;
use pirn::cancel::{Token, with_deadline};
use pirn::fs::File;
use pirn::time::now;
use pirn::{Interrupt, Runtime};

use crate::unmeasured::{repeat, unmeasured};
use crate::util::{Directory, Ended, LONG, apart, scaled};

/// The bytes of a block.
const SIZE: usize = 4096;

const BLOCKS: usize = 1024;

/// Creates a file of distinct blocks, and evicts it from the cache, as far as the system does.
fn forgotten(path: &Path) -> File {
    let bytes: Vec<u8> = (0..BLOCKS).flat_map(block).collect();
    system::write(path, bytes).unwrap();
    let file = system::File::open(path).unwrap();
    file.sync_all().unwrap();
    for advice in [libc::POSIX_FADV_DONTNEED, libc::POSIX_FADV_RANDOM] {
        // SAFETY: a plain call on an open file.
        assert_eq!(0, unsafe {
            libc::posix_fadvise(file.as_raw_fd(), 0, 0, advice)
        });
    }
    File::from(file)
}

fn block(n: usize) -> [u8; SIZE] {
    let mut block = [n as u8; SIZE];
    block[1] = (n / 256) as u8;
    block
}

fn runtime() -> Runtime {
    Runtime::builder().workers(2).build().unwrap()
}

/// Reads all blocks once on many fibers, and checks them.
fn read_all(file: &File, runtime: &Runtime) {
    let next = AtomicUsize::new(0);
    runtime.scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| {
                let mut buffer = [0; SIZE];
                loop {
                    // No two neighbors are in one readahead.
                    let turn = next.fetch_add(1, Ordering::Relaxed);
                    if turn >= BLOCKS {
                        return;
                    }
                    let n = turn * 389 % BLOCKS;
                    let at = (n * SIZE) as u64;
                    match turn % 2 {
                        0 => assert_eq!(file.read_at(&mut buffer, at).unwrap(), SIZE),
                        _ => file.read_exact_at(&mut buffer, at).unwrap(),
                    }
                    assert!(buffer == block(n), "block {n}");
                }
            });
        }
    });
}

/// Reads beyond the end, of data that may not be cached.
fn read_over_the_end(file: &File, runtime: &Runtime) {
    let last = ((BLOCKS - 1) * SIZE) as u64;
    let mut two = [0; 2 * SIZE];
    runtime.run(|| {
        assert_eq!(file.read_at(&mut two, last).unwrap(), SIZE);
        assert!(two[..SIZE] == block(BLOCKS - 1));
        let error = file.read_exact_at(&mut two, last).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    });
}

/// Uncached blocks are read correctly, by the system or by a thread.
// Proves: N5-X-queued.
#[test]
fn what_is_not_in_memory_is_fetched() {
    let directory = Directory::new();
    for round in 0..4 {
        let file = forgotten(&directory.at(&round.to_string()));
        let runtime = runtime();
        if round % 2 == 0 {
            read_over_the_end(&file, &runtime);
        }
        read_all(&file, &runtime);
    }
}

/// Reads with deadlines that expire together, and that are cancelled, are completed or not done at
/// all; their buffers are reused at once, and nothing else writes into them.
// Proves: N5-X-queued.
#[test]
fn a_storm_of_limits_leaves_buffers_alone() {
    let directory = Directory::new();
    let file = forgotten(&directory.at("file"));
    let (file, stop) = (&file, &Token::new());
    let (done, interrupted) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
    let fibers = scaled(10_000);
    let runtime = runtime();
    // Half of the reads have time, however busy the machine is.
    let limits = [LONG, Duration::from_millis(5)].map(|limit| now() + limit);
    runtime.scope(|scope| {
        scope.spawn(|| {
            let count = |of: &AtomicUsize| of.load(Ordering::SeqCst);
            while count(done) < fibers / 10 && count(done) + count(interrupted) < fibers {
                pirn::yield_now();
            }
            stop.cancel();
        });
        for turn in 0..fibers {
            scope.spawn(move || {
                let mut buffer = [0xEE; SIZE];
                let n = turn * 389 % BLOCKS;
                let read = || file.read_exact_at(&mut buffer, (n * SIZE) as u64);
                let limited = || with_deadline(limits[turn % 2], read);
                match stop.enter(limited) {
                    Ok(()) => {
                        done.fetch_add(1, Ordering::SeqCst);
                        assert!(buffer == block(n), "block {n}");
                    }
                    Err(error) => {
                        interrupted.fetch_add(1, Ordering::SeqCst);
                        assert!(Interrupt::of(&error).is_some(), "{error}");
                        assert!(buffer == [0xEE; SIZE]);
                    }
                }
                buffer.fill(0xDD);
                pirn::yield_now();
                assert!(buffer == [0xDD; SIZE]);
            });
        }
    });
    for (count, all) in [(done, "interrupted"), (interrupted, "completed")] {
        if count.load(Ordering::SeqCst) == 0 {
            unmeasured(&format!("all reads were {all}"));
        }
    }
}

/// Returns whether rings, and whether threads, have read an evicted file in this process.
fn fetchers(directory: &Directory) -> (bool, bool) {
    fetchers_of(directory, &runtime())
}

/// Like [`fetchers`], for reads of this runtime.
fn fetchers_of(directory: &Directory, runtime: &Runtime) -> (bool, bool) {
    let file = forgotten(&directory.at("file"));
    read_all(&file, runtime);
    let links = system::read_dir("/proc/self/fd").unwrap().flatten();
    let links = links.filter_map(|entry| system::read_link(entry.path()).ok());
    let rings = links.filter(|link| link.to_string_lossy().contains("[io_uring]"));
    let tasks = system::read_dir("/proc/self/task").unwrap().flatten();
    let names =
        tasks.filter_map(|task| system::read_to_string(task.path().join("comm")).ok());
    let names: BTreeSet<String> = names.collect();
    let threads = names.iter().any(|name| name.starts_with("pirn-files"));
    (rings.count() > 0, threads)
}

fn ends_well(ended: Option<Ended>) {
    if let Some(ended) = ended {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
        repeat(&ended.stderr);
    }
}

/// With the setting off, the system reads nothing by itself.
// Proves: N5-X-queued.
#[test]
fn the_environment_turns_it_off() {
    let environment = [("PIRN_IO_URING", "0")];
    let name = "files_queued::the_environment_turns_it_off";
    ends_well(apart(name, &environment, || {
        assert!(!fetchers(&Directory::new()).0);
    }));
}

/// The builder takes precedence over the environment.
// Proves: N5-X-queued, P10.
#[cfg(feature = "io_uring")]
#[test]
fn the_builder_turns_it_off_and_on() {
    let name = "files_queued::the_builder_turns_it_off_and_on";
    for (environment, wanted) in [("1", false), ("0", true)] {
        let variable = "PIRN_IO_URING";
        ends_well(apart(name, &[(variable, environment)], || {
            if std::env::var(variable).is_ok_and(|value| value != environment) {
                // The process of the other round.
                return;
            }
            let builder = Runtime::builder().workers(2).io_uring(wanted);
            let found = fetchers_of(&Directory::new(), &builder.build().unwrap());
            if wanted && !has_rings() {
                return unmeasured("the system refuses io_uring");
            }
            match found {
                (false, false) => unmeasured("the files stay in memory"),
                (rings, threads) => assert_eq!((rings, threads), (wanted, !wanted)),
            }
        }));
    }
}

/// Whether the system permits what the library needs.
#[cfg(feature = "io_uring")]
fn has_rings() -> bool {
    let mut builder = IoUring::builder();
    builder.setup_single_issuer().setup_defer_taskrun();
    let ring: io::Result<IoUring> = builder.build(1);
    ring.is_ok()
}

/// Where a filter forbids it, threads read the files.
// Proves: N5-X-queued.
#[test]
fn a_filter_that_forbids_it_is_lived_with() {
    let name = "files_queued::a_filter_that_forbids_it_is_lived_with";
    ends_well(apart(name, &[], || {
        forbid();
        assert!(!fetchers(&Directory::new()).0);
    }));
}

/// With rings no positioned read of an uncached file needs a thread.
// Proves: N5-X-queued.
#[cfg(feature = "io_uring")]
#[test]
fn rings_need_no_threads() {
    let name = "files_queued::rings_need_no_threads";
    ends_well(apart(name, &[], || {
        let found = fetchers(&Directory::new());
        if !has_rings() {
            return unmeasured("the system refuses io_uring");
        }
        match found {
            (false, false) => unmeasured("the files stay in memory"),
            (rings, threads) => assert!(rings && !threads, "{rings}, {threads}"),
        }
    }));
}

/// Whether the system reports whether the content of a file is in memory.
pub(crate) fn tells_what_is_cached(file: &system::File) -> bool {
    let mut byte = 0_u8;
    let into = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    let flags = libc::RWF_NOWAIT;
    // SAFETY: the byte lives for the duration of the call.
    let read = unsafe { libc::preadv2(file.as_raw_fd(), &raw const into, 1, 0, flags) };
    read == 1
}

/// Denies `io_uring_setup` to the calling thread and the threads that it starts.
fn forbid() {
    const fn step(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
        let code = code as u16;
        libc::sock_filter { code, jt, jf, k }
    }
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut steps = [
        // The system call number is the first field.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            libc::SYS_io_uring_setup as u32,
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, refused),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog {
        len: steps.len() as u16,
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: plain numbers.
    assert_eq!(0, unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    });
    let mode = libc::SECCOMP_MODE_FILTER;
    // SAFETY: the filter and its steps live for the duration of the call.
    assert_eq!(0, unsafe {
        libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const filter)
    });
}

/// Concurrent reads at a shared position return consecutive bytes, also if only a part of them is
/// cached.
// Proves: N5-X-cached.
#[test]
fn a_read_is_one_piece_though_others_move_the_position() {
    const WORDS: usize = 1024;
    const PAGES: usize = 1024;
    let directory = Directory::new();
    let path = directory.at("file");
    let words = (0..(PAGES * WORDS) as u32).flat_map(u32::to_ne_bytes);
    system::write(&path, words.collect::<Vec<u8>>()).unwrap();
    let runtime = runtime();
    for _ in 0..3 {
        let file = system::File::open(&path).unwrap();
        file.sync_all().unwrap();
        for advice in [libc::POSIX_FADV_DONTNEED, libc::POSIX_FADV_RANDOM] {
            // SAFETY: a plain call on an open file.
            unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, advice) };
        }
        // Every other page is cached.
        for page in (0..PAGES).step_by(2) {
            let place = (page * WORDS * 4) as u64;
            file.read_exact_at(&mut [0; WORDS * 4], place).unwrap();
        }
        let file = File::from(file);
        let total = AtomicUsize::new(0);
        runtime.scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    let mut buffer = vec![0; 2 * WORDS * 4];
                    loop {
                        let n = (&file).read(&mut buffer).unwrap();
                        if n == 0 {
                            return;
                        }
                        assert_eq!(n % 4, 0);
                        total.fetch_add(n, Ordering::Relaxed);
                        let word = |at: &[u8]| u32::from_ne_bytes(at.try_into().unwrap());
                        let first = word(&buffer[..4]);
                        let all = buffer[..n].chunks(4).map(word);
                        assert!(all.eq(first..first + n as u32 / 4), "torn at {first}");
                    }
                });
            }
        });
        assert_eq!(total.load(Ordering::Relaxed), PAGES * WORDS * 4);
    }
}

/// A source that returns partial data returns it at once: an event counter is read as by `std`.
// Proves: N5-X-cached.
#[test]
fn a_counter_of_events_is_read_once() {
    // SAFETY: a plain call.
    let counter = unsafe { libc::eventfd(3, libc::EFD_CLOEXEC) };
    assert_ne!(counter, -1);
    // SAFETY: the descriptor was just created and has no other owner.
    let counter = unsafe { OwnedFd::from_raw_fd(counter) };
    let mut buffer = [0; 16];
    let n = runtime().run(|| File::from(counter).read(&mut buffer).unwrap());
    assert_eq!((n, &buffer[..8]), (8, &3_u64.to_ne_bytes()[..]));
}
