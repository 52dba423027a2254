//! The frames of fibers that wait: in reports, and in a debugger.

use std::sync::atomic::{AtomicBool, Ordering};

use pirn::{channel, spawn};

use crate::executor_kind::runtime;
use crate::report_util::{named, waiting};
use crate::util::on_every_shape;

/// Waits some frames below its caller.
#[cfg(all(
    target_arch = "x86_64",
    not(any(feature = "corosensei", pirn_asan, pirn_tsan))
))]
#[inline(never)]
fn three_frames_deep(rx: &channel::Receiver<u8>, depth: u32) -> u32 {
    if depth == 0 {
        return u32::from(rx.recv().is_err());
    }
    std::hint::black_box(three_frames_deep(rx, depth - 1) + 1)
}

/// Reports list the frames of a waiting fiber, from the call that it waits in to the closure
/// that it runs, and the fiber resumes unharmed, however often they were taken.
// Proves: P4-frames (checked).
#[test]
#[cfg(all(
    target_arch = "x86_64",
    not(any(feature = "corosensei", pirn_asan, pirn_tsan))
))]
fn frames_are_reported() {
    on_every_shape(|runtime| {
        let (tx, rx) = channel::bounded::<u8>(0);
        let fiber = runtime.enter(|| {
            let rx = rx.clone();
            spawn::Builder::new()
                .name("deep")
                .spawn(move || three_frames_deep(&rx, 3))
                .unwrap()
        });
        for _ in 0..3 {
            let info = waiting(runtime, "deep");
            let text = info.backtrace.as_ref().expect("frames").to_string();
            assert_eq!(text.matches("three_frames_deep").count(), 4, "{text}");
            assert!(text.contains("Receiver<T>::recv"), "{text}");
            let told = info.to_string();
            assert_eq!(told.matches("three_frames_deep").count(), 4, "{told}");
            assert!(
                !told.contains("park_fiber") && !told.contains("catch_unwind"),
                "{told}"
            );
        }
        drop((tx, rx));
        assert_eq!(fiber.join().unwrap(), 4);
    });
}

/// Fibers keep many values in registers while others take their frames: none is lost.
// Proves: P4-frames.
#[test]
fn frames_are_taken_amid_a_storm() {
    let runtime = runtime(2);
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !stop.load(Ordering::SeqCst) {
                assert!(runtime.fibers().len() < 10);
            }
        });
        runtime.scope(|s| {
            for seed in 1..6_u64 {
                s.spawn(move || {
                    let (mut a, mut b, mut c, mut d) =
                        (seed, seed + 1, seed + 2, seed + 3);
                    let mut x = seed as f64;
                    let rounds = crate::util::scaled(20_000) as u64;
                    for _ in 0..rounds {
                        (a, b, c, d) = (b + 1, c + 1, d + 1, a + 1);
                        x += 0.5;
                        pirn::yield_now();
                    }
                    assert_eq!(a + b + c + d, 4 * seed + 6 + 4 * rounds);
                    assert_eq!(x, seed as f64 + rounds as f64 / 2.0);
                });
            }
        });
        stop.store(true, Ordering::SeqCst);
    });
}

/// gdb lists the fibers and shows the frames of a suspended one, by the script that the library
/// includes. Skipped without gdb.
// Proves: P4-frames (checked).
#[test]
// Without optimization the variables that the script reads exist.
#[cfg(all(
    debug_assertions,
    target_arch = "x86_64",
    not(any(feature = "corosensei", pirn_asan, pirn_tsan))
))]
fn gdb_knows_fibers() {
    const NAME: &str = "frames::gdb_knows_fibers";
    if std::env::var_os("PIRN_TEST_GDB").is_some() {
        let runtime = runtime(1);
        let (_tx, rx) = channel::bounded::<u8>(0);
        let fiber =
            runtime.enter(|| named("seen", move || _ = three_frames_deep(&rx, 3)));
        waiting(&runtime, "seen");
        drop(fiber);
        // Here the debugger stops the program.
        std::process::abort();
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/gdb/pirn.py");
    let mut gdb = std::process::Command::new("gdb");
    gdb.args([
        "-batch",
        "-nx",
        "-ex",
        "set debuginfod enabled off",
        "-ex",
        "run",
    ])
    .args([
        "-x",
        script,
        "-ex",
        "pirn fibers",
        "-ex",
        "pirn bt 4294967297",
    ])
    .arg("--args")
    .arg(std::env::current_exe().unwrap())
    .args(["--exact", NAME, "--nocapture", "--test-threads=1"])
    .env("PIRN_TEST_GDB", "1")
    .stdin(std::process::Stdio::null());
    let Ok(ended) = gdb.output() else {
        return crate::unmeasured::unmeasured("no gdb on this machine");
    };
    let text = String::from_utf8_lossy(&ended.stdout);
    let errors = String::from_utf8_lossy(&ended.stderr);
    if errors.contains("ptrace") {
        return crate::unmeasured::unmeasured("gdb may not trace a process");
    }
    assert!(text.contains("1 fibers"), "{text}{errors}");
    assert_eq!(
        text.matches("three_frames_deep").count(),
        4,
        "{text}{errors}"
    );
}
