//! The rules of a trace, so that the viewers of the trace-event format show all of it.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

/// The content of a trace.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    /// By thread: the beginning and the end of each slice, in order, in nanoseconds, and the reason
    /// of its end.
    pub(crate) slices: BTreeMap<u64, Vec<Slice>>,
    /// The fiber that runs where it leaves, the one that runs where it arrives, and the kind. Two
    /// fibers if one run ends as another begins.
    pub(crate) arrows: Vec<(Vec<String>, Vec<String>, String)>,
    /// Names of threads.
    pub(crate) threads: BTreeMap<u64, String>,
    /// Names of marks.
    pub(crate) marks: Vec<String>,
    pub(crate) lost: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Slice {
    pub(crate) name: String,
    pub(crate) fiber: String,
    pub(crate) until: String,
    begin: u64,
    end: u64,
}

/// Parses `text` and checks the format.
///
/// # Panics
/// If it violates the format.
pub(crate) fn check(text: &str) -> Trace {
    let json: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(json["displayTimeUnit"], "ns");
    let events = json["traceEvents"].as_array().expect("an array of events");
    let lost = json["otherData"]["events_lost"].as_str().expect("a text");
    let mut trace = Trace {
        lost: lost.parse().expect("a number"),
        ..Trace::default()
    };
    let mut begins = HashMap::new();
    let mut ends = HashMap::new();
    for event in events {
        let phase = event["ph"].as_str().expect("a phase");
        let name = event["name"].as_str().expect("a name").to_owned();
        let pid = event["pid"].as_u64().expect("a process");
        assert!(pid > 0);
        let tid = event["tid"].as_u64().expect("a thread");
        match phase {
            "M" if name == "process_name" => {
                assert!(event["args"]["name"].is_string(), "{event}");
            }
            "M" => {
                assert_eq!(name, "thread_name");
                let known = event["args"]["name"].as_str().expect("a name");
                let before = trace.threads.insert(tid, known.to_owned());
                assert!(before.is_none(), "thread {tid} has two names");
            }
            "X" => {
                let begin = nanos(&event["ts"]);
                let args = &event["args"];
                assert!(args["spawned_at"].as_str().expect("a place").contains(':'));
                trace.slices.entry(tid).or_default().push(Slice {
                    name,
                    fiber: args["fiber"].as_str().expect("a fiber").to_owned(),
                    until: args["until"].as_str().expect("a reason").to_owned(),
                    begin,
                    end: begin + nanos(&event["dur"]),
                });
            }
            "s" | "f" => {
                let id = event["id"].as_u64().expect("a number");
                let category = event["cat"].as_str().expect("a category").to_owned();
                let end = (tid, nanos(&event["ts"]), name, category);
                let known = if phase == "s" {
                    &mut begins
                } else {
                    assert_eq!(event["bp"], "e", "{event}");
                    &mut ends
                };
                assert!(known.insert(id, end).is_none(), "arrow {id} twice");
            }
            "i" => {
                assert_eq!(event["s"], "t", "{event}");
                nanos(&event["ts"]);
                trace.marks.push(name);
            }
            other => panic!("phase {other}"),
        }
    }
    check_slices(&mut trace);
    check_arrows(&mut trace, &begins, &ends);
    trace
}

type Ends = HashMap<u64, (u64, u64, String, String)>;

/// Threads have names, and their slices do not overlap.
fn check_slices(trace: &mut Trace) {
    for (tid, slices) in &mut trace.slices {
        assert!(trace.threads.contains_key(tid), "thread {tid} has no name");
        slices.sort_by_key(|slice| (slice.begin, slice.end));
        for pair in slices.windows(2) {
            assert!(pair[0].end <= pair[1].begin, "{pair:?} overlap");
        }
    }
}

/// An arrow has two ends, in the order of time; it leaves from within a slice and ends at the
/// beginning of one.
fn check_arrows(trace: &mut Trace, begins: &Ends, ends: &Ends) {
    let ids = |ends: &Ends| ends.keys().copied().collect::<HashSet<_>>();
    assert_eq!(ids(begins), ids(ends), "arrows with one end");
    for (id, (from, left, name, category)) in begins {
        let (to, met, other_name, other_category) = &ends[id];
        assert_eq!((name, category), (other_name, other_category));
        assert!(left <= met, "arrow {id} flies back");
        let fibers = |thread: &u64, is_end: &dyn Fn(&Slice) -> bool| -> Vec<String> {
            let ends = trace.slices[thread].iter().filter(|slice| is_end(slice));
            ends.map(|slice| slice.fiber.clone()).collect()
        };
        let waker = fibers(from, &|slice| slice.begin <= *left && *left <= slice.end);
        assert!(!waker.is_empty(), "arrow {id} from nowhere");
        let woken = fibers(to, &|slice| slice.begin == *met);
        assert!(!woken.is_empty(), "arrow {id} to nowhere");
        trace.arrows.push((waker, woken, name.clone()));
    }
}

/// Microseconds with three digits after the point, in nanoseconds.
fn nanos(micros: &Value) -> u64 {
    let micros = micros.as_f64().expect("a number");
    assert!(micros >= 0.0);
    (micros * 1_000.0).round() as u64
}
