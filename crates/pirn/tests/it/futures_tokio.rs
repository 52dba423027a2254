//! tokio's timers, sockets and tasks on fibers, and fibers and channels in tokio's tasks.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::channel;
use pirn::dispatcher::Dispatcher;
use pirn::future::tokio::{compat, enter};
use pirn::future::{block_on, wait};
use pirn::runtime::shutdown_default;
use pirn::{Interrupt, Runtime};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;

use crate::futures_fixture::block_on_thread;
use crate::util::{LONG, apart, eventually};

/// A runtime of tokio's, and a runtime of fibers that uses it.
fn both(workers: usize) -> (tokio::runtime::Runtime, Runtime) {
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let builder = Runtime::builder().workers(workers);
    let runtime = builder.tokio(tokio.handle().clone()).build().unwrap();
    (tokio, runtime)
}

/// Echoes its input, byte by byte, and never a zero.
async fn serve(listener: TcpListener) {
    while let Ok((mut stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            let mut byte = [0];
            while stream.read_exact(&mut byte).await.is_ok() {
                if byte[0] != 0 && stream.write_all(&byte).await.is_err() {
                    break;
                }
            }
        });
    }
}

async fn ask(server: SocketAddr, byte: u8, times: usize) -> usize {
    let mut stream = TcpStream::connect(server).await.unwrap();
    let mut answers = 0;
    for _ in 0..times {
        stream.write_all(&[byte]).await.unwrap();
        let mut answer = [0];
        stream.read_exact(&mut answer).await.unwrap();
        answers += usize::from(answer[0] == byte);
    }
    answers
}

/// Many fibers communicate over tokio's sockets at once; those without an answer end by their own
/// time limit, or are cancelled.
// Proves: S10.
#[test]
fn many_fibers_use_tokios_sockets() {
    for workers in [1, 2] {
        let (tokio, runtime) = both(workers);
        let listening = tokio.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let server = listening.local_addr().unwrap();
        tokio.spawn(serve(listening));
        let answers = AtomicUsize::new(0);
        let count = 60;
        runtime.scope(|scope| {
            for i in 0..count {
                let answers = &answers;
                let handle = scope.spawn(move || match i % 3 {
                    0 => {
                        let asked = compat(ask(server, 7, 5));
                        answers.fetch_add(wait(asked).unwrap(), Ordering::SeqCst);
                    }
                    1 => {
                        let limit = Duration::from_millis(10);
                        let cut =
                            pirn::timeout(limit, || wait(compat(ask(server, 0, 1))));
                        assert!(cut.is_err());
                        let asked = compat(ask(server, 8, 3));
                        answers.fetch_add(block_on(asked), Ordering::SeqCst);
                    }
                    _ => {
                        let asked = wait(compat(ask(server, 0, 1)));
                        assert_eq!(asked, Err(Interrupt::Cancelled));
                    }
                });
                if i % 3 == 2 {
                    handle.cancel();
                }
            }
        });
        assert_eq!(answers.load(Ordering::SeqCst), count / 3 * 8);
    }
}

/// The context is set inside a poll and for the drop, on that fiber only, and nowhere else.
// Proves: S10.
#[test]
fn the_context_is_entered_for_a_poll() {
    struct Spawns(Arc<AtomicUsize>);
    impl Drop for Spawns {
        fn drop(&mut self) {
            let count = Arc::clone(&self.0);
            tokio::spawn(async move { count.fetch_add(1, Ordering::SeqCst) });
        }
    }
    let (tokio, runtime) = both(1);
    let count = Arc::new(AtomicUsize::new(0));
    let inside = || Handle::try_current().is_ok();
    runtime.scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let slept = compat(async {
                        assert!(inside());
                        tokio::time::sleep(Duration::from_millis(1)).await;
                        assert!(inside());
                    });
                    assert!(!inside());
                    wait(slept).unwrap();
                    assert!(!inside());
                }
                let spawns = Spawns(Arc::clone(&count));
                let cut = pirn::timeout(Duration::from_millis(1), || {
                    wait(compat(async move {
                        let _spawns = spawns;
                        std::future::pending::<()>().await;
                    }))
                });
                assert!(cut.is_err() && !inside());
            });
        }
    });
    eventually("they run", || count.load(Ordering::SeqCst) == 10);
    // Inside a tokio runtime, that one is used; elsewhere there is none.
    let _inside = tokio.enter();
    assert_eq!(
        block_on(compat(async { tokio::spawn(async { 7 }).await.unwrap() })),
        7
    );
    drop(_inside);
    let raised = catch_unwind(|| drop(compat(async {})));
    let panic = *raised.unwrap_err().downcast::<&str>().unwrap();
    assert!(panic.contains("Builder::tokio"), "{panic}");
}

/// A wait inside tokio's context panics, and the context is left.
// Proves: S10.
#[test]
fn a_wait_inside_the_context_panics() {
    let (_tokio, runtime) = both(1);
    runtime.run(|| {
        let raised = catch_unwind(AssertUnwindSafe(|| {
            wait(compat(async { pirn::sleep(Duration::from_secs(3600)) }))
        }));
        assert!(raised.is_err() && Handle::try_current().is_err());
        let (_never, rx) = channel::bounded::<()>(0);
        let slept = pirn::future::fiber(|| pirn::sleep(Duration::from_millis(1)));
        wait(compat(async { slept.await.unwrap().unwrap() })).unwrap();
        assert!(rx.try_recv().is_err());
    });
}

/// Tasks of tokio's send to fibers, receive from them, and wait for their ends; a time limit of
/// tokio's loses nothing.
// Proves: S11.
#[test]
fn tasks_await_fibers() {
    let (tokio, runtime) = both(2);
    let (to_fiber, at_fiber) = channel::bounded(0);
    let (to_task, at_task) = channel::bounded::<usize>(0);
    let count = 500;
    let fiber = runtime.spawn(move || {
        for value in &at_fiber {
            to_task.send(value).unwrap();
        }
        "done"
    });
    let sends = tokio.spawn(async move {
        for i in 0..count {
            to_fiber.send_async(i).await.unwrap();
        }
    });
    let received = tokio.block_on(async {
        let mut received = Vec::new();
        while received.len() < count {
            let limit = Duration::from_micros(received.len() as u64 % 3 * 100);
            if let Ok(value) = tokio::time::timeout(limit, at_task.recv_async()).await {
                received.push(value.unwrap());
            }
        }
        received
    });
    assert_eq!(received, Vec::from_iter(0..count));
    tokio.block_on(sends).unwrap();
    assert_eq!(tokio.block_on(fiber).unwrap(), "done");
}

/// Futures that are always ready make progress, though foreign code polls them on a fiber, without
/// yields between polls.
// Proves: S10.
#[test]
fn ready_futures_under_another_driver() {
    let (_tokio, runtime) = both(1);
    runtime.run(|| {
        let (tx, rx) = channel::bounded(1);
        block_on_thread(compat(async {
            for i in 0..1000 {
                tx.send_async(i).await.unwrap();
                assert_eq!(rx.recv_async().await, Ok(i));
            }
        }));
    });
}

/// The output of a future is dropped in the context, where a wait panics; afterwards the context is
/// left.
// Proves: S10-enter.
#[test]
fn the_context_is_entered_for_a_call() {
    struct Spawns(Arc<AtomicUsize>);
    impl Drop for Spawns {
        fn drop(&mut self) {
            let count = Arc::clone(&self.0);
            tokio::spawn(async move { count.fetch_add(1, Ordering::SeqCst) });
        }
    }
    let (_tokio, runtime) = both(1);
    let count = Arc::new(AtomicUsize::new(0));
    runtime.run(|| {
        let spawns = wait(compat(async { Spawns(Arc::clone(&count)) })).unwrap();
        enter(|| drop(spawns));
        assert!(Handle::try_current().is_err());
        let waits = || enter(|| pirn::sleep(Duration::from_secs(3600)));
        assert!(catch_unwind(AssertUnwindSafe(waits)).is_err());
        assert!(Handle::try_current().is_err());
        pirn::sleep(Duration::from_millis(1)).unwrap();
        // During a poll, too.
        let inner = wait(async { enter(|| Handle::try_current().is_ok()) });
        assert_eq!(inner, Ok(true));
    });
    eventually("it runs", || count.load(Ordering::SeqCst) == 1);
    assert!(catch_unwind(|| enter(|| ())).is_err());
}

/// Futures that are ready let other fibers run now and then, in the context of tokio as without it.
#[test]
fn ready_futures_yield_in_the_context() {
    let (_tokio, runtime) = both(1);
    let other_ran = runtime.run(|| {
        let other = pirn::spawn(|| ());
        let (tx, rx) = channel::bounded(1);
        let ready = compat(async {
            for i in 0..1000 {
                tx.send_async(i).await.unwrap();
                assert_eq!(rx.recv_async().await, Ok(i));
            }
            other.is_finished()
        });
        wait(ready).unwrap()
    });
    assert!(other_ran);
}

/// tokio's context is that of the default runtime on the fibers of a dispatcher, which has none.
// Proves: S10.
#[test]
fn dispatchers_use_the_default_runtimes_tokio() {
    let part = || {
        let tokio = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let builder = Runtime::builder().workers(1);
        builder.tokio(tokio.handle().clone()).install().unwrap();
        let nap = || tokio::time::sleep(Duration::from_millis(1));
        let naps = || block_on(compat(async { nap().await }));
        Dispatcher::io().run(naps);
        Dispatcher::new(1).unwrap().run(naps);
        shutdown_default(LONG).unwrap();
    };
    let name = "futures_tokio::dispatchers_use_the_default_runtimes_tokio";
    if let Some(ended) = apart(name, &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}
