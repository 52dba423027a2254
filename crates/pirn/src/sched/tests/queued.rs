//! Reads made by the system, here of pipes: each is complete when the test decides so.

use std::fs::File;
use std::io::{self, PipeWriter, Write, pipe};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use io_uring::IoUring;

use crate::base::tests::unmeasured::unmeasured;
use crate::cancel::{Token, with_deadline};
use crate::sched::worker::system::read_queued;
use crate::{Runtime, time, yield_now};

/// What the system reads into the buffer, and what the test writes there afterwards.
const THEIRS: u8 = 1;
const OURS: u8 = 2;

/// Returns a pipe to be read from as from a file, whatever the place.
fn pipe_file() -> (File, PipeWriter) {
    let (reader, writer) = pipe().expect("a pipe");
    (File::from(OwnedFd::from(reader)), writer)
}

fn runtime() -> Runtime {
    let builder = Runtime::builder().workers(1);
    builder.build().expect("a runtime")
}

/// True if this system permits no such reads at all.
fn is_refused() -> bool {
    let mut builder = IoUring::builder();
    builder.setup_single_issuer().setup_defer_taskrun();
    let ring: io::Result<IoUring> = builder.build(1);
    ring.is_err()
}

/// Returns when that many waits have begun.
fn await_parks(runtime: &Runtime, parks: u64) {
    while runtime.metrics().total.fiber_parks < parks {
        std::thread::yield_now();
    }
}

/// A fiber that waits for its bytes is delayed by none and delays none. Neither a cancellation nor
/// a deadline makes it resume before the bytes are there. When it has them, nothing writes into its
/// buffer any more.
// Proves: N5-X-queued.
#[test]
fn a_read_ends_when_it_is_complete() {
    if is_refused() {
        return unmeasured("the system refuses io_uring");
    }
    let runtime = runtime();
    let ended = AtomicBool::new(false);
    let stop = Token::new();
    let (file, mut writer) = pipe_file();
    std::thread::scope(|threads| {
        let reader = threads.spawn(|| {
            runtime.run(|| {
                let mut buffer = [0; 64];
                let soon = time::now() + Duration::from_millis(1);
                let read = || with_deadline(soon, || read_queued(&file, &mut buffer, 0));
                let n = stop.enter(read);
                ended.store(true, Ordering::SeqCst);
                assert_eq!(
                    (n, &buffer[..4]),
                    (Some(3), &[THEIRS, THEIRS, THEIRS, 0][..])
                );
                buffer.fill(OURS);
                for _ in 0..100 {
                    yield_now();
                }
                assert_eq!(buffer, [OURS; 64]);
            });
        });
        await_parks(&runtime, 1);
        stop.cancel();
        // Others have the worker meanwhile, until the deadline has passed.
        runtime.run(|| {
            let until = time::now() + Duration::from_millis(20);
            while time::now() < until {
                yield_now();
            }
        });
        assert!(!ended.load(Ordering::SeqCst));
        writer.write_all(&[THEIRS; 3]).expect("a pipe");
        reader.join().expect("it ends");
    });
}

/// As many reads as there is room for are under way at once; a further one is reported as not
/// possible.
// Proves: N5-X-queued.
#[test]
fn more_reads_than_there_is_room_for() {
    const READS: usize = 300;
    if is_refused() {
        return unmeasured("the system refuses io_uring");
    }
    let runtime = runtime();
    let (file, mut writer) = pipe_file();
    std::thread::scope(|threads| {
        let readers = threads.spawn(|| {
            runtime.scope(|scope| {
                let readers = (0..READS).map(|_| {
                    scope.spawn(|| {
                        let mut buffer = [0];
                        let n = read_queued(&file, &mut buffer, 0);
                        assert_eq!(buffer, [n.unwrap_or(0) as u8]);
                        n
                    })
                });
                let readers: Vec<_> = readers.collect();
                let read = readers
                    .into_iter()
                    .filter_map(|r| r.join().expect("it ends"));
                read.count()
            })
        });
        await_parks(&runtime, 256);
        // The others have seen that there is no room before any is made.
        runtime.run(yield_now);
        writer.write_all(&[THEIRS; READS]).expect("a pipe");
        let read = readers.join().expect("they end");
        assert!((256..=READS).contains(&read), "{read}");
    });
}

/// A runtime that ends leaves a waiting fiber to its worker, which completes it.
// Proves: N5-X-queued.
#[test]
fn a_read_outlives_its_runtime() {
    if is_refused() {
        return unmeasured("the system refuses io_uring");
    }
    let runtime = runtime();
    let (file, mut writer) = pipe_file();
    let reader = runtime.spawn(move || {
        let mut buffer = [0; 4];
        (read_queued(&file, &mut buffer, 0), buffer)
    });
    await_parks(&runtime, 1);
    let left = runtime.shutdown(Duration::from_millis(1)).unwrap_err();
    assert_eq!(left.fibers().len(), 1);
    writer.write_all(&[THEIRS; 4]).expect("a pipe");
    assert_eq!(reader.join().expect("it ends"), (Some(4), [THEIRS; 4]));
}

/// Reads that another thread completes while the worker goes to sleep, repeatedly: none is missed.
// Proves: N5-X-queued.
#[test]
fn completions_meet_the_workers_sleep() {
    if is_refused() {
        return unmeasured("the system refuses io_uring");
    }
    let rounds = 2_000;
    let runtime = runtime();
    let (there, mut to_reader) = pipe_file();
    let (back, mut to_writer) = pipe().expect("a pipe");
    std::thread::scope(|threads| {
        threads.spawn(move || {
            let mut back = back;
            for _ in 0..rounds {
                to_reader.write_all(&[THEIRS]).expect("a pipe");
                io::Read::read_exact(&mut back, &mut [0]).expect("a pipe");
            }
        });
        runtime.run(|| {
            let mut buffer = [0];
            for _ in 0..rounds {
                assert_eq!(read_queued(&there, &mut buffer, 0), Some(1));
                to_writer.write_all(&buffer).expect("a pipe");
            }
        });
    });
}
