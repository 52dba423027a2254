//! The delay of a sleeper beside fibers that hold their workers.
//!
//! A plain thread ends the measurement and the process, because the hogs never end and the
//! sleeper may never run. A sleep that is due by then and has not returned counts with its delay so
//! far. Within a long delay further sleeps fall due, and count too.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::case::{Hog, Order};
use crate::child::{Job, Latency, compute, each_due, end, fail, sample};

use super::library::{Library, join_all};

/// Prints the delay of each sleep that falls due within `job.n` milliseconds.
pub(super) async fn late<L: Library>(job: Job, (hogs, hog): (u64, Hog), order: Order) {
    let record: &'static Record = Box::leak(Box::default());
    let time = Duration::from_millis(job.n);
    let begin = || (0..hogs).map(|_| L::spawn(hold::<L>(hog, record)));
    let mut all = Vec::new();
    match order {
        Order::HogsFirst => {
            record.start(time);
            all.extend(begin());
            record.arm();
            all.push(L::spawn(sleeper::<L>(record)));
        }
        Order::HogsLast => {
            record.arm();
            all.push(L::spawn(sleeper::<L>(record)));
            L::sleep(SETTLE).await;
            record.start(time);
            all.extend(begin());
        }
    }
    join_all::<L>(all).await;
}

async fn sleeper<L: Library>(record: &'static Record) -> u64 {
    loop {
        L::sleep(SLEEP).await;
        record.woke();
        record.arm();
    }
}

/// Holds the worker for half a second at a time.
async fn hold<L: Library>(hog: Hog, record: &'static Record) -> u64 {
    loop {
        L::heavy(move || {
            record.hogs.fetch_add(1, Ordering::Relaxed);
            match hog {
                Hog::Computes => compute(PIECE),
                Hog::Blocks => thread::sleep(Duration::from_micros(PIECE)),
                Hog::Locks => {
                    let _guard = LOCK.lock().expect("no hog panics");
                    compute(PIECE);
                }
            }
        })
        .await;
        L::pause().await;
    }
}

/// The sleeps of one run.
#[derive(Debug, Default)]
struct Record {
    /// The deadline of the current sleep.
    due: AtomicU64,
    /// The delay of each sleep that fell due, in nanoseconds.
    late: Mutex<Vec<u64>>,
    /// Number of pieces that hogs have begun.
    hogs: AtomicU64,
}

impl Record {
    /// Clears the sleeps so far, and ends the process after `time`.
    fn start(&'static self, time: Duration) {
        self.late.lock().expect(SOUND).clear();
        thread::spawn(move || {
            thread::sleep(time);
            self.report()
        });
    }

    /// Records the start of a sleep.
    fn arm(&self) {
        let due = Latency::now() + PERIOD;
        self.due.store(due, Ordering::Relaxed);
    }

    /// Records the end of a sleep.
    fn woke(&self) {
        let late = Latency::now().checked_sub(self.due.load(Ordering::Relaxed));
        let Some(late) = late else {
            fail("a sleep was too short")
        };
        let all = each_due(late, PERIOD);
        self.late.lock().expect(SOUND).extend(all);
    }

    fn report(&self) -> ! {
        let mut late = self.late.lock().expect(SOUND);
        let pending = Latency::now().saturating_sub(self.due.load(Ordering::Relaxed));
        if pending > PERIOD || late.is_empty() {
            late.extend(each_due(pending, PERIOD));
        }
        if self.hogs.load(Ordering::Relaxed) == 0 {
            fail("no hog has begun");
        }
        for nanos in late.iter() {
            sample("late", *nanos as f64 / 1e3);
        }
        end()
    }
}

const SOUND: &str = "no thread panics";
/// The lock that hogs share.
static LOCK: Mutex<()> = Mutex::new(());
/// Duration of a sleep.
const SLEEP: Duration = Duration::from_millis(1);
/// The same in nanoseconds. At the end, a pending sleep with a shorter delay is an ordinary one.
const PERIOD: u64 = SLEEP.as_nanos() as u64;
/// Microseconds for which a hog holds its worker.
const PIECE: u64 = 500_000;
/// Arbitrary: the time for which the sleeper runs alone.
const SETTLE: Duration = Duration::from_millis(20);
