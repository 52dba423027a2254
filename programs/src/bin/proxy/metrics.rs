//! The counters of the proxy and of its runtime, in the text format of Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use hyper::Response;
use pirn::runtime::Handle;

use crate::answer::Answer;
use crate::forward::Proxy;

/// Where they are.
pub(crate) const PATH: &str = "/proxy/metrics";

/// Returns all counters.
pub(crate) fn page(proxy: &Proxy) -> Response<Answer> {
    let mut text = String::new();
    write_all(proxy, &mut text);
    let mut runtime = Vec::new();
    // A write to memory does not fail.
    let _ = Handle::current().metrics().prometheus(&mut runtime);
    text.push_str(&String::from_utf8_lossy(&runtime));
    Answer::status(200, text.trim_end())
}

fn write_all(proxy: &Proxy, text: &mut String) {
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let classes = (1..).zip(&proxy.answers);
    let answers = classes.map(|(class, it)| (format!("status=\"{class}xx\""), count(it)));
    family(
        text,
        "answers_total",
        "counter",
        "Answers to clients.",
        answers,
    );
    let label = |address: &dyn std::fmt::Display| format!("backend=\"{address}\"");
    let backends = || proxy.backends().iter();
    let up = backends().map(|it| (label(&it.address), u64::from(it.is_up())));
    family(text, "backend_up", "gauge", "1 if it counts as up.", up);
    let requests = backends().map(|it| (label(&it.address), count(&it.requests)));
    let help = "Requests to a backend, checks included.";
    family(text, "backend_requests_total", "counter", help, requests);
    let failures = backends().map(|it| (label(&it.address), count(&it.failures)));
    let help = "Requests without an answer.";
    family(text, "backend_failures_total", "counter", help, failures);
}

/// Writes the values of one name.
fn family(
    text: &mut String,
    name: &str,
    kind: &str,
    help: &str,
    values: impl Iterator<Item = (String, u64)>,
) {
    // A write to memory does not fail.
    let _ = writeln!(
        text,
        "# HELP proxy_{name} {help}\n# TYPE proxy_{name} {kind}"
    );
    for (labels, value) in values {
        let _ = writeln!(text, "proxy_{name}{{{labels}}} {value}");
    }
}
