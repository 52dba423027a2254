//! With the feature `tracing`: a span follows its own fiber, and no other; counters as events.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pirn::Interrupt;
use pirn::channel;
use pirn::diag::{Counters, in_span};
use pirn::runtime::Handle;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Span, Subscriber, info, info_span};

use crate::util::{eventually, on_every_shape, scaled, shaped};

thread_local! {
    /// The spans that this thread is in, innermost last.
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Checks that every thread keeps stack order, and every event is in the span that it names.
#[derive(Default)]
struct Judge {
    ids: AtomicU64,
    events: AtomicU64,
    wrong: Mutex<Vec<String>>,
    /// The sums of the fields that a layer for OpenTelemetry adds up.
    sums: Mutex<BTreeMap<&'static str, u64>>,
    /// Panics at the next exits, as many times.
    tired: AtomicU64,
}

impl Judge {
    fn say(&self, what: String) {
        self.wrong.lock().unwrap().push(what);
    }
}

#[derive(Clone, Default)]
struct Court(Arc<Judge>);

/// The number in the field `inside` of an event, and its counters.
struct Claimed(Option<u64>, Vec<(&'static str, u64)>);

impl Visit for Claimed {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "inside" {
            self.0 = Some(value);
        }
        if let Some(name) = field.name().strip_prefix("monotonic_counter.") {
            self.1.push((name, value));
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

impl Subscriber for Court {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(self.0.ids.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut claimed = Claimed(None, Vec::new());
        event.record(&mut claimed);
        for (name, value) in claimed.1 {
            *self.0.sums.lock().unwrap().entry(name).or_default() += value;
        }
        let top = ENTERED.with_borrow(|stack| stack.last().copied());
        if claimed.0.filter(|id| *id > 0) != top {
            self.0
                .say(format!("an event in {:?} came in {top:?}", claimed.0));
        }
        self.0.events.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, span: &Id) {
        ENTERED.with_borrow_mut(|stack| stack.push(span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        let top = ENTERED.with_borrow_mut(Vec::pop);
        if top != Some(span.into_u64()) {
            self.0
                .say(format!("{span:?} is left, and {top:?} was on top"));
        }
        let tired = &self.0.tired;
        let less = |n: u64| n.checked_sub(1);
        if tired
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
        {
            panic!("the subscriber has had enough");
        }
    }
}

fn id(span: &Span) -> u64 {
    span.id().map_or(0, |id| id.into_u64())
}

/// One judge for the process: fibers on every worker use it.
fn judge() -> Arc<Judge> {
    static COURT: std::sync::OnceLock<Court> = std::sync::OnceLock::new();
    let court = COURT.get_or_init(|| {
        let court = Court::default();
        tracing::subscriber::set_global_default(court.clone()).expect("the first");
        court
    });
    Arc::clone(&court.0)
}

/// Fibers in spans, in spans within spans, and in none alternate on the same threads, by yields,
/// waits and sleeps: each event is in its span, and each thread's stack in order.
#[test]
fn a_span_goes_with_its_fiber() {
    let judge = judge();
    on_every_shape(|runtime| {
        let (tx, rx) = channel::bounded(1);
        runtime.scope(|s| {
            for n in 0..scaled(60) as u64 {
                let (tx, rx) = (tx.clone(), rx.clone());
                s.spawn(move || {
                    let outer = info_span!("outer", n);
                    info!(inside = 0_u64);
                    in_span(&outer, || {
                        info!(inside = id(&outer));
                        pirn::yield_now();
                        info!(inside = id(&outer));
                        let inner = info_span!("inner", n);
                        in_span(&inner, || {
                            tx.send(n).unwrap();
                            info!(inside = id(&inner));
                            rx.recv().unwrap();
                            info!(inside = id(&inner));
                        });
                        pirn::sleep(Duration::from_micros(n % 7 * 50)).unwrap();
                        info!(inside = id(&outer));
                    });
                    pirn::yield_now();
                    info!(inside = 0_u64);
                });
            }
        });
    });
    assert_eq!(*judge.wrong.lock().unwrap(), [""; 0]);
    assert!(judge.events.load(Ordering::Relaxed) > 0);
}

/// A panic ends the spans that it unwinds, and the thread can enter a span afterwards.
#[test]
fn a_panic_leaves_its_spans() {
    let judge = judge();
    let runtime = shaped(1, pirn::runtime::Scheduler::WorkStealing);
    let failed = runtime.spawn(|| {
        in_span(&info_span!("doomed"), || {
            pirn::yield_now();
            panic!("on purpose");
        })
    });
    assert!(failed.join().is_err());
    runtime.run(|| info!(inside = 0_u64));
    let span = info_span!("thread");
    in_span(&span, || info!(inside = id(&span)));
    info!(inside = 0_u64);
    assert_eq!(*judge.wrong.lock().unwrap(), [""; 0]);
}

/// A subscriber that panics while a fiber parks does not break the wait.
#[test]
fn a_panic_of_the_subscriber_goes_no_further() {
    // Its own process, by the name of the test: the judge's stack is unreliable afterwards.
    let name = "spans::a_panic_of_the_subscriber_goes_no_further";
    let ended = crate::util::apart(name, &[], || {
        let judge = judge();
        let runtime = shaped(1, pirn::runtime::Scheduler::WorkStealing);
        let sum = runtime.run(|| {
            let (tx, rx) = channel::bounded(0);
            let judge = Arc::clone(&judge);
            let reader = pirn::spawn(move || {
                in_span(&info_span!("tired"), || {
                    judge.tired.store(2, Ordering::Relaxed);
                    rx.iter().sum::<u64>()
                })
            });
            (1..=10).for_each(|n| tx.send(n).unwrap());
            drop(tx);
            reader.join().unwrap()
        });
        assert_eq!(sum, 55);
        assert_eq!(judge.tired.load(Ordering::Relaxed), 0);
        assert_eq!(runtime.metrics().total.rescues, 0);
        std::process::exit(7);
    });
    let Some(ended) = ended else { return };
    assert_eq!(ended.status.code(), Some(7), "{}", ended.stderr);
}

/// As in the guide: the counters of a runtime as events, which layers add up.
fn send_counters(period: Duration) -> Result<(), Interrupt> {
    let handle = Handle::current();
    let mut before = Counters::default();
    loop {
        pirn::sleep(period)?;
        let now = handle.metrics().total;
        info!(
            monotonic_counter.pirn_spawned = now.spawned - before.spawned,
            monotonic_counter.pirn_completed = now.completed - before.completed,
        );
        before = now;
    }
}

/// A subscriber finds the counters under their names; the sums are those of the runtime.
#[test]
fn counters_are_sent_as_events() {
    let judge = judge();
    let runtime = shaped(1, pirn::runtime::Scheduler::WorkStealing);
    let sender = runtime.spawn(|| send_counters(Duration::from_millis(1)));
    for _ in 0..10 {
        runtime.spawn(|| ()).join().unwrap();
    }
    let sum = |name: &str| judge.sums.lock().unwrap().get(name).copied();
    eventually("the counters are sent", || {
        sum("pirn_spawned") == Some(11) && sum("pirn_completed") == Some(10)
    });
    sender.cancel();
    assert_eq!(sender.join().unwrap(), Err(Interrupt::Cancelled));
    assert_eq!(*judge.wrong.lock().unwrap(), [""; 0]);
}
