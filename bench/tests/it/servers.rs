//! The cases of servers from end to end: a server and a load as children, as `compare` has them.

use std::path::PathBuf;
use std::time::Duration;

use crate::unmeasured::unmeasured;
use pirn_bench::case::{self, Case, Kind, Net};
use pirn_bench::harness::{Answer, Programs, Status};
use pirn_bench::net;

/// One repetition of a case with the server of that name, a fiftieth the size.
fn one(server: &str, case: &str) -> Answer {
    let missing = || Err("not built for this test".to_owned());
    let programs = Programs {
        here: PathBuf::from(env!("CARGO_BIN_EXE_compare")),
        go: missing(),
        hooked: Ok(PathBuf::from(env!("CARGO_BIN_EXE_hooked"))),
        boost: missing(),
        pgz: Err("not built for this test".to_owned()),
    };
    let case: &Case = case::find(case).unwrap();
    let Kind::Net(net) = case.job.kind else {
        panic!("{} is no case of servers", case.name);
    };
    let job = case.job.smaller(50);
    net::measure(&programs, server, net, &job, Duration::from_secs(120))
}

fn value(answer: &Answer, series: &str) -> f64 {
    assert_eq!(answer.status, Status::Done);
    let value = answer.value(series);
    value.unwrap_or_else(|| panic!("no {series} in {answer:?}"))
}

/// Runs these cases with each of these servers that is for them, and checks the answers.
fn each(servers: &[&str], cases: &[&str], check: impl Fn(&Case, Net, &Answer)) {
    for name in cases {
        let case = case::find(name).unwrap();
        let Kind::Net(net) = case.job.kind else {
            panic!("{name} is no case of servers");
        };
        for server in servers.iter().filter(|server| net::serves(server, net)) {
            check(case, net, &one(server, name));
        }
    }
}

#[test]
fn every_server_answers_every_case_that_it_is_for() {
    let servers = [
        "pirn", "pirn-std", "epoll", "threads", "tokio", "tokio-ct", "may",
    ];
    let cases = ["echo-64", "echo-64-deep", "echo-64-2w", "http-64", "idle"];
    each(&servers, &cases, |_, net, answer| {
        if net == Net::Idle {
            assert!(value(answer, "connections") >= 1.0);
            return;
        }
        assert!(value(answer, "rate") > 0.0 && value(answer, "cpu") > 0.0);
        assert!(value(answer, "p50") <= value(answer, "p99"));
    });
}

#[test]
fn every_server_answers_the_cases_of_tails() {
    let servers = [
        "pirn",
        "pirn-free",
        "pirn-8",
        "threads",
        "tokio",
        "tokio-sb",
        "may",
    ];
    let mut cases = vec!["tail-server-64", "tail-server-1k", "tail-echo"];
    cases.extend(["tail-http-2w", "tail-mixed"]);
    each(&servers, &cases, |case, net, answer| {
        for row in &case.rows {
            assert!(value(answer, row.series) >= 0.0, "{}", case.name);
        }
        let (low, high) = match net {
            Net::Open { .. } => ("p50-30", "max-30"),
            _ => ("p50", "max"),
        };
        assert!(value(answer, low) <= value(answer, high));
    });
}

// Proves: R9.
#[test]
fn a_server_that_changes_one_byte_has_no_figures() {
    for case in ["echo-64", "echo-64-deep", "echo-1k-2w"] {
        let answer = one("wrong", case);
        let Status::Failed(what) = &answer.status else {
            panic!("{case}: {answer:?}");
        };
        assert!(what.contains("should be 0x"), "{what}");
        assert!(answer.samples.is_empty());
    }
}

#[test]
fn a_server_that_there_is_not_has_no_figures() {
    let answer = one("unknown", "echo-64");
    let Status::Failed(what) = &answer.status else {
        panic!("{answer:?}");
    };
    assert!(what.contains("there is no server `unknown`"), "{what}");
}

// Proves: R11.
#[test]
fn calls_are_counted_where_strace_is() {
    let answer = one("tokio-ct", "echo-64-calls");
    if let Status::Skipped(reason) = &answer.status {
        assert_eq!(reason, "strace is not there");
        return unmeasured(reason);
    }
    assert!(value(&answer, "reads") >= 0.9, "{answer:?}");
    assert!(value(&answer, "writes") >= 0.9, "{answer:?}");
}
