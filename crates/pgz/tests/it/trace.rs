//! `PIRN_TRACE`: the trace of a compression, as the viewers of the format read it.

use std::collections::HashSet;

use crate::sandbox::{Sandbox, text};
use crate::trace_format::check;

/// A parallel compression leaves a trace in which every worker that ran has slices, every arrow
/// two ends. The output is the same as without a trace.
// Proves: P3.
#[test]
fn a_compression_leaves_a_trace() {
    for blocks_at_once in ["-p1", "-p2", "-p4"] {
        let box_ = Sandbox::new();
        box_.write("data", &text(7, 3 << 20));
        let plain = box_.pgz(&["-c", "data"]).expect(0);
        let run = box_
            .command("pgz")
            .args(["-c", "--stats", blocks_at_once, "data"])
            .env("PIRN_TRACE", "trace.json")
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(0));
        assert_eq!(run.stdout, plain.stdout);
        let trace = check(&String::from_utf8(box_.read("trace.json")).unwrap());
        let slices = trace.slices.values().map(Vec::len).sum::<usize>() as u64;
        // The counters were printed before the runtime had ended.
        let stderr = String::from_utf8(run.stderr).unwrap();
        let count = |name: &str| {
            let mut lines = stderr.lines();
            let line = lines.find_map(|line| line.strip_prefix(name));
            line.expect(name).trim().parse::<u64>().unwrap()
        };
        assert!(slices + trace.lost >= count("dispatched"), "{stderr}");
        // One more for the process itself, and those that were added on a busy machine.
        let threads = trace.threads.len() as u64;
        let least = count("workers") + 1;
        let most = least + count("scale_started") + count("scale_apart");
        assert!((least..=most).contains(&threads), "{threads}: {stderr}");
        assert!(trace.arrows.iter().any(|(.., name)| name == "spawn"));
        let fibers = trace.slices.values().flatten().map(|slice| &slice.fiber);
        assert!(
            fibers.collect::<HashSet<_>>().len() > 8,
            "a fiber for each block"
        );
        let mut all = trace.slices.values().flatten();
        assert!(all.any(|slice| slice.name.contains("pgz") && slice.until == "end"));
    }
}
