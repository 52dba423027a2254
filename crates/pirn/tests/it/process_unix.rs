//! Settings of commands that exist on Unix: user, group, process group; and the replacement of
//! this process.

use std::io::{BufRead as _, BufReader, ErrorKind};
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use pirn::Interrupt;
use pirn::cancel::Token;
use pirn::process::{Command, Stdio};
use pirn::signal::Signal;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, runtime};
use crate::util::apart;

fn shell(script: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]);
    shell
}

/// User and group: as asked for, or an error where this process may not change them.
// Proves: N7-X-child.
#[test]
fn a_child_has_a_user_and_a_group() {
    const OTHER: u32 = 65_534;
    pirn::run(|| {
        let mut user = Command::new("id");
        user.arg("-u").uid(OTHER);
        let mut group = Command::new("id");
        group.arg("-g").gid(OTHER);
        for mut id in [user, group] {
            match id.output() {
                Ok(output) => {
                    assert_eq!(output.stdout, format!("{OTHER}\n").as_bytes());
                }
                // Not permitted, or not mapped in this user namespace.
                Err(error) => assert!(matches!(
                    error.kind(),
                    ErrorKind::PermissionDenied | ErrorKind::InvalidInput
                )),
            }
        }
    });
}

/// The process group and the argument 0.
// Proves: N7-X-child.
#[test]
fn a_child_has_a_process_group_and_a_name() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let output = Command::new("sh")
                .arg0("a name")
                .args(["-c", "echo $0"])
                .output();
            assert_eq!(output.unwrap().stdout, b"a name\n");

            let mut sleep = Command::new("sleep");
            let mut leader = sleep.arg("60").process_group(0).spawn().unwrap();
            let group = i32::try_from(leader.id()).unwrap();
            let mut member = sleep.process_group(group).spawn().unwrap();
            let killed = shell(&format!("kill -KILL -{group}")).status().unwrap();
            assert!(killed.success(), "there is such a group");
            assert_eq!(leader.wait().unwrap().signal(), Some(9));
            assert_eq!(member.wait().unwrap().signal(), Some(9));
        });
        jobs.run(executor, 2);
    }
}

/// `exec` replaces the process from a fiber; on an error, and on an interrupt, the fiber continues.
// Proves: N7-X-child.
#[test]
fn a_process_is_replaced() {
    let ended = apart("process_unix::a_process_is_replaced", &[], || {
        runtime(2).run(|| {
            let stop = Token::new();
            stop.cancel();
            let mut replacement = shell("echo replaced $0 >&2; exit 7");
            let error = stop.enter(|| replacement.exec());
            assert_eq!(Interrupt::of(&error), Some(Interrupt::Cancelled));
            let error = Command::new("pirn-has-no-such-program").exec();
            assert_eq!(error.kind(), ErrorKind::NotFound);
            panic!("{}", replacement.arg0("zero").exec());
        });
    });
    if let Some(ended) = ended {
        assert_eq!(ended.status.code(), Some(7), "{}", ended.stderr);
        assert!(ended.stderr.contains("replaced zero"), "{}", ended.stderr);
    }
}

/// A signal reaches the child, or its whole group, as long as the number is its own.
// Proves: N7-X-child.
#[test]
fn signals_reach_children_and_groups() {
    const TERM: Option<i32> = Some(Signal::TERM.as_raw());
    pirn::run(|| {
        let mut child = Command::new("sleep").arg("60").spawn().expect("a child");
        let refused = child
            .signal(Signal::from_raw(1_000))
            .expect_err("no signal");
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        let refused = child.signal_group(Signal::TERM).expect_err("not its group");
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        assert!(
            refused.to_string().contains("process_group(0)"),
            "{refused}"
        );
        child.signal(Signal::TERM).expect("it lives");
        assert_eq!(child.wait().expect("a status").signal(), TERM);
        child.signal(Signal::TERM).expect("no error");

        // Its own child keeps the pipe open for as long as it lives.
        let mut pipeline = shell("sleep 60 & echo begun; wait");
        let mut child = pipeline
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a child");
        let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("a line");
        child.signal_group(Signal::TERM).expect("it lives");
        let read = pirn::timeout(Duration::from_secs(30), || output.read_line(&mut line));
        assert_eq!(read.expect("all have ended").expect("an end"), 0);
        assert_eq!(child.wait().expect("a status").signal(), TERM);
        let refused = child.signal_group(Signal::TERM).expect_err("its number");
        assert!(refused.to_string().contains("waited for"), "{refused}");
    });
}
