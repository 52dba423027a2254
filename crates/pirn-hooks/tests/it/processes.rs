//! Child processes, and the ends of processes and threads.

use std::cell::RefCell;
use std::io::{PipeWriter, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio, exit};
use std::time::{Duration, Instant};

use pirn_hooks::within;

use crate::fixture::{one_worker, parks};
use crate::raw;

// Proves: T5.
#[test]
fn children_are_waited_for_at_the_same_time() {
    let start = Instant::now();
    one_worker().run(|| {
        pirn::scope(|s| {
            for number in 0..20 {
                s.spawn(move || {
                    within(|| {
                        let script = format!("sleep 0.3; echo {number}");
                        let output = Command::new("sh").args(["-c", &script]).output();
                        let output = output.unwrap();
                        assert!(output.status.success());
                        assert_eq!(output.stdout, format!("{number}\n").into_bytes());
                    });
                });
            }
        });
    });
    // One after the other they take 6 s.
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
}

/// The child ends all numbers, and with them the waits of no one but itself.
// Proves: T5.
#[test]
fn a_child_closes_its_numbers() {
    one_worker().run(|| {
        let (mut from, mut to) = std::io::pipe().unwrap();
        let reader = pirn::spawn(move || within(|| from.read(&mut [0]).unwrap()));
        pirn::yield_now();
        within(|| {
            let mut command = Command::new("true");
            // SAFETY: only `close_range` is called, which is safe there.
            #[expect(unsafe_code, reason = "code in the child")]
            unsafe {
                command.pre_exec(|| {
                    raw::close_from(3);
                    Ok(())
                });
            }
            assert!(command.status().unwrap().success());
        });
        to.write_all(&[1]).unwrap();
        assert_eq!(reader.join().unwrap(), 1);
    });
}

// Proves: T5.
#[test]
fn a_child_runs_code_before_its_program() {
    one_worker().run(|| {
        within(|| {
            let mut command = Command::new("sleep");
            command.arg("0.3").stdin(Stdio::piped());
            // SAFETY: only `sleep` and `write` are called, which are safe there.
            #[expect(unsafe_code, reason = "code in the child")]
            unsafe {
                command.pre_exec(|| {
                    std::thread::sleep(Duration::from_millis(5));
                    Ok(())
                });
            }
            let mut child = command.spawn().unwrap();
            assert!(child.wait().unwrap().success());
        });
    });
    assert!(parks("waitid") + parks("waitpid") > 0);
}

/// The child has no other fibers and no worker: what it calls before its program blocks there, also
/// if the runtime parks calls everywhere, and nothing has parked yet.
// Proves: T5.
#[test]
fn a_child_does_not_run_other_fibers() {
    let builder = pirn::runtime::Builder::new().workers(1).hooks(true);
    builder.build().unwrap().run(|| {
        let path =
            std::env::temp_dir().join(format!("pirn-hooks-child-{}", std::process::id()));
        let file = path.clone();
        let other = pirn::spawn(move || {
            let mut file = std::fs::File::options()
                .append(true)
                .create(true)
                .open(file)?;
            writeln!(file, "{}", std::process::id())
        });
        let mut command = Command::new("true");
        // SAFETY: only `sleep` is called, which is safe there.
        #[expect(unsafe_code, reason = "code in the child")]
        unsafe {
            command.pre_exec(|| {
                std::thread::sleep(Duration::from_millis(5));
                Ok(())
            });
        }
        assert!(command.status().unwrap().success());
        other.join().unwrap().unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written, format!("{}\n", std::process::id()));
        std::fs::remove_file(path).unwrap();
    });
}

/// A child of `fork` that drops a socket of `net` leaves the parent's registration alone.
#[test]
fn a_child_may_drop_a_socket() {
    one_worker().run(|| {
        let (mut one, mut other) = pirn::net::UnixStream::pair().unwrap();
        // Registers it.
        let early = pirn::timeout(Duration::from_millis(1), || one.read(&mut [0]));
        assert!(early.is_err());
        let mut here = Some(one);
        raw::in_child(|| drop(here.take()));
        let mut one = here.expect("only the child has taken it");
        let late = pirn::spawn(move || {
            pirn::sleep(Duration::from_millis(20)).unwrap();
            other.write_all(b"x").unwrap();
            other
        });
        let read = pirn::timeout(Duration::from_secs(10), || one.read(&mut [0]));
        assert_eq!(read.expect("the event is lost").unwrap(), 1);
        drop(late.join().unwrap());
    });
}

/// Starts of processes amid deadlines: each is refused before it begins, or succeeds. (`std` panics
/// if the wait for the new process is interrupted.)
// Proves: T5.
#[test]
fn a_start_is_not_interrupted_in_the_middle() {
    let own = std::fs::metadata("/proc/self").unwrap().uid();
    one_worker().run(|| {
        for n in 0..100 {
            let limit = Duration::from_micros(20 * n);
            let started = pirn::timeout(limit, || {
                // With a user, `std` forks, and waits for the new process by a pipe.
                let mut command = pirn::process::Command::new("true");
                within(|| command.uid(own).spawn())
            });
            if let Ok(Ok(mut child)) = started {
                assert!(child.wait().unwrap().success());
            }
        }
    });
}

/// Each child is made by `fork`, amid fibers that wait.
// Proves: T5.
#[test]
fn children_start_beside_fibers_that_read() {
    const READERS: usize = 20;
    const STARTS: usize = 50;
    one_worker().run(|| {
        let pipes = (0..READERS).map(|_| std::io::pipe().unwrap());
        let (readers, mut writers): (Vec<_>, Vec<_>) = pipes.unzip();
        pirn::scope(|s| {
            for mut reader in readers {
                s.spawn(move || {
                    let mut came = Vec::new();
                    within(|| reader.read_to_end(&mut came).unwrap());
                    assert_eq!(came, [7; STARTS]);
                });
            }
            within(|| {
                for _ in 0..STARTS {
                    for writer in &mut writers {
                        writer.write_all(&[7]).unwrap();
                    }
                    let mut command = Command::new("true");
                    // SAFETY: only `usleep` is called, which is safe there.
                    #[expect(unsafe_code, reason = "code in the child")]
                    unsafe {
                        command.pre_exec(|| {
                            raw::usleep(100);
                            Ok(())
                        });
                    }
                    assert!(command.status().unwrap().success());
                }
            });
            drop(writers);
        });
    });
}

/// The variable by which this program, started again, exits: on a fiber, or on another thread.
const EXITS: &str = "PIRN_TEST_EXITS_ON";

/// Exits while a hundred fibers of a worker are parked.
fn exit_amid_reads(on_fiber: bool) -> ! {
    const FIBERS: u64 = 100;
    let runtime = one_worker();
    runtime.run(move || {
        for _ in 0..FIBERS {
            let (one, kept) = UnixStream::pair().unwrap();
            drop(pirn::spawn(move || {
                let _ = &kept;
                within(|| raw::recv(&one, &mut [0], 0))
            }));
        }
        while parks("recv") < FIBERS {
            pirn::yield_now();
        }
        eprintln!("all are parked");
        if on_fiber {
            exit(0);
        }
    });
    exit(0)
}

/// Neither the fibers nor their worker hold up the end.
#[test]
fn exit_ends_a_process_with_parked_fibers() {
    const NAME: &str = "processes::exit_ends_a_process_with_parked_fibers";
    if let Ok(place) = std::env::var(EXITS) {
        exit_amid_reads(place == "fiber");
    }
    for place in ["fiber", "thread"] {
        let mut again = Command::new("/proc/self/exe");
        again.args(["--exact", NAME, "--nocapture"]);
        // What the fibers own is lost at the exit.
        again.env(EXITS, place).env(
            "ASAN_OPTIONS",
            "detect_leaks=0:detect_stack_use_after_return=0",
        );
        let ended = again.output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(said.contains("all are parked"), "{place}: {said}");
        assert_eq!(ended.status.code(), Some(0), "{place}: {said}");
    }
}

/// Calls libc when its thread ends.
struct Last(PipeWriter);

impl Drop for Last {
    fn drop(&mut self) {
        within(|| raw::usleep(1_000));
        self.0.write_all(b"end").unwrap();
    }
}

thread_local! {
    static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// The calls work after the destructors of all thread-locals that they use.
#[test]
fn a_thread_may_call_until_its_end() {
    let (mut from, to) = std::io::pipe().unwrap();
    let ending = std::thread::spawn(move || {
        // Those that are used first are destroyed last.
        LAST.set(Some(Last(to)));
        within(|| raw::usleep(1_000))
    });
    assert_eq!(ending.join().unwrap(), 0);
    let mut came = Vec::new();
    from.read_to_end(&mut came).unwrap();
    assert_eq!(came, b"end");
}
