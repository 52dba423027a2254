//! Streams that are polled: by fibers, threads and foreign executors.

use std::future::poll_fn;
use std::io;
use std::net::Shutdown;
use std::panic::panic_any;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::future::join;
use futures_util::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use pirn::channel::{Receiver, Sender, bounded};
use pirn::future::{block_on, wait};
use pirn::net::{TcpStream, UnixStream};
use pirn::{Interrupt, Runtime, scope};

use crate::executor_kind::{EXECUTOR_KINDS, ExecutorKind, Jobs, runtime};
use crate::futures_fixture::{Tasks, Wakes, block_on_thread, poll_once};
use crate::sockets_util::connection;
use crate::util::{eventually, on_every_shape, scaled};

async fn echo(stream: impl AsyncRead + AsyncWrite) -> io::Result<u64> {
    let mut stream = pin!(stream);
    let mut buffer = [0; 1_024];
    let mut total = 0;
    loop {
        let n = stream.read(&mut buffer).await?;
        if n == 0 {
            stream.close().await?;
            return Ok(total);
        }
        stream.write_all(&buffer[..n]).await?;
        total += n as u64;
    }
}

/// Sends `rounds` messages and reads each of them back, then the end.
async fn converse(stream: impl AsyncRead + AsyncWrite, seed: usize, rounds: usize) {
    let mut stream = pin!(stream);
    for round in 0..rounds {
        let sent: Vec<u8> = (0..1 + (seed * 31 + round * 7) % 3_000)
            .map(|i| (seed + round + i) as u8)
            .collect();
        let mut back = vec![0; sent.len()];
        stream.write_all(&sent).await.unwrap();
        stream.read_exact(&mut back).await.unwrap();
        assert!(back == sent, "the message came back changed");
    }
    stream.close().await.unwrap();
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
}

/// Writes as a fiber or thread does.
fn put(mut stream: &TcpStream, bytes: &[u8]) {
    io::Write::write_all(&mut stream, bytes).unwrap();
}

/// Every byte is echoed, in order, with any kind of poller.
// Proves: N5-X-polled.
#[test]
fn polled_streams_carry_everything() {
    on_every_shape(|runtime| {
        runtime.scope(|scope| {
            for seed in 0..scaled(20).max(4) {
                let (one, other) = connection();
                scope.spawn(move || wait(echo(&one)).unwrap().unwrap());
                scope.spawn(move || wait(converse(other, seed, 20)).unwrap());
            }
        });
    });
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for seed in 0..6 {
            let (one, other) = UnixStream::pair().unwrap();
            jobs.add(move || assert!(block_on(echo(one)).unwrap() > 0));
            jobs.add(move || match executor {
                ExecutorKind::Threads => block_on_thread(converse(&other, seed, 20)),
                ExecutorKind::Fibers | ExecutorKind::Mixed => {
                    block_on(converse(&other, seed, 20));
                }
            });
        }
        jobs.run(executor, 2);
    }
}

/// Tasks of a foreign executor, with threads that are not ours, beside fibers that wait.
// Proves: N5-X-polled.
#[test]
#[expect(clippy::disallowed_methods, reason = "the threads of another executor")]
fn other_executors_poll() {
    let tasks = Arc::new(Tasks::default());
    let runtime = runtime(2);
    runtime.scope(|scope| {
        for seed in 0..8 {
            let (one, other) = connection();
            tasks.spawn(async move {
                let _ = echo(&one).await.unwrap();
            });
            scope.spawn(move || match seed % 2 {
                0 => wait(converse(other, seed, 20)).unwrap(),
                _ => {
                    crate::sockets_util::converse(&other, seed, 20);
                    other.shutdown(Shutdown::Write).unwrap();
                }
            });
        }
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| tasks.run());
            }
        });
    });
}

/// Both directions of one stream in one task, each with more data than the system's buffers hold.
// Proves: N5-X-polled.
#[test]
fn both_directions_are_polled_at_once() {
    const SIZE: usize = scaled(3_000_000);
    let fill = |seed: usize| (0..SIZE).map(|i| (i * 7 + seed) as u8).collect::<Vec<_>>();
    let both = |stream: TcpStream, seed: usize| async move {
        let (mut reader, mut writer) = (&stream, &stream);
        let (sent, mut got) = (fill(seed), vec![0; SIZE]);
        let write = async { writer.write_all(&sent).await };
        let read = async { reader.read_exact(&mut got).await };
        let (written, read) = join(write, read).await;
        written.unwrap();
        read.unwrap();
        assert!(got == fill(1 - seed), "the bytes came changed");
    };
    on_every_shape(|runtime| {
        let (one, other) = connection();
        runtime.scope(|scope| {
            scope.spawn(|| wait(both(one, 0)).unwrap());
            scope.spawn(|| wait(both(other, 1)).unwrap());
        });
    });
}

/// A wait for a future is interrupted at the same points as a wait for a socket, and no data is
/// lost by it.
// Proves: N5-X-polled.
#[test]
fn polled_waits_are_cut() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            let (one, other) = connection();
            let cut = pirn::timeout(Duration::from_millis(5), || {
                wait((&one).read(&mut [0; 8])).map(drop)
            });
            assert!(cut.is_err());
            let reads = AtomicBool::new(false);
            scope::supervise(|s| {
                let reader = s.spawn(|| {
                    reads.store(true, Ordering::SeqCst);
                    wait((&one).read(&mut [0; 8])).map(drop)
                });
                while !reads.load(Ordering::SeqCst) {
                    pirn::yield_now();
                }
                reader.cancel();
                assert_eq!(reader.join().unwrap(), Err(Interrupt::Cancelled));
            });
            put(&other, b"all of it");
            let mut got = [0; 9];
            wait((&one).read_exact(&mut got)).unwrap().unwrap();
            assert_eq!(&got, b"all of it");
        });
    });
}

/// A task that has polled on a worker resumes elsewhere: on a thread, on another runtime, and when
/// the worker has ended.
// Proves: N5-X-polled.
#[test]
fn a_poll_is_taken_up_elsewhere() {
    let runtimes = [runtime(1), runtime(2)];
    let (one, other) = connection();
    let mut buffer = [0; 4];
    let mut reader = &one;
    let mut read = pin!(reader.read_exact(&mut buffer));
    for runtime in runtimes {
        runtime.run(|| {
            // Its poller has the stream registered now.
            wait(poll_fn(|context| {
                Poll::Ready(read.as_mut().poll(context).is_pending())
            }))
            .map(|pending| assert!(pending))
            .unwrap();
        });
        drop(runtime);
        let wakes = Arc::new(Wakes::default());
        assert!(poll_once(read.as_mut(), &wakes).is_pending());
        put(&other, &[7]);
        eventually("the thread's task is woken", || wakes.count() == 1);
    }
    put(&other, &[7; 2]);
    block_on(read).unwrap();
    assert_eq!(buffer, [7; 4]);
}

/// A waker that panics affects no other waiter of the same stream, nor the worker.
// Proves: N5-X-polled.
#[test]
fn a_waker_that_panics_harms_no_other() {
    struct Panics(AtomicUsize);
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
            panic!("a waker of the test's panics");
        }
    }
    let panics = Arc::new(Panics(AtomicUsize::new(0)));
    runtime(1).run(|| {
        let (one, other) = connection();
        let waker = Waker::from(Arc::clone(&panics));
        let mut buffer = [0];
        let polled =
            Pin::new(&mut &one).poll_read(&mut Context::from_waker(&waker), &mut buffer);
        assert!(polled.is_pending());
        scope(|s| {
            s.spawn(|| io::Read::read_exact(&mut &one, &mut [0]).unwrap());
            s.spawn(|| put(&other, &[1]));
        });
    });
    assert_eq!(panics.0.load(Ordering::SeqCst), 1);
}

/// A waker that would have to wait does not block the worker that calls it: it panics, as inside a
/// poll.
// Proves: N5-X-polled.
#[test]
fn a_waker_that_waits_holds_up_no_other() {
    struct Sends(Sender<()>, AtomicUsize);
    impl Wake for Sends {
        fn wake(self: Arc<Self>) {
            self.1.fetch_add(1, Ordering::SeqCst);
            // No fiber receives before the worker continues.
            let _ = self.0.send(());
        }
    }
    runtime(1).run(|| {
        let (tx, rx) = bounded(0);
        let sends = Arc::new(Sends(tx, AtomicUsize::new(0)));
        let (one, other) = connection();
        let waker = Waker::from(Arc::clone(&sends));
        let context = &mut Context::from_waker(&waker);
        assert!(
            Pin::new(&mut &one)
                .poll_read(context, &mut [0])
                .is_pending()
        );
        put(&other, &[1]);
        // The worker fetches its event, meanwhile.
        io::Read::read_exact(&mut &one, &mut [0]).unwrap();
        while sends.1.load(Ordering::SeqCst) == 0 {
            pirn::yield_now();
        }
        assert!(rx.try_recv().is_err());
    });
}

/// The same while a fiber of the thread is suspended amid a panic.
// Proves: N5-X-polled.
#[test]
fn a_waker_that_waits_beside_a_panic_holds_up_no_other() {
    struct Gate(Receiver<()>);
    impl Drop for Gate {
        fn drop(&mut self) {
            let _ = self.0.recv();
        }
    }
    struct Sends(Sender<()>, Receiver<()>);
    impl Wake for Sends {
        fn wake(self: Arc<Self>) {
            // The refusal does not refuse what its destructors wait for.
            let _gate = Gate(self.1.clone());
            let _ = self.0.send(());
        }
    }
    let runtime = Runtime::builder().workers(1).max_threads(1).build();
    runtime.unwrap().run(|| {
        let (tx, _rx) = bounded(0);
        let (go, gate) = bounded::<()>(1);
        let (open, opens) = bounded::<()>(1);
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            open.send(()).unwrap();
        });
        let (one, other) = connection();
        let waker = Waker::from(Arc::new(Sends(tx, opens)));
        let context = &mut Context::from_waker(&waker);
        let polled = Pin::new(&mut &one).poll_read(context, &mut [0]);
        assert!(polled.is_pending());
        let panics = pirn::spawn(move || {
            let _gate = Gate(gate);
            panic_any("amid a panic");
        });
        pirn::yield_now();
        put(&other, &[1]);
        pirn::sleep(Duration::from_millis(100)).unwrap();
        go.send(()).unwrap();
        assert!(panics.join().is_err());
    });
}

/// A waker with a panicking drop leaves its source usable.
// Proves: N5-X-polled.
#[test]
fn a_waker_that_panics_when_dropped_harms_no_other() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("a waker of the test's panics");
        }
    }
    let (one, _other) = connection();
    let waker = Waker::from(Arc::new(Panics));
    let context = &mut Context::from_waker(&waker);
    assert!(
        Pin::new(&mut &one)
            .poll_read(context, &mut [0])
            .is_pending()
    );
    // The stream holds the last one.
    drop(waker);
    drop(one);
    let (one, other) = connection();
    put(&other, &[1]);
    assert_eq!(block_on((&one).read(&mut [0])).unwrap(), 1);
}

/// The last task that polls a direction is the one that is woken.
// Proves: N5-X-polled.
#[test]
fn the_last_task_is_woken() {
    let (one, other) = connection();
    let wakes = [(); 3].map(|()| Arc::new(Wakes::default()));
    for wake in &wakes {
        for _ in 0..3 {
            let waker = Waker::from(Arc::clone(wake));
            let context = &mut Context::from_waker(&waker);
            assert!(
                Pin::new(&mut &one)
                    .poll_read(context, &mut [0])
                    .is_pending()
            );
        }
    }
    put(&other, &[1]);
    eventually("the last one is woken", || wakes[2].count() == 1);
    assert_eq!([wakes[0].count(), wakes[1].count()], [0, 0]);
    // No task that has stopped waiting is kept alive.
    drop((one, other));
    eventually("no task is held", || {
        wakes.iter().all(|wake| Arc::strong_count(wake) == 1)
    });
}

/// The end, and errors, are results, not waits.
// Proves: N5-X-polled.
#[test]
fn ends_and_errors_are_polled() {
    runtime(1).run(|| {
        let (one, other) = connection();
        drop(other);
        assert_eq!(wait((&one).read(&mut [0])).unwrap().unwrap(), 0);
        let broken = wait(async {
            loop {
                if let Err(error) = (&one).write_all(&[0; 1_024]).await {
                    return error.kind();
                }
            }
        });
        let kinds = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];
        assert!(kinds.contains(&broken.unwrap()), "{broken:?}");
        wait((&one).close()).unwrap().unwrap();
    });
}
