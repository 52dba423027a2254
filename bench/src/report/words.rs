//! Numbers and verdicts in words.

use super::verdict::Limit;

/// Returns the peers without numbers, grouped by the reason.
pub(super) fn by_reason<'a>(
    absent: &'a [(&'static str, String)],
) -> Vec<(&'a str, Vec<&'static str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (peer, reason) in absent {
        match groups.iter_mut().find(|(seen, _)| seen == reason) {
            Some((_, peers)) => peers.push(peer),
            None => groups.push((reason, vec![peer])),
        }
    }
    groups
}

/// Returns one line with the limit, its number if it is relative, and the verdict.
pub(super) fn verdict(limit: &Limit, unit: &str) -> String {
    let value = limit.value.filter(|_| limit.relative);
    let value = value.map_or(String::new(), |value| {
        format!(" = {} {unit}", number(value))
    });
    let outcome = match (limit.kept, limit.times) {
        (Some(true), Some(times)) => format!("kept, {times:.2} of it"),
        (Some(false), Some(times)) => format!("MISSED, {times:.2} of it"),
        _ => "not judged".to_owned(),
    };
    format!("{}{value}: {outcome}", limit.bound)
}

/// Returns a percentile, or a dash if there are too few samples for it.
pub(super) fn percentile(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), number)
}

/// Returns the number with two decimals below 10, one below 100, and none from there on, with
/// separators of thousands.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => group(value.round() as i64),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn group(value: i64) -> String {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && !grouped.ends_with('-') {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
