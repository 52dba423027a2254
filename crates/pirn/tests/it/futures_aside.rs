//! Polls run on a stack of their worker's, beside the frames of the waiting fiber.

use std::backtrace::Backtrace;
use std::future::{poll_fn, ready};
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use pirn::channel::{Receiver, bounded};
use pirn::future::{block_on, wait};
use pirn::spawn::Builder;
use pirn::sync::Event;
use pirn::{Runtime, yield_now};

use crate::executor_kind::runtime;
use crate::futures_fixture::{Gate, give_way};
use crate::util::{apart, eventually, scaled};

/// Whether this build has such a stack; otherwise polls run on the fiber's stack.
const BESIDE: bool = cfg!(all(target_arch = "x86_64", not(feature = "corosensei")));

const KIB: usize = 1 << 10;

/// Uses `bytes` of stack, a page at a time, and checks that they stay unchanged.
fn deep(bytes: usize) -> u8 {
    let mut frame = black_box([0_u8; 4 * KIB]);
    if bytes > frame.len() {
        frame[bytes % (4 * KIB)] = deep(bytes - frame.len()).wrapping_add(1);
    }
    black_box(&frame)[bytes % (4 * KIB)]
}

/// The address of the caller's frames. A sanitizer may keep variables elsewhere.
#[inline(never)]
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "reads a register")]
fn here() -> usize {
    let here: usize;
    // SAFETY: only reads a register.
    unsafe { std::arch::asm!("mov {}, rsp", out(reg) here) };
    here
}

/// The address of the caller's frames.
#[inline(never)]
#[cfg(not(target_arch = "x86_64"))]
fn here() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(black_box(&here)).addr()
}

/// A worker that may, now and then, run fibers of another one.
#[expect(
    unsafe_code,
    reason = "what is kept here over a wait is fit for any thread"
)]
fn free(workers: usize) -> Runtime {
    let builder = Runtime::builder().workers(workers);
    // SAFETY: see the reason.
    unsafe { builder.free_migration() }.build().unwrap()
}

/// The polls of all fibers of a worker run at one place, which is on no fiber's stack.
// Proves: S3-aside.
#[test]
fn the_polls_of_a_worker_have_one_place() {
    const FIBERS: usize = 50;
    let runtime = runtime(1);
    let gate = Event::manual();
    let places = |gate: &Event| {
        let own = here();
        let mut polls = vec![];
        let mut left = 3;
        wait(poll_fn(|context| {
            polls.push(here());
            left -= 1;
            context.waker().wake_by_ref();
            if left == 0 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }))
        .unwrap();
        gate.wait().unwrap();
        (own, polls)
    };
    let (own, polls): (Vec<_>, Vec<_>) = runtime.run(|| {
        pirn::scope(|scope| {
            let fibers: Vec<_> =
                (0..FIBERS).map(|_| scope.spawn(|| places(&gate))).collect();
            gate.set();
            fibers.into_iter().map(|f| f.join().unwrap()).unzip()
        })
    });
    if BESIDE {
        let polls: Vec<_> = polls.concat();
        let (least, most) = (polls.iter().min().unwrap(), polls.iter().max().unwrap());
        assert!(most - least < 16 * KIB, "{polls:x?}");
        assert!(
            own.iter().all(|own| own.abs_diff(*least) > 16 * KIB),
            "{own:x?}"
        );
    }
}

/// A fiber with a large requested stack has it in its polls, too.
// Proves: S3-aside.
#[test]
fn a_stack_of_its_own_size_serves_for_polls() {
    let runtime = runtime(1);
    runtime.run(|| {
        // The stack for polls exists by now.
        wait(give_way(1)).unwrap();
        let large = Builder::new().stack_size(4 << 20);
        let fiber = large.spawn(|| wait(async { deep(700 * KIB) }).unwrap());
        fiber.unwrap().join().unwrap();
        wait(async { deep(64 * KIB) }).unwrap();
    });
}

#[inline(never)]
fn is_waited_for<F: Future>(future: F) -> F::Output {
    let output = block_on(future);
    black_box(());
    output
}

/// A backtrace of a poll continues with the frames of the fiber, and a panic unwinds through them.
// Proves: S3-aside.
#[test]
fn a_poll_is_called_by_its_fiber() {
    for runtime in [runtime(1), free(1)] {
        runtime.run(|| {
            let trace = is_waited_for(async {
                give_way(1).await;
                Backtrace::force_capture().to_string()
            });
            assert!(trace.contains("is_waited_for"), "{trace}");
            for _ in 0..3 {
                let raised = catch_unwind(|| {
                    is_waited_for(async {
                        give_way(1).await;
                        panic!("so");
                    })
                });
                assert_eq!(raised.unwrap_err().downcast_ref::<&str>(), Some(&"so"));
                wait(async { deep(64 * KIB) }).unwrap();
            }
        });
    }
}

/// An overflow inside a poll is attributed to the fiber.
// Proves: S3-aside.
#[test]
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn an_overflow_inside_a_poll_names_the_fiber() {
    use std::os::unix::process::ExitStatusExt as _;
    let name = "futures_aside::an_overflow_inside_a_poll_names_the_fiber";
    let ended = apart(name, &[], || {
        let runtime = runtime(1);
        runtime.spawn(|| wait(give_way(3))).join().unwrap().unwrap();
        let named = Builder::new().name("bottomless");
        let body = || wait(async { deep(10 << 20) });
        drop(runtime.enter(|| named.spawn(body)).unwrap().join());
    });
    if let Some(ended) = ended {
        assert_eq!(ended.status.signal(), Some(6), "{}", ended.stderr);
        for part in ["bottomless", file!(), "256 KiB"] {
            assert!(
                ended.stderr.contains(part),
                "no `{part}` in: {}",
                ended.stderr
            );
        }
    }
}

/// Receives when it is dropped, and checks that its frame is unchanged.
struct Receives<'a> {
    from: &'a Receiver<u64>,
    marks: [u64; 64],
}

impl<'a> Receives<'a> {
    fn new(from: &'a Receiver<u64>, mark: u64) -> Receives<'a> {
        Receives {
            from,
            marks: [mark; 64],
        }
    }
}

impl Drop for Receives<'_> {
    fn drop(&mut self) {
        let mark = black_box(&self.marks)[0];
        let received = self.from.recv();
        let whole = black_box(&self.marks).iter().all(|at| *at == mark);
        // A destructor must not panic here.
        if received != Ok(mark) || !whole {
            eprintln!("received {received:?}, not {mark}; {:?}", self.marks);
            std::process::abort();
        }
    }
}

/// A fiber that has to wait during a poll since it unwinds keeps the stack that it is on: others
/// poll on another one meanwhile.
// Proves: S3-aside.
#[test]
fn a_fiber_that_leaves_amid_a_poll_takes_the_stack_along() {
    for runtime in [runtime(1), runtime(2), free(1), free(2)] {
        for round in 0..scaled(4) as u64 {
            let (tx, rx) = bounded(0);
            let fiber = runtime.spawn(move || {
                catch_unwind(AssertUnwindSafe(|| {
                    wait(async {
                        give_way(1).await;
                        let _receives = Receives::new(&rx, round);
                        panic!("so");
                    })
                }))
            });
            let others: Vec<_> = (0..4)
                .map(|_| {
                    runtime.spawn(|| {
                        for _ in 0..3 {
                            wait(async { deep(64 * KIB) }).unwrap();
                            yield_now();
                        }
                    })
                })
                .collect();
            others.into_iter().for_each(|other| other.join().unwrap());
            // By now it is far behind other fibers, or blocks its worker.
            let sender = runtime.spawn(move || tx.send(round).unwrap());
            sender.join().unwrap();
            assert!(fiber.join().unwrap().is_err());
            runtime.run(|| wait(async { deep(64 * KIB) })).unwrap();
        }
    }
}

/// Sleeps when it is dropped, for longer than a fiber that unwinds may delay others.
struct Sleeps;

impl Drop for Sleeps {
    fn drop(&mut self) {
        // In a destructor there is no alternative.
        let _ = pirn::sleep(Duration::from_millis(25));
    }
}

/// A poll that has caught such a panic continues, and may wait, and resume on another thread where
/// migration is allowed: the stack moves with it.
// Proves: S3-aside.
#[test]
fn a_poll_that_waits_after_a_panic() {
    for runtime in [runtime(1), runtime(2), free(1), free(2), free(3)] {
        let fibers: Vec<_> = (0..6_u64)
            .map(|i| {
                runtime.spawn(move || {
                    wait(async {
                        let marks = black_box([i; 64]);
                        let first = catch_unwind(|| {
                            let _sleeps = Sleeps;
                            panic!("so");
                        });
                        assert!(first.is_err());
                        for _ in 0..5 {
                            pirn::sleep(Duration::from_millis(1)).unwrap();
                            assert_eq!(black_box(marks), [i; 64]);
                            deep(32 * KIB);
                            yield_now();
                        }
                    })
                })
            })
            .collect();
        let others: Vec<_> = (0..4)
            .map(|_| {
                runtime.spawn(|| {
                    for _ in 0..20 {
                        wait(async { deep(64 * KIB) }).unwrap();
                        yield_now();
                    }
                })
            })
            .collect();
        for fiber in fibers {
            fiber.join().unwrap().unwrap();
        }
        others
            .into_iter()
            .for_each(|other| other.join().map(drop).unwrap());
        runtime.run(|| wait(async { deep(64 * KIB) })).unwrap();
    }
}

/// Where stacks run out the stack for polls is given to a fiber.
// Proves: S3-aside.
#[test]
fn the_starved_get_the_stack_for_polls() {
    const STACKS: usize = 64;
    let builder = Runtime::builder().workers(2).max_stacks(STACKS);
    let runtime = builder.build().unwrap();
    for _ in 0..scaled(5) {
        let met = Arc::new(AtomicUsize::new(0));
        let gates: Vec<_> = (0..STACKS).map(|_| Gate::default()).collect();
        let fibers: Vec<_> = gates
            .iter()
            .map(|gate| {
                let (met, gate) = (Arc::clone(&met), gate.clone());
                runtime.spawn(move || {
                    wait(give_way(2)).unwrap();
                    met.fetch_add(1, Ordering::SeqCst);
                    wait(gate).unwrap();
                })
            })
            .collect();
        eventually("all have a stack", || met.load(Ordering::SeqCst) == STACKS);
        gates.iter().for_each(Gate::open);
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    }
}

/// Two runtimes that one thread drives in turn have a stack for polls each, which is released with
/// them.
// Proves: S3-aside.
#[test]
fn runtimes_driven_by_hand_have_one_each() {
    for last in [0, 1] {
        let runtimes = [(); 2].map(|()| Runtime::builder().workers(0).build().unwrap());
        for _ in 0..3 {
            for runtime in &runtimes {
                let deep = async {
                    give_way(2).await;
                    deep(64 * KIB)
                };
                runtime.run(|| wait(deep)).unwrap();
            }
        }
        let [first, second] = runtimes;
        let (first, second) = if last == 0 {
            (second, first)
        } else {
            (first, second)
        };
        drop(first);
        second.run(|| wait(ready(deep(64 * KIB)))).unwrap();
    }
}

/// The stack for polls counts towards the bound on stacks, and is given up for a fiber.
// Proves: S3-aside.
#[test]
fn as_many_fibers_start_as_there_are_stacks() {
    let runtime = Runtime::builder()
        .workers(0)
        .max_stacks(64)
        .build()
        .unwrap();
    let (started, event) = (Arc::new(AtomicUsize::new(0)), Arc::new(Event::manual()));
    for _ in 0..64 {
        let (started, event) = (Arc::clone(&started), Arc::clone(&event));
        runtime.spawn(move || {
            wait(ready(())).unwrap();
            started.fetch_add(1, Ordering::SeqCst);
            event.wait().unwrap();
        });
    }
    runtime.run_until_idle();
    assert_eq!(started.load(Ordering::SeqCst), 64);
    event.set();
    runtime.run_until_idle();
}
