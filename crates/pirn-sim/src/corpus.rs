//! Corpora: files with the traces of runs that have failed once.
//!
//! Owns: the format, and its errors. Does not own: the runs (`campaign`).

use std::fs;
use std::path::Path;

use crate::trace::Trace;

/// A line of a corpus.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The number of the line in the file; the first one is 1.
    pub(crate) line: usize,
    pub(crate) trace: Trace,
}

/// Reads the corpus at `path`.
///
/// # Panics
/// If the file cannot be read, or a line is damaged.
pub(crate) fn read(path: &Path) -> Vec<Entry> {
    let shown = path.display();
    let text = fs::read_to_string(path).unwrap_or_else(|error| {
        panic!(
            "{shown}: cannot read this corpus: {error}; a relative path begins at the present \
             directory, which is that of the package in `cargo test`; create an empty file for a \
             new corpus"
        )
    });
    parse(&text).unwrap_or_else(|(line, why)| {
        panic!(
            "{shown}:{line}: {why}; restore this line from version control, or delete it; a line \
             is a trace, a space and the first line of a failure, as a report prints it"
        )
    })
}

/// Returns the entries of a text, or the line that is damaged and the reason.
fn parse(text: &str) -> Result<Vec<Entry>, (usize, String)> {
    let lines = (1..)
        .zip(text.lines())
        .map(|(line, text)| (line, text.trim()));
    let lines = lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    let entry = |(line, text): (usize, &str)| {
        let Some((trace, _)) = text.split_once(' ') else {
            return Err((line, format!("no failure after the trace '{text}'")));
        };
        match trace.parse() {
            Ok(trace) => Ok(Entry { line, trace }),
            Err(error) => Err((line, format!("{error}"))),
        }
    };
    lines.map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn comments_and_empty_lines_are_skipped() {
        let text = "# of the bank\n\n1:0:0.3>1 deadlock: 2 fibers\r\n  # end\n1:7: panicked: x\n";
        let entries = parse(text).unwrap();
        let read: Vec<_> = entries
            .iter()
            .map(|it| (it.line, it.trace.to_string()))
            .collect();
        assert_eq!(read, [(3, "1:0:0.3>1".to_owned()), (5, "1:7:".to_owned())]);
    }

    #[test]
    fn damage_is_an_error() {
        for damaged in [
            "1:0:0.3>1",
            "deadlock: 2 fibers",
            "1:0:0.3 panicked",
            "<<<<<<< main",
        ] {
            let error = parse(&format!("# one\n{damaged}\n")).unwrap_err();
            assert_eq!(error.0, 2, "{error:?}");
        }
    }
}
