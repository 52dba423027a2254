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
use std::path::{Path, PathBuf};

use crate::command;
use crate::options::Options;
use crate::parallel::{parallel, processors};
use crate::repo;
use crate::skips;
use crate::tally::Tally;

/// One search.
#[derive(Debug, PartialEq, Eq, Default)]
struct Search {
    what: What,
    /// The error that must be found.
    broken: bool,
    definitions: Vec<String>,
}

/// The kind of a search.
#[derive(Debug, PartialEq, Eq, Default)]
enum What {
    #[default]
    Safety,
    Progress,
    /// A named claim of the file.
    Claim(String),
}

/// Runs every search of every model, or of those with one of the words in their file names. Without
/// Spin on the machine every search counts as skipped.
///
/// # Errors
/// When a model cannot be read or built.
pub(crate) fn spin(options: &Options) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let Ok(dir) = fs::read_dir(repo::root().join("models")) else {
        return Ok(tally);
    };
    let mut models: Vec<_> = dir.flatten().map(|entry| entry.path()).collect();
    models.retain(|path| path.extension().is_some_and(|e| e == "pml"));
    models.sort();
    let mut searches = Vec::new();
    for path in models {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !options.picks(&name) {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
        let found = parse(&text)?;
        if found.is_empty() {
            return Err(format!("models/{name}.pml: no `check:` line"));
        }
        let of_this = found
            .into_iter()
            .map(|search| (path.clone(), name.clone(), search));
        searches.extend(of_this);
    }
    if !(command::exists("spin") && command::exists("gcc")) {
        for (_, name, search) in &searches {
            let id = format!("spin {name}: {}", search.shown());
            tally += skips::skip_check(&id, "no spin and gcc on this machine");
        }
        return Ok(tally);
    }
    let jobs = processors().min(AT_A_TIME);
    let found = parallel(&searches, jobs, |(path, name, search)| {
        run(path, name, search)
    });
    for ((_, name, search), found) in searches.iter().zip(found) {
        let found = found?;
        let ok = found.error == search.broken && !found.cut_short;
        println!(
            "    {:<7} {name}: {}: {} states{}",
            if ok { "ok" } else { "FAILED" },
            search.shown(),
            found.states,
            if found.error { ", an error found" } else { "" },
        );
        tally += Tally::check(ok);
    }
    println!("    Spin: {tally}");
    Ok(tally)
}

/// Maximum number of parallel searches: the largest takes a gigabyte or two.
const AT_A_TIME: usize = 4;

/// The result of a search.
#[derive(Debug)]
struct Found {
    error: bool,
    /// Depth or memory ended the search before it was complete.
    cut_short: bool,
    states: String,
}

fn run(path: &Path, name: &str, search: &Search) -> Result<Found, String> {
    // A separate directory: other searches of the same model run meanwhile.
    let words = search.shown().replace(' ', "-");
    let dir: PathBuf = repo::target(Some("spin")).join(format!("{name}-{words}"));
    fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut spin = command::program("spin");
    spin.arg("-a")
        .args(search.definitions.iter().map(|d| format!("-D{d}")))
        .arg(path);
    must(spin.current_dir(&dir))?;
    let mut gcc = command::program("gcc");
    gcc.args(["-O2", "-w", "-DNFAIR=4", "-o", "pan", "pan.c"]);
    match &search.what {
        What::Safety => gcc.args(["-DSAFETY", "-DNOCLAIM"]),
        What::Progress => gcc.arg("-DNP"),
        What::Claim(_) => &mut gcc,
    };
    must(gcc.current_dir(&dir))?;
    let mut pan = command::program(dir.join("pan"));
    pan.arg("-m2000000").current_dir(&dir);
    match &search.what {
        What::Safety => &mut pan,
        What::Progress => pan.args(["-f", "-l"]),
        What::Claim(name) => pan.args(["-f", "-a", "-N", name]),
    };
    let (_, text) = command::outcome(&mut pan)?;
    let states = text
        .lines()
        .find(|l| l.contains("states, stored"))
        .unwrap_or_default();
    let states = states.split_whitespace().next().unwrap_or("?").to_owned();
    if !text.contains("errors: ") {
        return Err(format!("{name}: the search said nothing:\n{text}"));
    }
    Ok(Found {
        error: !text.contains("errors: 0"),
        cut_short: text.contains("max search depth too small")
            || text.contains("out of memory"),
        states,
    })
}

/// Runs a step that must succeed; otherwise its output is the error.
fn must(command: &mut std::process::Command) -> Result<(), String> {
    match command::outcome(command)? {
        (true, _) => Ok(()),
        (false, text) => Err(text),
    }
}

fn parse(text: &str) -> Result<Vec<Search>, String> {
    let mut searches = Vec::new();
    for line in text.lines() {
        let Some((_, rest)) = line.split_once("check: ") else {
            continue;
        };
        let mut words = rest.split_whitespace().peekable();
        let mut search = Search {
            broken: words.next_if_eq(&"broken").is_some(),
            ..Search::default()
        };
        search.what = match (words.next(), words.peek()) {
            (Some("safety"), _) => What::Safety,
            (Some("progress"), _) => What::Progress,
            (Some("ltl"), Some(name)) => {
                let name = (*name).to_owned();
                words.next();
                What::Claim(name)
            }
            _ => return Err(format!("cannot read `{line}`")),
        };
        let is_definition = |word: &&str| word.contains('=');
        search.definitions = words.take_while(is_definition).map(str::to_owned).collect();
        searches.push(search);
    }
    Ok(searches)
}

impl Search {
    fn shown(&self) -> String {
        let mut text = String::new();
        if self.broken {
            text.push_str("broken ");
        }
        text.push_str(match &self.what {
            What::Safety => "safety",
            What::Progress => "progress",
            What::Claim(name) => name,
        });
        for definition in &self.definitions {
            text.push(' ');
            text.push_str(definition);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_to_be_checked() {
        let text = "/* A model.\n * check: safety NW=3 NR=2\n * check: broken ltl live BUG=1\n */";
        let read = parse(text).unwrap();
        assert_eq!(read[0].definitions, ["NW=3", "NR=2"]);
        assert_eq!((read[0].broken, &read[0].what), (false, &What::Safety));
        assert_eq!(read[1].shown(), "broken live BUG=1");
        assert!(parse("check: magic").is_err());
    }
}
