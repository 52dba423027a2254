//! Overflows, in processes of their own.

use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use super::alone;
use super::ride::{Ride, pool};
use crate::context::os::Guarding;
use crate::context::{
    SignalWriter, Stack, StackConfig, StackPool, install_overflow_handler,
};

static NAME: &str = "'conn' (spawned at src/serve.rs:10)";

/// Runs `child` in a process of its own.
fn run(case: &str) -> Output {
    alone::run(concat!(module_path!(), "::child"), case)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

// Proves: M2.
#[test]
fn an_overflow_names_the_fiber_and_its_size_and_aborts() {
    for (case, size) in [
        ("default", 256),
        ("sized", 64),
        ("large", 1024),
        ("closed", 256),
    ] {
        let output = run(case);
        let text = stderr(&output);
        let expected = format!(
            "fiber {NAME} overflowed its {size} KiB stack; \
             raise Builder::stack_size or PIRN_STACK_SIZE\n"
        );
        assert!(text.contains(&expected), "{case}: {text}");
        assert_eq!(
            output.status.signal(),
            Some(libc::SIGABRT),
            "{case}: {text}"
        );
    }
}

#[test]
fn a_stack_without_an_owner_is_reported_too() {
    let output = run("anonymous");
    let text = stderr(&output);
    assert!(
        text.contains("\na fiber overflowed its 256 KiB stack;"),
        "{text}"
    );
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{text}");
}

#[test]
fn other_faults_are_not_ours() {
    let output = run("fault");
    let text = stderr(&output);
    assert!(!text.contains("overflowed"), "{text}");
    assert!(!output.status.success());
    if !alone::SANITIZED {
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{text}");
    }
    let output = run("raise");
    let text = stderr(&output);
    assert!(
        !text.contains("overflowed") && !output.status.success(),
        "{text}"
    );
    if !alone::SANITIZED {
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{text}");
    }
}

#[test]
fn an_overflow_of_a_thread_is_left_to_std() {
    let output = run("thread");
    let text = stderr(&output);
    assert!(!text.contains("raise Builder::stack_size"), "{text}");
    assert!(!output.status.success());
    if !alone::SANITIZED {
        assert!(text.contains("thread 'deep'"), "{text}");
        assert!(text.contains("has overflowed its stack"), "{text}");
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{text}");
    }
}

#[test]
fn an_earlier_handler_gets_what_is_not_ours() {
    let output = run("handler");
    assert_eq!(output.status.code(), Some(42), "{}", stderr(&output));
}

#[test]
fn a_text_that_is_too_long_is_cut_off() {
    let mut out = SignalWriter::new();
    let result = write!(out, "{:>600}", "end");
    assert!(result.is_err());
    assert_eq!(out.text().len(), 512);
    assert!(write!(out, "").is_ok() && write!(out, "x").is_err());
}

/// The cases of child processes; every case ends the process.
#[test]
#[ignore = "run by the other tests of this file, in a process of its own"]
fn child() {
    let case = alone::case().expect("run by the other tests, with a case");
    if case == "handler" {
        exit_42_on_fault();
    }
    install_overflow_handler(describe);
    let small = pool(4);
    match case.as_str() {
        "default" => overflow(small.take().unwrap(), true),
        "sized" => overflow(small.take_sized(64 * 1024).unwrap(), true),
        "large" => overflow(small.take_sized(1024 * 1024).unwrap(), true),
        "anonymous" => overflow(small.take().unwrap(), false),
        "closed" => {
            let config = StackConfig {
                size: 256 * 1024,
                max_stacks: 4,
                cache: 4,
            };
            let pool = StackPool::with_guarding(config, Guarding::Protect).unwrap();
            overflow(pool.take().unwrap(), true);
        }
        "fault" | "handler" => {
            let ride = Ride::new(small.take().unwrap(), |_| {
                // SAFETY: none; the fault is what the test is about.
                unsafe { std::ptr::without_provenance_mut::<u8>(0x10).write_volatile(1) };
            });
            drop(ride.finish());
        }
        "raise" => {
            // std's handler answers the first by restoring the default, and returns.
            for _ in 0..2 {
                // SAFETY: sends a signal to this thread.
                unsafe { libc::raise(libc::SIGSEGV) };
            }
        }
        "thread" => {
            let deep = || {
                std::hint::black_box(descend(1));
            };
            let _ = crate::shim::thread::spawn("deep".to_owned(), deep)
                .unwrap()
                .join();
        }
        unknown => panic!("no such case: {unknown}"),
    }
}

fn overflow(stack: Stack, owned: bool) {
    if owned {
        // SAFETY: a static, which `describe` reads as what it is.
        unsafe { stack.set_owner((&raw const NAME).cast()) };
    }
    // Not the first slot of its page, nor the first use of the fiber.
    let mut ride = Ride::new(stack, |sides| {
        sides.pause();
        std::hint::black_box(descend(1));
    });
    assert!(ride.resume());
    ride.resume();
}

#[expect(unconditional_recursion, reason = "overflows on purpose")]
fn descend(depth: usize) -> usize {
    let frame = std::hint::black_box([depth; 64]);
    descend(depth + 1) + frame[63]
}

fn describe(owner: *const (), out: &mut SignalWriter) {
    // SAFETY: the only owner that is set here.
    let name = unsafe { *owner.cast::<&str>() };
    let _ = write!(out, "fiber {name}");
}

/// Installs a handler as another library would, before ours.
fn exit_42_on_fault() {
    extern "C" fn handle(_: libc::c_int) {
        // SAFETY: allowed in a handler.
        unsafe { libc::_exit(42) };
    }
    // SAFETY: the handler takes one number, as this call promises.
    unsafe { libc::signal(libc::SIGSEGV, handle as *const () as libc::sighandler_t) };
}
