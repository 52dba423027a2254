//! The report for a reader, as aligned text or as Markdown.

use std::iter;

use super::sheet::{Block, Sheet};
use super::words::{by_reason, number, percentile, verdict};

/// Returns the whole report, as Markdown or aligned for a terminal.
pub fn report(sheet: &Sheet, markdown: bool) -> String {
    let text = String::new();
    let mut page = Page { markdown, text };
    page.heading("#", "Results");
    let facts = sheet.facts().into_iter();
    page.list(facts.map(|(name, value)| format!("{name}: {value}")));
    page.heading("##", "Floors of this run");
    let floors = sheet.floors.iter().map(|(name, title, summary)| {
        vec![
            (*name).to_owned(),
            number(summary.median),
            (*title).to_owned(),
        ]
    });
    page.table("lrl", &["floor", "ns", ""], floors);
    page.heading("##", "Targets");
    let limits = sheet.blocks.iter().flat_map(targets);
    page.table("llrl", &["case", "row", "pirn", "target"], limits);
    page.heading("##", "Cases");
    for block in &sheet.blocks {
        page.section(block);
    }
    page.heading("##", "How each peer was used");
    let peers = sheet.peers.iter();
    let peers = peers.map(|(peer, note)| vec![(*peer).to_owned(), (*note).to_owned()]);
    page.table("ll", &["peer", ""], peers);
    page.text
}

/// One line for each limit, the case in the first column.
fn targets(block: &Block) -> impl Iterator<Item = Vec<String>> {
    block.limits.iter().map(|limit| {
        let ours = block.lines.iter().find(|line| line.peer == limit.peer);
        let ours = ours.map_or("-".to_owned(), |line| {
            format!("{} {}", number(line.summary.median), block.unit)
        });
        let verdict = verdict(limit, block.unit);
        vec![block.case.to_owned(), block.row.to_owned(), ours, verdict]
    })
}

struct Page {
    markdown: bool,
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn heading(&mut self, level: &str, title: &str) {
        match self.markdown {
            true => self.line(&format!("\n{level} {title}\n")),
            false => self.line(&format!("\n{title}")),
        }
    }

    fn list(&mut self, items: impl Iterator<Item = String>) {
        let mark = if self.markdown { "* " } else { "  " };
        items.for_each(|item| self.line(&format!("{mark}{item}")));
    }

    /// Adds a table. `sides` has a letter for each column, `r` if its cells are aligned right.
    fn table(
        &mut self,
        sides: &str,
        head: &[&str],
        rows: impl Iterator<Item = Vec<String>>,
    ) {
        let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
        let mut rows: Vec<_> = iter::once(head).chain(rows).collect();
        if self.markdown {
            let rule = |side| match side {
                'r' => "---:".to_owned(),
                _ => "---".to_owned(),
            };
            rows.insert(1, sides.chars().map(rule).collect());
            for row in rows {
                self.line(&format!("| {} |", row.join(" | ")));
            }
            return;
        }
        let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max();
        let widths: Vec<_> = (0..sides.len()).filter_map(width).collect();
        for row in rows {
            let cells = row.iter().zip(sides.chars()).zip(&widths);
            let cells = cells.map(|((cell, side), &width)| match side {
                'r' => format!("{cell:>width$}"),
                _ => format!("{cell:<width$}"),
            });
            self.line(&format!("  {}", cells.collect::<Vec<_>>().join("  ")));
        }
    }

    /// Adds one row of one case with all peers.
    fn section(&mut self, block: &Block) {
        self.heading("###", &format!("{}: {}", block.case, block.title));
        self.line(&format!(
            "{}, {}; workers: {}, warm-up rounds: {}",
            block.row, block.unit, block.workers, block.warmups
        ));
        if self.markdown {
            self.line("");
        }
        let mut head = vec!["peer", "median", "p95", "p99"];
        if block.tail {
            head.extend(["p99.9", "max"]);
        }
        head.extend(["samples", "× best"]);
        let surely = block.lines.iter().any(|line| line.surely.is_some());
        if surely {
            head.push("surely");
        }
        let rows = block.lines.iter().map(|line| {
            let summary = line.summary;
            let mut row = vec![line.peer.to_owned(), number(summary.median)];
            row.extend([summary.p95, summary.p99].map(percentile));
            if block.tail {
                row.extend([percentile(summary.p999), number(summary.max)]);
            }
            row.push(summary.samples.to_string());
            let ratio = |ratio| format!("{ratio:.2}");
            row.push(line.times_best.map_or(String::new(), ratio));
            if surely {
                let ratio = |ratio| format!("{} {ratio:.2}", block.sign());
                row.push(line.surely.map_or(String::new(), ratio));
            }
            row
        });
        let sides = format!("l{}", "r".repeat(head.len() - 1));
        self.table(&sides, &head, rows);
        if self.markdown {
            self.line("");
        }
        self.list(block.noise().into_iter());
        let limits = block.limits.iter();
        self.list(limits.map(|limit| format!("target {}", verdict(limit, block.unit))));
        let absent = by_reason(&block.absent).into_iter();
        self.list(
            absent
                .map(|(reason, peers)| format!("without {}: {reason}", peers.join(", "))),
        );
        let seen = block.elsewhere.iter();
        let seen: Vec<_> = seen
            .map(|(peer, value)| format!("{peer} {value}"))
            .collect();
        if !seen.is_empty() {
            let seen = format!("seen elsewhere: {} {}", seen.join(", "), block.unit);
            self.list(iter::once(seen));
        }
    }
}
