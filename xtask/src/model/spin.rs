//! Spin: protocols in Promela, searched state by state, liveness included.
//!
//! Each file in models/ lists its searches in a comment, one line each:
//! ```text
//! check: safety NW=3          no assertion fails, nothing ends in the wrong place
//! check: progress NW=2        no cycle without progress under weak fairness
//! check: ltl idle_wakes       this claim of the file holds under weak fairness
//! check: broken safety BUG=1  the search must find an error
//! ```
//! `NAME=value` words become definitions for the model.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::options::Options;
use crate::parallel::{parallel, processors};
use crate::tally::Tally;
use crate::{command, outcomes, repo};

/// One search.
#[derive(Debug)]
struct Search {
    /// The file's name, without its end.
    model: String,
    /// The words of its line.
    words: Vec<String>,
}

/// Maximum number of parallel searches: the largest takes a gigabyte or two.
const AT_A_TIME: usize = 4;

/// Runs every search of every model, or of those with one of the words in their file names. Without
/// Spin on the machine every search counts as skipped.
///
/// # Errors
/// When a model cannot be read or built.
pub(crate) fn spin(options: &Options) -> Result<Tally, String> {
    let mut searches = Vec::new();
    for file in repo::files()? {
        let name = file.path.strip_prefix("models/");
        let name = name.and_then(|name| name.strip_suffix(".pml"));
        let Some(name) = name.filter(|name| options.picks(name)) else {
            continue;
        };
        let found = parse(name, &file.text);
        if found.is_empty() {
            return Err(format!("{}: no `check:` line", file.path));
        }
        searches.extend(found);
    }
    let mut tally = Tally::default();
    if !(command::exists("spin") && command::exists("gcc")) {
        for Search { model, words } in searches {
            let id = format!("spin {model}: {}", words.join(" "));
            tally += outcomes::skip_check(&id, "no spin and gcc on this machine");
        }
        return Ok(tally);
    }
    let found = parallel(&searches, processors().min(AT_A_TIME), Search::run);
    for (search, found) in searches.iter().zip(found) {
        let found = found?;
        let ok = found.error == search.must_fail() && !found.cut_short;
        let Search { model, words } = search;
        let end = if found.error { ", an error found" } else { "" };
        let said = format!("{model}: {}: {} states{end}", words.join(" "), found.states);
        tally += Tally::printed(ok, said);
    }
    println!("    Spin: {tally}");
    Ok(tally)
}

/// The result of a search.
#[derive(Debug)]
struct Found {
    error: bool,
    /// Depth or memory ended the search before it was complete.
    cut_short: bool,
    states: String,
}

/// Returns the searches that a model lists.
fn parse(model: &str, text: &str) -> Vec<Search> {
    let lines = text.lines().filter_map(|line| line.split_once("check: "));
    let search = |(_, words): (&str, &str)| Search {
        model: model.to_owned(),
        words: words.split_whitespace().map(str::to_owned).collect(),
    };
    lines.map(search).collect()
}

impl Search {
    /// Returns true if it must find an error.
    fn must_fail(&self) -> bool {
        self.words.first().is_some_and(|word| word == "broken")
    }

    /// Returns the arguments of Spin, of the compiler, and of the search.
    fn arguments(&self) -> Result<[Vec<String>; 3], String> {
        let words: Vec<_> = self.words.iter().map(String::as_str).collect();
        let words = words.strip_prefix(&["broken"]).unwrap_or(&words);
        let (compiler, search, definitions): (&[&str], Vec<&str>, _) = match words {
            ["safety", rest @ ..] => (&["-DSAFETY", "-DNOCLAIM"], vec![], rest),
            ["progress", rest @ ..] => (&["-DNP"], vec!["-f", "-l"], rest),
            ["ltl", claim, rest @ ..] => (&[], vec!["-f", "-a", "-N", *claim], rest),
            _ => return Err(format!("{}: cannot read {words:?}", self.model)),
        };
        let definitions = definitions.iter().take_while(|word| word.contains('='));
        Ok([
            definitions.map(|word| format!("-D{word}")).collect(),
            compiler.iter().map(ToString::to_string).collect(),
            search.iter().map(ToString::to_string).collect(),
        ])
    }

    fn run(&self) -> Result<Found, String> {
        let [spin, gcc, pan] = self.arguments()?;
        // A separate directory: other searches of the same model run meanwhile.
        let name = format!("{}-{}", self.model, self.words.join("-"));
        let dir = repo::target(Some("spin")).join(name);
        fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        let step = |program: &Path, fixed: &[&str], args: Vec<String>| {
            let mut command = command::program(program);
            command.args(fixed).args(args).current_dir(&dir);
            command
        };
        let model = repo::root().join(format!("models/{}.pml", self.model));
        must(step(Path::new("spin"), &["-a"], spin).arg(model))?;
        let compile = ["-O2", "-w", "-DNFAIR=4", "-o", "pan", "pan.c"];
        must(&mut step(Path::new("gcc"), &compile, gcc))?;
        let mut search = step(&dir.join("pan"), &["-m2000000"], pan);
        let (_, text) = command::outcome(&mut search)?;
        if !text.contains("errors: ") {
            return Err(format!("{}: the search said nothing:\n{text}", self.model));
        }
        let states = text.lines().find(|line| line.contains("states, stored"));
        let states = states.and_then(|line| line.split_whitespace().next());
        Ok(Found {
            error: !text.contains("errors: 0"),
            cut_short: text.contains("max search depth too small")
                || text.contains("out of memory"),
            states: states.unwrap_or("?").to_owned(),
        })
    }
}

/// Runs a step that must succeed; otherwise its output is the error.
fn must(command: &mut Command) -> Result<(), String> {
    match command::outcome(command)? {
        (true, _) => Ok(()),
        (false, text) => Err(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_to_be_checked() {
        let text = "/* A model.\n * check: safety NW=3 NR=2\n * check: broken ltl live BUG=1\n */";
        let read = parse("m", text);
        assert_eq!(read[0].arguments().unwrap()[0], ["-DNW=3", "-DNR=2"]);
        assert!(!read[0].must_fail() && read[1].must_fail());
        let [spin, _, search] = read[1].arguments().unwrap();
        assert_eq!((spin.len(), search.last().unwrap().as_str()), (1, "live"));
        assert!(parse("m", "check: magic")[0].arguments().is_err());
    }
}
