//! P10. What `PIRN_LOG` reports of channels, and of each change of the number of threads.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use pirn::diag::ScaleReason;
use pirn::{Runtime, channel, spawn};

use crate::util::{apart, eventually};

/// Returns the lines of a category, from the text after the worker's number or the runtime's name.
fn lines<'a>(said: &'a str, category: &str, runtime: &str) -> Vec<&'a str> {
    let starts = format!("[{category}] {runtime}");
    let line = |line: &'a str| Some(line.split_once(&starts)?.1);
    said.lines().filter_map(line).collect()
}

/// Returns the line without addresses and the numbers of fibers, which vary.
fn plain(line: &str) -> String {
    let mut words: Vec<_> = line.split(' ').collect();
    let numbered =
        |word: &str| word.contains("0x") || word.len() > 6 && word.parse::<u64>().is_ok();
    words.retain(|word| !numbered(word));
    words.join(" ")
}

/// A receiver waits and gets a value, waits and gives up, and closes the channel.
fn receive() {
    let runtime = Runtime::builder().workers(1).name("one").build().unwrap();
    runtime.run(|| {
        let (tx, rx) = channel::bounded::<u8>(0);
        let sender = spawn(move || {
            tx.send(1).unwrap();
            pirn::sleep(Duration::from_millis(20)).unwrap();
        });
        assert_eq!(rx.recv(), Ok(1));
        assert!(rx.recv_timeout(Duration::from_millis(1)).is_err());
        assert!(rx.close());
        assert!(!rx.close());
        sender.join().unwrap();
    });
}

// Proves: P10-log.
#[test]
fn each_step_in_a_channel_is_logged() {
    let name = "logs::each_step_in_a_channel_is_logged";
    let Some(ended) = apart(name, &[("PIRN_LOG", "chan")], receive) else {
        return;
    };
    let said = lines(&ended.stderr, "chan", "one-0 ");
    let steps: Vec<_> = said.iter().map(|line| plain(line)).collect();
    let expected = [
        "fiber is enqueued (Recv, channel",
        "fiber is signalled (Recv, channel",
        "fiber is dequeued (Recv, channel",
        "fiber is enqueued (Recv, channel",
        "fiber is dequeued (Recv, channel timed out",
        "fiber closes channel",
    ];
    assert_eq!(steps, expected, "{}", ended.stderr);
    let channel = |line: &&str| {
        let at = line.find("0x").expect("an address");
        let end = line[at..].find(')').map_or(line.len(), |end| at + end);
        line[at..end].to_owned()
    };
    let first = channel(&said[0]);
    assert!(said.iter().all(|line| channel(line) == first), "{said:?}");
    assert!(!ended.stderr.contains("[park]"), "{}", ended.stderr);
}

/// The other kinds of channels, and a select.
// Proves: P10-log.
#[test]
fn every_kind_of_channel_is_reported() {
    let name = "logs::every_kind_of_channel_is_reported";
    let ended = apart(name, &[("PIRN_LOG", "chan")], || {
        let runtime = Runtime::builder().workers(1).name("one").build().unwrap();
        runtime.run(|| {
            let (tx, mut rx) = channel::broadcast::channel::<u8>(1);
            let waits = spawn(move || rx.recv().is_err());
            let (value, mut seen) = channel::watch::channel(1);
            let looks = spawn(move || seen.changed().is_err());
            let (once, mut answer) = channel::oneshot::channel::<u8>();
            let asks = spawn(move || {
                let long = Duration::from_secs(60);
                let answered = answer.recv_timeout(long).is_ok();
                answer.close();
                answered
            });
            let (any_tx, any) = channel::bounded::<u8>(1);
            let chooses = spawn(move || {
                pirn::select! {
                    recv(any) -> value => value.is_ok(),
                }
            });
            // All of them wait now: this fiber has let each of them run.
            (0..8).for_each(|_| pirn::yield_now());
            drop((tx, value));
            once.send(1).unwrap();
            any_tx.send(1).unwrap();
            let all = [waits, looks, asks, chooses];
            assert!(all.into_iter().all(|fiber| fiber.join().unwrap()));
        });
    });
    let Some(ended) = ended else { return };
    assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    for kind in ["Broadcast", "Watch", "Oneshot", "Select"] {
        for step in ["enqueued", "signalled", "dequeued"] {
            let part = format!(" is {step} ({kind}");
            assert!(
                ended.stderr.contains(&part),
                "no `{part}`: {}",
                ended.stderr
            );
        }
    }
    let closed = ended.stderr.matches(" closes channel 0x").count();
    assert!(closed >= 3, "{}", ended.stderr);
}

/// A name with control characters ends no line and reaches no terminal; a long one leaves room for
/// the event.
// Proves: P10-log.
#[test]
fn names_leave_the_lines_whole() {
    let name = "logs::names_leave_the_lines_whole";
    let ended = apart(name, &[("PIRN_LOG", "park")], || {
        let runtime = Runtime::builder().workers(1).name("one").build().unwrap();
        runtime.run(|| {
            for name in ["odd\u{1b}[2J\nforged".to_owned(), "é".repeat(1_000)] {
                let sleep = || pirn::sleep(Duration::from_millis(1)).unwrap();
                let fiber = spawn::Builder::new().name(name).spawn(sleep);
                fiber.unwrap().join().unwrap();
            }
        });
    });
    let Some(ended) = ended else { return };
    let said = &ended.stderr;
    assert!(!said.contains('\u{1b}'), "{said:?}");
    assert!(
        !said.lines().any(|line| line.starts_with("forged")),
        "{said}"
    );
    let long = format!("'{}…'", "é".repeat(64));
    for name in ["'odd\\u{1b}[2J\\u{a}forged'", &long] {
        let part = format!("{name} waits (Sleep)");
        assert!(said.contains(&part), "no `{part}`: {said}");
    }
}

/// Fibers block their threads until the limit on threads is reached, and for a while longer.
fn fill() {
    let builder = Runtime::builder().workers(2).max_threads(4).name("few");
    let runtime = builder.build().unwrap();
    let count = |reason: ScaleReason| {
        let scale = runtime.metrics().scale;
        let found = scale.iter().find(|(of, _)| *of == reason);
        found.expect("every reason is counted").1
    };
    let gate = AtomicBool::new(false);
    runtime.scope(|s| {
        for _ in 0..16 {
            s.spawn(|| {
                while !gate.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(1));
                }
            });
        }
        eventually("no more threads may be started", || {
            count(ScaleReason::AtLimit) >= 5
        });
        gate.store(true, Ordering::SeqCst);
    });
    eventually("the threads go", || count(ScaleReason::Retired) >= 2);
    for (reason, times) in runtime.metrics().scale {
        // In one call, or the log may come in between.
        let line = format!("counted: {reason} {times}\n");
        io::stderr().write_all(line.as_bytes()).unwrap();
    }
}

// Proves: P10-log.
#[test]
fn each_change_of_the_number_of_threads_is_reported() {
    let name = "logs::each_change_of_the_number_of_threads_is_reported";
    let Some(ended) = apart(name, &[("PIRN_LOG", "sysmon")], fill) else {
        return;
    };
    let said = lines(&ended.stderr, "sysmon", "few: scale: ");
    let told = |reason: ScaleReason| {
        let starts = format!("{reason}, ");
        said.iter().filter(|line| line.starts_with(&starts)).count()
    };
    let counted = |reason: ScaleReason| -> usize {
        let starts = format!("counted: {reason} ");
        let times = ended
            .stderr
            .lines()
            .find_map(|line| line.strip_prefix(&starts));
        times.and_then(|times| times.parse().ok()).expect("counted")
    };
    for reason in [
        ScaleReason::Started,
        ScaleReason::Recalled,
        ScaleReason::Apart,
        ScaleReason::SentAway,
        ScaleReason::Retired,
    ] {
        assert_eq!(told(reason), counted(reason), "{reason}: {}", ended.stderr);
    }
    assert!(
        told(ScaleReason::Started) + told(ScaleReason::Apart) >= 2,
        "{said:?}"
    );
    // Not at each check of the monitor.
    let limit = told(ScaleReason::AtLimit);
    assert!(
        (1..counted(ScaleReason::AtLimit)).contains(&limit),
        "{}",
        ended.stderr
    );
    let quiet = [
        "no_work",
        "young",
        "nonpositive",
        "idle_capacity",
        "not_stuck",
    ];
    assert!(
        !said
            .iter()
            .any(|line| quiet.iter().any(|word| line.starts_with(word))),
        "{said:?}"
    );
}
