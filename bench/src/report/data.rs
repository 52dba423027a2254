//! The files of `bench/results`, one for each run, and the page of all of them, `bench/RESULTS.md`.
//!
//! A file has one record a line, with tabs between its fields; the first field is its kind:
//!
//! * `head NAME VALUE`, `note TEXT`, `floor NAME NS TITLE`, `case NAME TITLE WORKERS WARM-UPS`
//! * `figure CASE ROW UNIT PEER MEDIAN P95 P99 P99.9 MAX SAMPLES TIMES-BEST SURELY`, the best peer
//!   first; `-` for a number that there is not
//! * `target CASE ROW VERDICT`, `without CASE ROW PEERS REASON`, `noise CASE ROW TEXT`
//! * `peer NAME NOTE`, `rounds CASE LEAST GREATEST`, the quotients of rounds
//! * `table COLUMN…` and its lines, `row CELL…`, where the figures are no measurements of peers

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::peers;

use super::sheet::{Block, Sheet};
use super::words::{by_reason, number, verdict};

/// Returns the records of a run.
pub fn records(sheet: &Sheet) -> String {
    let mut file = String::new();
    let mut add = |fields: &[&str]| {
        file.push_str(&fields.join("\t"));
        file.push('\n');
    };
    for (name, value) in sheet.facts() {
        add(&["head", name, &value]);
    }
    for (name, title, summary) in &sheet.floors {
        add(&["floor", name, &plain(summary.median), title]);
    }
    let mut case = "";
    for block in &sheet.blocks {
        if block.case != case {
            case = block.case;
            let (workers, warmups) =
                (block.workers.to_string(), block.warmups.to_string());
            add(&["case", case, block.title, &workers, &warmups]);
        }
        figures(block, &mut add);
        if let Some(said) = block.noise() {
            add(&["noise", case, block.row, &said]);
        }
        for limit in &block.limits {
            add(&["target", case, block.row, &verdict(limit, block.unit)]);
        }
        for (reason, peers) in by_reason(&block.absent) {
            add(&["without", case, block.row, &peers.join(", "), reason]);
        }
    }
    for (peer, note) in &sheet.peers {
        add(&["peer", peer, note]);
    }
    file
}

fn figures(block: &Block, add: &mut impl FnMut(&[&str])) {
    let percentile = |value: Option<f64>| value.map_or(NONE.to_owned(), plain);
    let ratio = |value: Option<f64>| value.map_or(NONE.to_owned(), |v| format!("{v:.2}"));
    let unit = if block.unit.is_empty() {
        NONE
    } else {
        block.unit
    };
    for line in &block.lines {
        let summary = line.summary;
        add(&[
            "figure",
            block.case,
            block.row,
            unit,
            line.peer,
            &plain(summary.median),
            &percentile(summary.p95),
            &percentile(summary.p99),
            &percentile(summary.p999),
            &plain(summary.max),
            &summary.samples.to_string(),
            &ratio(line.times_best),
            &ratio(line.surely),
        ]);
    }
}

const NONE: &str = "-";

fn plain(value: f64) -> String {
    number(value).replace(',', "")
}

/// Writes the records of a run to the file of that name, and the page of all files.
///
/// # Errors
/// Those of writing.
pub fn save(records: &str, name: &str) -> io::Result<()> {
    fs::write(directory().join(format!("{name}.tsv")), records)?;
    write_page()
}

/// Returns the tables among the records of a run, as the page has them.
pub fn tables(records: &str) -> String {
    let mut tables = String::new();
    for line in records.lines() {
        let mut cells = line.split('\t');
        let kind = cells.next();
        let cells: Vec<_> = cells.collect();
        match kind {
            Some("table") => {
                let rules = "---:|".repeat(cells.len() - 1);
                let _ = writeln!(tables, "\n| {} |\n|---|{rules}", cells.join(" | "));
            }
            Some("row") => {
                let _ = writeln!(tables, "| {} |", cells.join(" | "));
            }
            _ => {}
        }
    }
    tables
}

/// Writes the page of all files.
///
/// # Errors
/// Those of reading and writing.
pub fn write_page() -> io::Result<()> {
    fs::write(directory().with_file_name("RESULTS.md"), page(&files()?))
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

/// Returns the names of all files and their texts.
fn files() -> io::Result<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory())? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        files.push((name.into_owned(), fs::read_to_string(&path)?));
    }
    files.sort();
    Ok(files)
}

/// Returns the page of these files.
fn page(files: &[(String, String)]) -> String {
    let runs: Vec<_> = files
        .iter()
        .map(|(name, text)| Run::parse(name, text))
        .collect();
    let mut page = TITLE.to_owned();
    let mut versions: Vec<(String, Vec<&str>)> = Vec::new();
    for run in &runs {
        let name = run.name;
        let facts = [
            "machine",
            "memory",
            "kernel",
            "commit",
            "repetitions",
            "command",
        ];
        let [machine, memory, kernel, commit, repetitions, command] =
            facts.map(|fact| run.head(fact).unwrap_or_default());
        let _ = writeln!(
            page,
            "| [{name}](results/{name}.tsv) | {machine}, {memory} | {kernel} | `{commit}` | {repetitions} | `{command}` |"
        );
        let known = ["compiler", "peers"]
            .iter()
            .filter_map(|fact| run.head(fact));
        let known = known.collect::<Vec<_>>().join(", ");
        match versions.iter_mut().find(|(seen, _)| *seen == known) {
            Some((_, names)) => names.push(name),
            None => versions.push((known, vec![name])),
        }
    }
    page.push('\n');
    for (known, names) in versions {
        let _ = writeln!(page, "* {}: {known}", names.join(", "));
    }
    page.push_str(TABLES);
    runs.iter().for_each(|run| run.write(&mut page));
    page
}

/// The records of one file.
struct Run<'a> {
    name: &'a str,
    text: &'a str,
    records: Vec<Vec<&'a str>>,
}

impl<'a> Run<'a> {
    fn parse(name: &'a str, text: &'a str) -> Run<'a> {
        let fields = |line: &'a str| line.split('\t').collect();
        Run {
            name,
            text,
            records: text.lines().map(fields).collect(),
        }
    }

    fn head(&self, fact: &str) -> Option<&'a str> {
        self.records.iter().find_map(|record| match record[..] {
            ["head", name, value] if name == fact => Some(value),
            _ => None,
        })
    }

    /// Returns true if the machine was not quiet before the case.
    fn is_noisy(&self, case: &str) -> bool {
        let mut records = self.records.iter();
        records.any(|record| matches!(record[..], ["noise", of, ..] if of == case))
    }

    /// Adds the ratios in the first row of each case, with their bounds.
    fn write(&self, page: &mut String) {
        let mut peers = Vec::new();
        // The case, its first row, the unit.
        let mut rows: Vec<[&str; 3]> = Vec::new();
        let mut ratios = BTreeMap::new();
        let _ = writeln!(page, "\n## {}\n", self.name);
        for record in &self.records {
            match record[..] {
                ["note", text] => {
                    let _ = writeln!(page, "{text}\n");
                }
                ["figure", case, row, unit, peer, .., ratio, surely] => {
                    if !peers.contains(&peer) {
                        peers.push(peer);
                    }
                    if rows.last().is_none_or(|[last, ..]| *last != case) {
                        rows.push([case, row, unit]);
                    }
                    if rows.last() == Some(&[case, row, unit]) {
                        let cell = match surely {
                            NONE => ratio.to_owned(),
                            surely => format!("{ratio} ({surely})"),
                        };
                        ratios.insert((case, peer), cell);
                    }
                }
                _ => {}
            }
        }
        page.push_str(tables(self.text).trim_start());
        if peers.is_empty() {
            return;
        }
        let place = |name: &&str| peers::all().iter().position(|peer| peer.name == *name);
        peers.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
        let rules = "---:|".repeat(peers.len());
        let _ = writeln!(page, "| case | figure | {} |", peers.join(" | "));
        let _ = writeln!(page, "|---|---|{rules}");
        for [case, row, unit] in rows {
            let mut cells = Vec::new();
            for peer in &peers {
                let cell = ratios.get(&(case, *peer));
                cells.push(cell.map_or("", String::as_str));
            }
            let unit = match unit {
                NONE => String::new(),
                unit => format!(", {unit}"),
            };
            let noisy = match self.is_noisy(case) {
                true => ", not quiet",
                false => "",
            };
            let cells = cells.join(" | ");
            let _ = writeln!(page, "| {case}{noisy} | {row}{unit} | {cells} |");
        }
    }
}

const TITLE: &str = "# Results

Written by `compare --page` from the files in [results](results), each of which has the figures of one run on one
machine; [README.md](README.md) says how they are measured, [BOUNDS.md](BOUNDS.md) has the last verdicts.

| run | machine | kernel | commit | repetitions | command |
|---|---|---|---|---:|---|
";

const TABLES: &str = "
The tables have the median of the first row of each case as a multiple of the best peer's, which is never pirn's nor that
of a peer with other work (README.md). Those of redis are medians of the quotients of the rounds. More is better of `/s`,
`M/s`, `MB/s` and `×`, less of all else. In brackets, where each repetition gives one sample, is the bound that the
multiple keeps with a probability of 95 %: with `1.08 (0.94)` the order may be another in the next run. Skynet of may is
a hundred times a tree of 10,000 leaves. The figures of a file are those of the commit in its row. Programs and best
peers that have changed since then (CHANGELOG.md) are measured again with the next file.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_what_the_files_have() {
        let written = include_str!("../../RESULTS.md");
        let page = page(&files().unwrap());
        assert!(page == written, "run `compare --page`");
    }

    #[test]
    fn the_page_has_the_bounds_of_ratios_and_names_noise() {
        let figure = "figure\techo-1k\trate\t/s\tpirn\t9\t-\t-\t-\t9\t7\t1.08";
        let noise = "noise\techo-1k\trate\tNOT QUIET";
        let page = |text: String| page(&[("servers".to_owned(), text)]);
        let sure = page(format!("{figure}\t0.94\n{noise}\n"));
        assert!(sure.contains("| echo-1k, not quiet | rate, /s | 1.08 (0.94) |"));
        let unknown = page(format!("{figure}\t-\n"));
        assert!(unknown.contains("| echo-1k | rate, /s | 1.08 |"));
    }

    /// Returns a figure of the files as README.md writes it: with commas, without its unit.
    fn grouped(figure: &str) -> String {
        let (whole, rest) = figure.split_once('.').unwrap_or((figure, ""));
        let mut text = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        if !rest.is_empty() {
            text = text + "." + rest;
        }
        text
    }

    /// Each row of the first table names its case and its file.
    #[test]
    fn the_readme_has_what_the_files_have() {
        let peers = ["pirn", "tokio", "go", "threads"];
        let mut rows = 0;
        for line in include_str!("../../../README.md").lines() {
            let Some((case, rest)) = line.split_once("](bench/results/") else {
                continue;
            };
            let Some((file, cells)) = rest.split_once(") | ") else {
                continue;
            };
            let (_, case) = case.rsplit_once("([").expect("the name of a case");
            let file = file.trim_end_matches(')');
            let text = fs::read_to_string(Path::new("results").join(file));
            let text = text.unwrap_or_else(|error| panic!("{file}: {error}"));
            let cells: Vec<_> = cells.trim_end_matches(" |").split(" | ").collect();
            if cells.len() != peers.len() {
                continue;
            }
            for (cell, peer) in cells.iter().zip(peers) {
                // Of Tokio's two runtimes the better one, which comes first.
                let is_it = |by: &str| by == peer || (by, peer) == ("tokio-ct", "tokio");
                let figure = text.lines().find_map(|line| {
                    let words: Vec<_> = line.split('\t').collect();
                    let ["figure", of, _, _, by, median, ..] = words[..] else {
                        return None;
                    };
                    (of == case && is_it(by)).then(|| grouped(median))
                });
                let said = cell.split(' ').next();
                assert_eq!(said, figure.as_deref(), "{file}: {case} of {peer}");
            }
            rows += 1;
        }
        assert!(rows > 4, "{rows} rows with figures");
    }
}
