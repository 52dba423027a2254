//! The system calls of a request: two runs under strace, the difference divided by the
//! difference of their requests, so that starting, connecting and ending cancel.
//!
//! strace stops the server at every call, so that it is slow and finds much ready whenever
//! it looks: what is counted here is how a server works under pressure, and its waits are
//! fewer than those of a run without strace.

use std::collections::BTreeMap;
use std::fs;
use std::process::{self, Command};

use crate::harness::{Answer, Status};
use crate::tools::target_directory;

use super::case::{Bench, Whose};

/// Names of system calls, and the series that each counts for; all others are `others`.
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

/// Counts the calls of `requests` requests to the server that `server` starts. `load` has the
/// arguments for a load of so many.
///
/// # Errors
/// What was wrong with the server, or with what strace wrote; in words.
pub(super) fn count(
    bench: &Bench,
    server: &Command,
    requests: u64,
    load: &dyn Fn(u64) -> Vec<String>,
) -> Result<Answer, String> {
    if Command::new("strace").arg("--version").output().is_err() {
        let reason = "strace is not there".to_owned();
        return Ok(Answer::empty(Status::Skipped(reason)));
    }
    let few = run(bench, server, &load(requests))?;
    let many = run(bench, server, &load(2 * requests))?;
    Ok(Answer {
        status: Status::Done,
        samples: difference(&few, &many, requests),
    })
}

/// One run: how often each system call was made.
fn run(
    bench: &Bench,
    server: &Command,
    load: &[String],
) -> Result<BTreeMap<String, u64>, String> {
    let summary = target_directory().join(format!("calls-{}", process::id()));
    let mut traced = Command::new("strace");
    traced.args(["-f", "-c", "-U", "calls,name", "-o"]);
    traced.arg(&summary);
    traced.arg(server.get_program()).args(server.get_args());
    let answer = bench.run(traced, Whose::Tracers, load)?;
    if let Status::Skipped(what) | Status::Failed(what) = answer.status {
        return Err(what);
    }
    let text = fs::read_to_string(&summary)
        .map_err(|error| format!("{}: {error}", summary.display()))?;
    fs::remove_file(&summary).map_err(|error| error.to_string())?;
    Ok(parse(&text))
}

/// The lines `NUMBER NAME` of strace's summary, without its total.
fn parse(summary: &str) -> BTreeMap<String, u64> {
    let line = |line: &str| {
        let (count, name) = line.trim().split_once(' ')?;
        let name = name.trim().to_owned();
        (name != "total").then_some((name, count.parse().ok()?))
    };
    summary.lines().filter_map(line).collect()
}

fn difference(
    few: &BTreeMap<String, u64>,
    many: &BTreeMap<String, u64>,
    requests: u64,
) -> Vec<(String, f64)> {
    let mut kinds: BTreeMap<&str, f64> = KINDS
        .iter()
        .map(|(kind, _)| (*kind, 0.0))
        .chain([("others", 0.0), ("calls", 0.0)])
        .collect();
    for name in few
        .keys()
        .chain(many.keys().filter(|name| !few.contains_key(*name)))
    {
        let of = |counts: &BTreeMap<String, u64>| {
            counts.get(name).copied().unwrap_or(0) as f64
        };
        let each = (of(many) - of(few)) / requests as f64;
        let kind = KINDS
            .iter()
            .find(|(_, names)| names.contains(&name.as_str()));
        let kind = kind.map_or("others", |(kind, _)| kind);
        for series in [kind, "calls"] {
            *kinds.entry(series).or_default() += each;
        }
    }
    kinds
        .into_iter()
        // What does not hang on the requests may well be more often in the shorter run.
        .map(|(kind, each)| (kind.to_owned(), each.max(0.0)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{difference, parse};

    #[test]
    fn starting_cancels_and_every_call_has_its_kind() {
        let few = "    calls syscall\n--------- ------\n      110 read\n       10 mmap\n      120 total\n";
        let many = "    calls syscall\n      210 read\n       50 epoll_wait\n       10 mmap\n       20 clone\n      290 total\n";
        let samples = difference(&parse(few), &parse(many), 100);
        let each = |kind: &str| {
            let found = samples.iter().find(|(name, _)| name == kind);
            found.map(|(_, value)| *value)
        };
        assert_eq!(each("reads"), Some(1.0));
        assert_eq!(each("waits"), Some(0.5));
        assert_eq!(each("others"), Some(0.2));
        assert_eq!(each("futexes"), Some(0.0));
        assert_eq!(each("calls"), Some(1.7));
    }
}
