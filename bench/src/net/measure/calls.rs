//! The system calls of a request: two runs under strace, the difference divided by the
//! difference of their requests, so that starting, connecting and ending cancel.
//!
//! strace stops the server at every call, so that it is slow and every poll finds many sockets
//! ready. The number of waits depends on that. So waits and futexes are counted in separate runs,
//! in which the kernel stops the server at these calls only.

use std::collections::BTreeMap;
use std::fs;
use std::process::{self, Command};

use crate::harness::{Answer, Status};
use crate::tools::target_directory;

use super::case::{Bench, Started};

/// Names of system calls, and the series of each; all others are `others`.
const KINDS: &[(&str, &[&str])] = &[
    ("reads", &["read", "readv", "recvfrom", "recvmsg"]),
    ("writes", &["write", "writev", "sendto", "sendmsg"]),
    (
        "waits",
        &[
            "epoll_wait",
            "epoll_pwait",
            "epoll_pwait2",
            "poll",
            "ppoll",
            "select",
            "pselect6",
        ],
    ),
    ("controls", &["epoll_ctl"]),
    ("futexes", &["futex"]),
];

/// The series of all others.
const OTHERS: &str = "others";

/// Factor of requests to a server that is not stopped at every call.
const FASTER: u64 = 20;

/// The calls of each kind for one request.
type Kinds = BTreeMap<&'static str, f64>;

/// Counts the calls of `requests` requests to the server that `server` starts. `load` has the
/// arguments for a load, without the number of requests.
///
/// # Errors
/// The error of the server, or of strace's output; in words.
pub(super) fn count(
    bench: &Bench,
    server: &Command,
    requests: u64,
    load: &str,
) -> Result<Answer, String> {
    if Command::new("strace").arg("--version").output().is_err() {
        return Ok(Answer::skipped("strace is not there"));
    }
    let pair = |requests: u64, trace: &[String]| {
        let run = |requests: u64| {
            run(
                bench,
                server,
                trace,
                &format!("{load} --requests {requests}"),
            )
        };
        let (few, many) = (run(requests)?, run(2 * requests)?);
        Ok::<_, String>(difference(&few, &many, requests))
    };
    let sleepy: Vec<_> = KINDS
        .iter()
        .filter(|(kind, _)| is_sleepy(kind))
        .flat_map(|(_, names)| *names)
        .copied()
        .collect();
    let only = [
        "--seccomp-bpf".to_owned(),
        format!("--trace={}", sleepy.join(",")),
    ];
    let slow = pair(requests, &[])?;
    let fast = pair(requests * FASTER, &only)?;
    Ok(Answer::done(together(slow, fast)))
}

/// Returns true if the number of calls depends on the speed of the server.
fn is_sleepy(kind: &str) -> bool {
    matches!(kind, "waits" | "futexes")
}

/// Returns the kinds of both, each from the appropriate runs, and their sum.
fn together(slow: Kinds, fast: Kinds) -> Vec<(String, f64)> {
    let right = slow
        .into_iter()
        .filter(|(kind, _)| !is_sleepy(kind))
        .chain(fast.into_iter().filter(|(kind, _)| is_sleepy(kind)));
    let mut samples: Vec<_> = right.map(|(kind, each)| (kind.to_owned(), each)).collect();
    let calls = samples.iter().map(|(_, each)| each).sum();
    samples.push(("calls".to_owned(), calls));
    samples
}

/// Does one run: the number of calls of each system call.
fn run(
    bench: &Bench,
    server: &Command,
    trace: &[String],
    load: &str,
) -> Result<BTreeMap<String, u64>, String> {
    let summary = target_directory().join(format!("calls-{}", process::id()));
    let mut traced = Command::new("strace");
    traced.args(["-f", "-c", "-U", "calls,name", "-o"]);
    traced.arg(&summary).args(trace);
    traced.arg(server.get_program()).args(server.get_args());
    let answer = bench.run(traced, Started::Tracer, load)?;
    if let Status::Skipped(what) | Status::Failed(what) = answer.status {
        return Err(what);
    }
    let text = fs::read_to_string(&summary)
        .map_err(|error| format!("{}: {error}", summary.display()))?;
    fs::remove_file(&summary).map_err(|error| error.to_string())?;
    Ok(parse(&text))
}

/// Parses the lines `NUMBER NAME` of strace's summary, without its total.
fn parse(summary: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let (count, name) = line.trim().split_once(' ')?;
        let name = name.trim().to_owned();
        (name != "total").then_some((name, count.parse().ok()?))
    };
    summary.lines().filter_map(line).collect()
}

/// Returns the excess of the longer run, for each request. Calls that do not depend on the requests
/// may be more frequent in the shorter one.
fn difference(
    few: &BTreeMap<String, u64>,
    many: &BTreeMap<String, u64>,
    requests: u64,
) -> Kinds {
    let sums = |counts: &BTreeMap<String, u64>| {
        let names = KINDS.iter().map(|(kind, _)| *kind).chain([OTHERS]);
        let mut sums: BTreeMap<_, _> = names.map(|kind| (kind, 0.0)).collect();
        for (name, count) in counts {
            let of = KINDS
                .iter()
                .find(|(_, names)| names.contains(&name.as_str()));
            let kind = of.map_or(OTHERS, |(kind, _)| kind);
            *sums.entry(kind).or_default() += *count as f64;
        }
        sums
    };
    let few = sums(few);
    let each = |(kind, many)| {
        let more: f64 = many - few[kind];
        (kind, (more / requests as f64).max(0.0))
    };
    sums(many).into_iter().map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::{difference, parse, together};

    // Proves: R11.
    #[test]
    fn starting_cancels_and_every_call_has_its_kind() {
        let few = "    calls syscall\n--------- ------\n      110 read\n       10 mmap\n      120 total\n";
        let many = "    calls syscall\n      210 read\n       50 epoll_wait\n       10 mmap\n       20 clone\n      290 total\n";
        let kinds = difference(&parse(few), &parse(many), 100);
        let expected = [
            ("controls", 0.0),
            ("futexes", 0.0),
            ("others", 0.2),
            ("reads", 1.0),
            ("waits", 0.5),
            ("writes", 0.0),
        ];
        assert_eq!(kinds, expected.into());
    }

    // Proves: R11.
    #[test]
    fn waits_are_taken_from_the_fast_runs() {
        let slow = [("reads", 1.0), ("waits", 0.1), ("others", 0.5)];
        let fast = [("reads", 0.0), ("waits", 0.4), ("others", 0.0)];
        let mut samples = together(slow.into(), fast.into());
        samples.sort_by(|a, b| a.0.cmp(&b.0));
        let expected = [
            ("calls", 1.9),
            ("others", 0.5),
            ("reads", 1.0),
            ("waits", 0.4),
        ];
        assert_eq!(
            samples,
            expected.map(|(kind, each)| (kind.to_owned(), each))
        );
    }
}
