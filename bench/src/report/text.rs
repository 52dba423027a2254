//! The report as aligned text for a terminal.

use std::fmt::Write;

use super::sheet::{Block, Sheet};
use super::verdict::Limit;

/// The whole report.
pub fn text(sheet: &Sheet) -> String {
    let mut page = String::new();
    let machine = &sheet.machine;
    let _ = writeln!(
        page,
        "{} × {}, {} GiB, Linux {}, {}, load before {}\n{}\nother processes: {}\ncommit {} · {} · {} repetitions{}",
        machine.processors,
        machine.processor,
        machine.memory_gib,
        machine.kernel,
        machine.compiler,
        machine.load,
        machine.versions.join(", "),
        sheet.others(),
        machine.commit,
        machine.command,
        sheet.repetitions,
        if sheet.quick {
            " · QUICK: sizes are a tenth of those named"
        } else {
            ""
        },
    );
    let _ = writeln!(page, "\nfloors of this run, ns");
    for floor in &sheet.floors {
        let value = number(floor.summary.median);
        let _ = writeln!(page, "  {:<18} {value:>10}  {}", floor.name, floor.title);
    }
    if sheet.floors.is_empty() {
        let _ = writeln!(
            page,
            "  none: the child that measures them did not end well"
        );
    }
    for block in &sheet.blocks {
        page.push_str(&section(block));
    }
    let _ = writeln!(page, "\nhow each peer was used");
    for (peer, note) in &sheet.peers {
        let _ = writeln!(page, "  {peer:<12} {note}");
    }
    page
}

fn section(block: &Block) -> String {
    let mut page = format!(
        "\n{}: {} · {} · {}, {} warm-up\n",
        block.case,
        block.title,
        block.row,
        if block.workers == 1 {
            "1 worker".to_owned()
        } else {
            format!("{} workers", block.workers)
        },
        block.warmups,
    );
    let rare = |p999: &str, max: &str| match block.tail {
        true => format!(" {p999:>10} {max:>10}"),
        false => String::new(),
    };
    let _ = writeln!(
        page,
        "  {:<12} {:>10} {:>10} {:>10}{}  {:<5} {:>7} {:>8}",
        "",
        "median",
        "p95",
        "p99",
        rare("p99.9", "max"),
        "",
        "samples",
        "× best"
    );
    for line in &block.lines {
        let summary = line.summary;
        let times = line
            .times_best
            .map_or(String::new(), |times| format!("{times:.2}"));
        let surely = line.surely.map_or(String::new(), |ratio| {
            format!(", surely {} {ratio:.2}", block.sign())
        });
        let _ = writeln!(
            page,
            "  {:<12} {:>10} {:>10} {:>10}{}  {:<5} {:>7} {times:>8}{surely}",
            line.peer,
            number(summary.median),
            percentile(summary.p95),
            percentile(summary.p99),
            rare(&percentile(summary.p999), &number(summary.max)),
            block.unit,
            summary.samples,
        );
    }
    for (reason, peers) in by_reason(&block.absent) {
        let _ = writeln!(page, "  without {}: {reason}", peers.join(", "));
    }
    if let Some(said) = block.noise() {
        let _ = writeln!(page, "  {said}");
    }
    for limit in &block.limits {
        let _ = writeln!(page, "  target {}", verdict(limit, block.unit));
    }
    if !block.region.is_empty() {
        let seen: Vec<_> = block
            .region
            .iter()
            .map(|(peer, value)| format!("{peer} {value}"))
            .collect();
        let _ = writeln!(page, "  seen elsewhere: {} {}", seen.join(", "), block.unit);
    }
    page
}

/// The peers without numbers, those with one reason together.
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

/// A limit with its number and verdict, in one line.
pub(super) fn verdict(limit: &Limit, unit: &str) -> String {
    let equals = if limit.relative { " =" } else { "" };
    let value = limit
        .value
        .map(|value| format!("{equals} {} {unit}", number(value)));
    let value = value.unwrap_or_default();
    let outcome = match (limit.kept, limit.times) {
        (Some(true), Some(times)) => format!("kept, {times:.2} of it"),
        (Some(false), Some(times)) => format!("MISSED, {times:.2} of it"),
        _ => "not judged".to_owned(),
    };
    format!("{}{value}: {outcome}", limit.text)
}

/// The requirement of a limit, without a peer's figure of this run.
pub(super) fn bound(limit: &Limit, unit: &str) -> String {
    match limit.value {
        Some(value) if !limit.relative => {
            format!("{} {} {unit}", limit.text, number(value))
        }
        _ => limit.text.clone(),
    }
}

/// A percentile, or a dash if there are too few samples for it.
pub(super) fn percentile(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), number)
}

/// Three significant digits or whole numbers.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => group(value.round() as i64),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Formats a number with separators of thousands.
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
