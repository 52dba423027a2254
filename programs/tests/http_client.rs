//! reqwest, unchanged, from fibers, against a site on fibers.
#![allow(clippy::disallowed_methods, reason = "the tests are plain threads")]

mod peers;
mod site;

use std::time::{Duration, Instant};

use pirn::future::{tokio::compat, wait};
use pirn::{Interrupt, Runtime};
use reqwest::{Client, Response};

use peers::LIMIT;
use site::{Site, bytes};

/// Waits for a future of reqwest.
fn http<T>(work: impl Future<Output = reqwest::Result<T>>) -> anyhow::Result<T> {
    Ok(wait(compat(work))??)
}

/// Requests a page; reqwest creates its tokio objects when it is polled, here.
fn get(client: &Client, page: &str) -> anyhow::Result<Response> {
    http(async { client.get(page).send().await })
}

fn text(client: &Client, page: &str) -> anyhow::Result<String> {
    http(async { client.get(page).send().await?.text().await })
}

/// Runs `test` on a fiber with a client and a site.
fn on_fibers(test: impl FnOnce(&Client, &Site) -> anyhow::Result<()> + Send) {
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let builder = Runtime::builder().workers(2).tokio(tokio.handle().clone());
    let runtime = builder.build().unwrap();
    let client = Client::builder().no_proxy().build().unwrap();
    let site = Site::open();
    let tested = runtime.run(|| {
        test(&client, &site)?;
        // It keeps some connections for reuse.
        drop(client);
        eventually("all connections end", || site.connections() == 0)
    });
    tested.unwrap();
}

fn eventually(what: &str, mut condition: impl FnMut() -> bool) -> anyhow::Result<()> {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LIMIT, "not within {LIMIT:?}: {what}");
        pirn::sleep(Duration::from_millis(1))?;
    }
    Ok(())
}

/// Returns reqwest's description of a failure.
fn failure(error: &anyhow::Error) -> &reqwest::Error {
    error.downcast_ref().expect("an error of reqwest's")
}

// Proves: S15.
#[test]
fn many_fibers_ask_at_once() {
    on_fibers(|client, site| {
        pirn::try_scope(|scope| {
            for fiber in 0..50 {
                scope.spawn(move || -> anyhow::Result<()> {
                    for i in 0..20 {
                        let word = format!("{fiber}-{i}");
                        let page = site.page(&format!("say/{word}"));
                        assert_eq!(text(client, &page)?, word);
                    }
                    Ok(())
                });
            }
            Ok(())
        })
    });
}

// Proves: S15.
#[test]
fn big_bodies_go_both_ways() {
    on_fibers(|client, site| {
        let count = 16 << 20;
        let mut response = get(client, &site.page(&format!("bytes/{count}")))?;
        let mut received = Vec::new();
        // A fiber may wait between two parts of a body.
        while let Some(part) = http(response.chunk())? {
            received.extend_from_slice(&part);
            pirn::spawn::checkpoint()?;
        }
        assert!(received == bytes(count), "not what was sent");
        let sent = client.post(site.page("same")).body(received.clone());
        let same = http(async { sent.send().await?.bytes().await })?;
        assert!(same == received, "not what was sent");
        Ok(())
    });
}

// Proves: S15.
#[test]
fn limits_end_requests_and_connections() {
    on_fibers(|client, site| {
        let (never, half) = (site.page("never"), site.page("half"));
        pirn::scope(|scope| {
            for i in 0..30 {
                let (never, half) = (&never, &half);
                let limit = Duration::from_millis(10 + i % 7);
                scope.spawn(move || match i % 3 {
                    0 => assert!(pirn::timeout(limit, || text(client, never)).is_err()),
                    1 => assert!(pirn::timeout(limit, || text(client, half)).is_err()),
                    _ => {
                        let own = client.get(never).timeout(limit);
                        let cut = http(async { own.send().await }).unwrap_err();
                        assert!(failure(&cut).is_timeout(), "{cut:?}");
                    }
                });
            }
        });
        let page = site.page("never");
        let cancelled = pirn::scope(|scope| {
            let asks = scope.spawn(|| text(client, &page));
            pirn::sleep(Duration::from_millis(20)).unwrap();
            asks.cancel();
            asks.join()
        });
        if let Ok(ended) = cancelled {
            let error = ended.unwrap_err();
            assert_eq!(Interrupt::of(error.as_ref()), Some(Interrupt::Cancelled));
        }
        assert_eq!(text(client, &site.page("say/still-here"))?, "still-here");
        Ok(())
    });
}

// Proves: S15.
#[test]
fn a_client_cut_amid_a_body_leaves_the_site() {
    on_fibers(|client, site| {
        for _ in 0..10 {
            let mut response = get(client, &site.page("half"))?;
            let mut received = Vec::new();
            while received.len() < 500 {
                let part = http(response.chunk())?.expect("half of it");
                received.extend_from_slice(&part);
            }
            let limit = Duration::from_millis(2);
            assert!(pirn::timeout(limit, || http(response.chunk())).is_err());
            assert_eq!(received, bytes(500));
            drop(response);
            eventually("the site sees it leave", || site.connections() == 0)?;
        }
        assert_eq!(text(client, &site.page("say/still-here"))?, "still-here");
        Ok(())
    });
}

// Proves: S15.
#[test]
fn failures_are_reported() {
    on_fibers(|client, site| {
        let mut response = get(client, &site.page("cut"))?;
        let error = loop {
            match http(response.chunk()) {
                Ok(part) => assert!(part.is_some(), "it ends as if it were whole"),
                Err(error) => break error,
            }
        };
        let told = failure(&error);
        assert!(told.is_body() || told.is_decode(), "{error:?}");
        // The listener has just closed.
        let gone = pirn::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let error = text(client, &format!("http://{gone}/")).unwrap_err();
        assert!(failure(&error).is_connect(), "{error:?}");
        assert_eq!(text(client, &site.page("say/still-here"))?, "still-here");
        Ok(())
    });
}
