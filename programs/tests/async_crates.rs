//! Crates with their own wakers, used unchanged from fibers; and one that blocks, beside them.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;
mod pooled;
mod site;

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use async_io::{Async, Timer};
use futures::future::join_all;
use futures::stream::unfold;
use futures::{AsyncReadExt as _, AsyncWriteExt as _, SinkExt as _, StreamExt as _};
use http_body_util::{BodyExt as _, Empty};
use hyper::Uri;
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use pirn::channel::{bounded, broadcast};
use pirn::future::hyper::{Executor, Timer as HyperTimer};
use pirn::future::{fiber, wait};

use site::Site;

// Proves: S16.
#[test]
fn combinators_of_futures() {
    let squares = pirn::run(|| {
        // Each on a fiber of its own, all awaited at once.
        let squares = (1..=100_u32).map(|n| fiber(move || n * n));
        wait(join_all(squares))
    });
    let squares: Vec<u32> = squares.unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(squares, Vec::from_iter((1..=100).map(|n| n * n)));
    let first = pirn::run(|| {
        let (tx, rx) = bounded(0);
        pirn::spawn(move || tx.send("sent"));
        wait(async {
            let never = futures::future::pending::<()>();
            futures::select_biased! {
                () = futures::FutureExt::fuse(never) => "never",
                sent = futures::FutureExt::fuse(rx.recv_async()) => sent.unwrap(),
            }
        })
    });
    assert_eq!(first, Ok("sent"));
}

// Proves: S16.
#[test]
fn streams_and_channels_of_futures() {
    let (mut to_fiber, mut at_fiber) = futures::channel::mpsc::channel::<u64>(4);
    let (tx, rx) = bounded(4);
    pirn::scope(|scope| {
        scope.spawn(move || {
            (1..=1000).for_each(|n| wait(to_fiber.send(n)).unwrap().unwrap());
        });
        scope.spawn(move || {
            while let Some(n) = wait(at_fiber.next()).unwrap() {
                tx.send(n).unwrap();
            }
        });
        let sum = scope.spawn(move || {
            // A pirn channel through combinators of `futures`; eight fibers at a time.
            let doubled = rx
                .into_stream()
                .map(|n| fiber(move || n * 2))
                .buffer_unordered(8);
            wait(doubled.fold(0, async |sum, n| sum + n.unwrap()))
        });
        assert_eq!(sum.join().unwrap(), Ok(1000 * 1001));
    });
    // Other kinds of channels, by their futures.
    let (tx, rx) = broadcast::channel(3);
    (1..=3).for_each(|n| _ = tx.send(n));
    drop(tx);
    let values = unfold(rx, async |mut rx| match rx.recv_async().await {
        Err(broadcast::RecvError::Disconnected) => None,
        received => Some((received, rx)),
    });
    let values: Vec<_> = pirn::run(|| wait(values.collect())).unwrap();
    assert_eq!(values, [Ok(1), Ok(2), Ok(3)]);
}

// Proves: S16.
#[test]
fn channels_of_async_channel() {
    let (tx, rx) = async_channel::bounded(2);
    let count = 1000_u64;
    let sums = pirn::scope(|scope| {
        for _ in 0..4 {
            let tx = tx.clone();
            scope.spawn(move || {
                (1..=count).for_each(|n| wait(tx.send(n)).unwrap().unwrap());
            });
        }
        drop(tx);
        let receivers = [0, 1, 2].map(|_| {
            let rx = rx.clone();
            scope.spawn(move || {
                let mut sum = 0;
                while let Ok(n) = wait(rx.recv()).unwrap() {
                    sum += n;
                }
                sum
            })
        });
        receivers.map(|receiver| receiver.join().unwrap())
    });
    assert_eq!(sums.iter().sum::<u64>(), 4 * count * (count + 1) / 2);
}

/// Echoes on each connection, on a fiber, through async-io.
fn echo(listener: Async<TcpListener>) -> io::Result<()> {
    let (mut stream, _) = wait(listener.accept())??;
    let mut bytes = [0; 1024];
    loop {
        match wait(stream.read(&mut bytes))?? {
            0 => return Ok(()),
            read => wait(stream.write_all(&bytes[..read]))??,
        }
    }
}

// Proves: S16.
#[test]
fn sockets_and_timers_of_async_io() {
    pirn::run(|| -> io::Result<()> {
        let listener = Async::<TcpListener>::bind(([127, 0, 0, 1], 0))?;
        let address = listener.get_ref().local_addr()?;
        let server = pirn::spawn(move || echo(listener));
        let mut stream = wait(Async::<TcpStream>::connect(address))??;
        for n in 0..100_u8 {
            let sent = [n; 700];
            wait(stream.write_all(&sent))??;
            let mut answer = [0; 700];
            wait(stream.read_exact(&mut answer))??;
            assert_eq!(answer, sent);
        }
        drop(stream);
        server.join().unwrap()?;
        wait(Timer::after(Duration::from_millis(1)))?;
        let hour = || wait(Timer::after(Duration::from_secs(3600)));
        assert!(pirn::timeout(Duration::from_millis(1), hour).is_err());
        Ok(())
    })
    .unwrap();
}

/// The pooled client of `hyper-util`, without tokio. Its connections end with it.
// Proves: S16.
#[test]
fn a_pooled_client_of_hyper_util() {
    let site = Site::open();
    let page: Uri = site.page("bytes/70000").parse().unwrap();
    pirn::run(|| {
        let client = Client::builder(Executor)
            .pool_timer(HyperTimer)
            .build::<_, Empty<Bytes>>(pooled::Connector);
        for _ in 0..3 {
            let body = wait(async {
                let answer = client.get(page.clone()).await.unwrap();
                answer.into_body().collect().await.unwrap().to_bytes()
            });
            assert_eq!(body.unwrap(), site::bytes(70_000));
        }
        assert!(site.connections() > 0);
        drop(client);
        while site.connections() > 0 {
            pirn::yield_now();
        }
    });
}

/// Without a tokio runtime.
// Proves: S16.
#[test]
fn locks_and_channels_of_tokio() {
    let count = Arc::new(tokio::sync::Mutex::new(0));
    let permits = Arc::new(tokio::sync::Semaphore::new(2));
    let (tx, mut rx) = tokio::sync::mpsc::channel(3);
    pirn::scope(|scope| {
        for _ in 0..8 {
            let (count, permits, tx) = (&count, &permits, tx.clone());
            scope.spawn(move || {
                for n in 0..50 {
                    let _permit = wait(permits.acquire()).unwrap().unwrap();
                    let mut count = wait(count.lock()).unwrap();
                    // It is held over waits of fibers.
                    pirn::yield_now();
                    *count += 1;
                    drop(count);
                    wait(tx.send(n)).unwrap().unwrap();
                }
            });
        }
        drop(tx);
        let mut received = 0;
        while wait(rx.recv()).unwrap().is_some() {
            received += 1;
        }
        assert_eq!(received, 400);
    });
    assert_eq!(*wait(count.lock()).unwrap(), 400);
}

// Proves: S16.
#[test]
fn a_client_that_blocks() {
    let site = Site::open();
    let pages =
        ["one", "two", "three"].map(|word| (word, site.page(&format!("say/{word}"))));
    pirn::scope(|scope| {
        for (word, page) in &pages {
            scope.spawn(move || {
                // On a thread of `blocking`; fibers run meanwhile.
                let said = pirn::blocking(|| {
                    let client =
                        reqwest::blocking::Client::builder().no_proxy().build()?;
                    client.get(page).send()?.text()
                });
                assert_eq!(said.unwrap(), *word);
            });
        }
    });
}
