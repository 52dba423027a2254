//! The report as Markdown, for `RESULTS.md`.

use std::fmt::Write;

use super::sheet::{Block, Sheet};
use super::text::{by_reason, number, percentile, verdict};

const TITLE: &str = "# Results

Written by `compare --markdown`; `README.md` says how. Figures of one run on one machine:
read the ratios rather than the numbers.

";

/// The whole report.
pub fn markdown(sheet: &Sheet) -> String {
    let machine = &sheet.machine;
    let mut page = TITLE.to_owned();
    let facts = [
        (
            "machine",
            format!("{} × {}", machine.processors, machine.processor),
        ),
        ("memory", format!("{} GiB", machine.memory_gib)),
        ("kernel", format!("Linux {}", machine.kernel)),
        ("load before", machine.load.clone()),
        ("other processes", sheet.others()),
        ("compiler", machine.compiler.clone()),
        ("peers", machine.versions.join(", ")),
        ("commit", format!("`{}`", machine.commit)),
        ("command", format!("`{}`", machine.command)),
        ("repetitions", sheet.repetitions.to_string()),
    ];
    for (name, value) in facts {
        let _ = writeln!(page, "* {name}: {value}");
    }
    if sheet.quick {
        let _ = writeln!(page, "* quick: sizes are a tenth of those named");
    }
    let _ = writeln!(
        page,
        "\n## Floors of this run\n\n| floor | ns | |\n|---|---:|---|"
    );
    for floor in &sheet.floors {
        let value = number(floor.summary.median);
        let _ = writeln!(page, "| {} | {value} | {} |", floor.name, floor.title);
    }
    page.push_str(&targets(sheet));
    let _ = writeln!(page, "\n## Cases");
    for block in &sheet.blocks {
        page.push_str(&section(block));
    }
    let _ = writeln!(page, "\n## How each peer was used\n\n| peer | |\n|---|---|");
    for (peer, note) in &sheet.peers {
        let _ = writeln!(page, "| {peer} | {note} |");
    }
    page
}

/// One line for each limit, the case in the first column.
fn targets(sheet: &Sheet) -> String {
    let mut page =
        "\n## Targets\n\n| case | row | pirn | target |\n|---|---|---:|---|\n".to_owned();
    for block in &sheet.blocks {
        for limit in &block.limits {
            let ours = block.lines.iter().find(|line| line.peer == limit.peer);
            let ours = ours.map_or("–".to_owned(), |line| {
                format!("{} {}", number(line.summary.median), block.unit)
            });
            let verdict = verdict(limit, block.unit);
            let _ = writeln!(
                page,
                "| {} | {} | {ours} | {verdict} |",
                block.case, block.row
            );
        }
    }
    page
}

fn section(block: &Block) -> String {
    let mut page = format!(
        "\n### {}: {}\n\n{}, {}; workers: {}, warm-up rounds: {}\n\n",
        block.case, block.title, block.row, block.unit, block.workers, block.warmups,
    );
    let surely = block.lines.iter().any(|line| line.surely.is_some());
    let (name, rule) = match surely {
        true => (" surely |", "---:|"),
        false => ("", ""),
    };
    let (rare, rare_rule) = match block.tail {
        true => (" p99.9 | max |", "---:|---:|"),
        false => ("", ""),
    };
    let _ = writeln!(
        page,
        "| peer | median | p95 | p99 |{rare} samples | × best |{name}"
    );
    let _ = writeln!(page, "|---|---:|---:|---:|{rare_rule}---:|---:|{rule}");
    for line in &block.lines {
        let summary = line.summary;
        let sure = match (surely, line.surely) {
            (false, _) => String::new(),
            (true, None) => " |".to_owned(),
            (true, Some(ratio)) => format!(" {} {ratio:.2} |", block.sign()),
        };
        let rare = match block.tail {
            true => format!(" {} | {} |", percentile(summary.p999), number(summary.max)),
            false => String::new(),
        };
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} |{rare} {} | {} |{sure}",
            line.peer,
            number(summary.median),
            percentile(summary.p95),
            percentile(summary.p99),
            summary.samples,
            line.times_best
                .map_or(String::new(), |times| format!("{times:.2}")),
        );
    }
    page.push('\n');
    if let Some(said) = block.noise() {
        let _ = writeln!(page, "* {said}");
    }
    for limit in &block.limits {
        let _ = writeln!(page, "* target {}", verdict(limit, block.unit));
    }
    for (reason, peers) in by_reason(&block.absent) {
        let _ = writeln!(page, "* without {}: {reason}", peers.join(", "));
    }
    page
}
