//! Settings of commands that exist on Unix: user, group, process group; and the replacement of
//! this process.

use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt as _;

use pirn::Interrupt;
use pirn::cancel::Token;
use pirn::process::Command;

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
