//! `--once` and `--fiber`: the output agrees with the process's own report.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output};

use pirn::Runtime;

use crate::sandbox::{
    Directory, PROGRAM, Shop, crowd, eventually, run, run_unprivileged,
};
use crate::unmeasured::unmeasured;

/// Returns the program's output, and asserts its success.
#[track_caller]
pub(crate) fn printed(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {said}", output.status);
    assert!(said.is_empty(), "{said}");
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// Returns the lines below the line `head`, up to the next one that is not indented.
pub(crate) fn section<'a>(text: &'a str, head: &str) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|line| *line != head).skip(1);
    lines.take_while(|line| line.starts_with("  ")).collect()
}

type Counts = BTreeMap<(String, String), u64>;

fn tallies(text: &str) -> Counts {
    let parse = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [state, reason, fibers] = words[..] else {
            panic!("`{line}` is no tally");
        };
        let doing = (state.to_owned(), reason.to_owned());
        (doing, fibers.parse().expect("a number"))
    };
    section(text, "tallies").into_iter().map(parse).collect()
}

/// Counts the lines of the fibers' table; names have no spaces here.
fn listed(text: &str) -> Counts {
    let mut counts = Counts::new();
    let lines = section(text, "fibers");
    assert!(lines[0].contains("WAITS FOR"), "{}", lines[0]);
    for line in &lines[1..] {
        let words: Vec<_> = line.split_whitespace().collect();
        let doing = (words[2].to_owned(), words[3].to_owned());
        *counts.entry(doing).or_default() += 1;
    }
    counts
}

/// Counts by the library's own report.
fn reported(runtime: &Runtime) -> Counts {
    let mut counts = Counts::new();
    for fiber in runtime.fibers() {
        let state = format!("{:?}", fiber.state).to_lowercase();
        let reason = fiber.reason.map_or("-".to_owned(), |it| format!("{it:?}"));
        *counts.entry((state, reason)).or_default() += 1;
    }
    counts
}

/// Attached to a thousand parked fibers, its count of each kind equals that of the process's dump.
// Proves: P15.
#[test]
fn a_thousand_fibers_are_counted_as_in_a_dump() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    for workers in [1, 4] {
        let runtime = Shop::open(workers, &socket);
        crowd(&runtime);
        let expected: Counts = [
            ("Recv", 400),
            ("Event", 300),
            ("Semaphore", 100),
            ("Sleep", 100),
            ("Park", 100),
        ]
        .map(|(reason, fibers)| (("parked".to_owned(), reason.to_owned()), fibers))
        .into();
        eventually("every worker answers in time", || {
            reported(&runtime) == expected
        });
        eventually("every worker answers in time", || {
            let text = printed(&run(&socket, &["--once"]));
            tallies(&text) == expected && listed(&text) == expected
        });
        eventually("every worker answers in time", || {
            let mut dump = Vec::new();
            runtime.dump(&mut dump).expect("written to memory");
            let dump = String::from_utf8(dump).expect("text");
            expected.iter().all(|((_, reason), fibers)| {
                let dumped = dump.matches(&format!(" ({reason}) at ")).count();
                dumped as u64 == *fibers
            })
        });
    }
}

/// Filters, orders and limits.
#[test]
fn what_is_asked_for_is_printed() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let runtime = Shop::open(1, &socket);
    crowd(&runtime);
    let ask = |args: &[&str]| {
        let mut text = String::new();
        eventually("the worker answers in time", || {
            text = printed(&run(&socket, &[&["--once"], args].concat()));
            !text.contains("does not answer")
        });
        text
    };
    let sleepers = ask(&["--filter", "state:parked reason:sleep"]);
    let counts = listed(&sleepers);
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [100]);
    assert!(
        sleepers.starts_with("runtime 'shop' of process "),
        "{sleepers}"
    );
    let is_stacks = |line: &str| line.starts_with("deepest stack ");
    assert!(sleepers.lines().any(is_stacks), "{sleepers}");
    let one = ask(&["--filter", "name:crowd-77", "--sort", "name", "--reverse"]);
    let names: Vec<_> = section(&one, "fibers")[1..]
        .iter()
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    let expected = (770..780).rev().map(|i| format!("crowd-{i}"));
    let expected: Vec<_> = expected.chain(["crowd-77".to_owned()]).collect();
    assert_eq!(names, expected);
    let few = ask(&["--most", "25"]);
    assert_eq!(section(&few, "fibers").len(), 1 + 25);
    assert_eq!(tallies(&few).into_values().sum::<u64>(), 1_000);

    let id = section(&one, "fibers")[1]
        .split_whitespace()
        .next()
        .expect("a number");
    let mut shown = String::new();
    eventually("the worker answers in time", || {
        let output = run(&socket, &["--fiber", id]);
        shown = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success()
    });
    assert!(
        shown.starts_with(&format!("fiber {id} 'crowd-779'")),
        "{shown}"
    );
    assert!(shown.contains("reason      Park"), "{shown}");
    assert!(shown.contains("sandbox.rs"), "{shown}");
}

#[track_caller]
fn fails(output: &Output, code: i32, said: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(said), "no `{said}` in: {stderr}");
    assert!(output.stdout.is_empty());
}

/// Another user is refused, with a message.
// Proves: P15.
#[test]
fn another_user_is_refused() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let runtime = Shop::open(1, &socket);
    let mode = fs::symlink_metadata(&socket)
        .expect("is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    if fs::metadata("/proc/self").expect("is there").uid() != 0 {
        return unmeasured("not root: cannot be another user");
    }
    let program = directory.at("pirn-top");
    fs::copy(PROGRAM, &program).expect("copied");
    let ask = || run_unprivileged(&program, &socket, &["--once"]);
    fails(&ask(), 3, "belongs to another user");
    // By the peer's credentials, too.
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).expect("changed");
    fails(&ask(), 3, "refused: another user's process");
    printed(&run(&socket, &["--once"]));
    drop(runtime);
}

/// Errors have a message and an exit code.
#[test]
fn errors_have_words_and_codes() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    fails(&run(&socket, &["--once"]), 1, "there is no socket /");
    // On a terminal or not, before anything is drawn.
    fails(&run(&socket, &[]), 1, "there is no socket /");
    drop(UnixListener::bind(&socket).expect("a socket"));
    fails(
        &run(&socket, &["--once"]),
        1,
        "the one that created it has ended",
    );
    for args in [
        &["--most", "x"][..],
        &["--sort", "colour"],
        &["--interval", "0"],
    ] {
        fails(&run(&socket, args), 2, args[0]);
    }
    fails(&run(Path::new("a"), &["b"]), 2, "unexpected argument");
    let runtime = Shop::open(1, &socket);
    let output = run(&socket, &["--fiber", "4294967295"]);
    fails(&output, 1, "the runtime says: no fiber 4294967295");
    drop(runtime);
    fails(&run(&socket, &["--once"]), 1, "there is no socket");
}

/// A closed standard output is an error: std opens the null device in its place, which would take
/// the output.
#[test]
fn a_closed_output_is_an_error() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let _runtime = Shop::open(1, &socket);
    for line in ["exec \"$@\" >&-", "exec \"$@\" <&- >&-"] {
        let mut command = Command::new("sh");
        command.args(["-c", line, "sh", PROGRAM]).arg(&socket);
        let output = command.arg("--once").output().expect("it runs");
        fails(&output, 1, "pirn-top: standard output is closed\n");
    }
}
