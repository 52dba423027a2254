//! Examples are tests: the header of each has its command and the end of its output.
//!
//! The header ends with a sentence of the form
//! ```text
//! Checked: `cargo run --example hello -- 3` ends with `hello from 3 fibers`.
//! ```
//! where `*` matches any text.

use std::process::Command;
use std::time::Duration;

use crate::command::{self, Streams};
use crate::markdown::quoted;
use crate::options::Options;
use crate::tally::Tally;
use crate::{hung, jobs, repo};

/// Timeout of an example with small arguments.
const LIMIT: Duration = Duration::from_secs(60);

/// The check of one example.
#[derive(Debug, PartialEq, Eq)]
struct Check {
    name: String,
    args: Vec<String>,
    last_line: String,
}

/// Builds and runs every example of the libraries, which come with the tests.
///
/// # Errors
/// When one does not build, or has no such sentence.
pub(crate) fn examples(_: &Options) -> Result<Tally, String> {
    let mut checks = Vec::new();
    for home in ["pirn", "pirn-sim"] {
        let directory = format!("crates/{home}/examples/");
        for file in repo::files()? {
            let name = file.path.strip_prefix(&directory);
            if let Some(name) = name.filter(|name| !name.contains('/')) {
                checks.push(parse(name.trim_end_matches(".rs"), &file.text)?);
            }
        }
    }
    jobs::build("test")?.binaries()?;
    // Without the features that the tests of `pirn` turn on.
    command::run(&mut command::cargo("build -q -p pirn-sim --examples"))?;
    let mut tally = Tally::default();
    for check in checks {
        let last = last_line(&check)?;
        let ok = fits(&check.last_line, &last);
        let said = (!ok).then(|| format!(": ended with `{last}`"));
        tally += Tally::printed(ok, check.name + &said.unwrap_or_default());
    }
    Ok(tally)
}

/// Returns the last line that is not empty; empty if the example failed or timed out.
fn last_line(check: &Check) -> Result<String, String> {
    let path = repo::target(None).join("debug/examples").join(&check.name);
    let mut example = Command::new(path);
    let watched = command::watch(
        example.args(&check.args),
        LIMIT,
        Streams::Standard,
        hung::stacks,
    );
    let watched = watched.map_err(|e| format!("{}: {e}", check.name))?;
    let last = watched.output.lines().rfind(|line| !line.trim().is_empty());
    let last = last.filter(|_| watched.succeeded());
    Ok(last.unwrap_or_default().to_owned())
}

fn parse(name: &str, text: &str) -> Result<Check, String> {
    let header: String = text.lines().map_while(|l| l.strip_prefix("//!")).collect();
    let (_, said) = header
        .split_once("Checked: ")
        .ok_or_else(|| format!("example {name}: its header has no `Checked:` line"))?;
    let [run, last_line] = quoted(said)[..] else {
        return Err(format!("example {name}: cannot read `{said}`"));
    };
    if !run.split_whitespace().any(|word| word == name) {
        return Err(format!("example {name}: `{run}` runs another"));
    }
    let args = run.split_once(" -- ").map_or("", |(_, args)| args);
    Ok(Check {
        name: name.to_owned(),
        args: args.split_whitespace().map(str::to_owned).collect(),
        last_line: last_line.to_owned(),
    })
}

/// Returns true when `text` is `pattern`, with any text in place of each `*`.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| {
            (0..=rest.len())
                .filter(|at| rest.is_char_boundary(*at))
                .any(|at| fits(tail, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_how_an_example_is_checked() {
        let text = "//! Says hello.\n//!\n\
            //! Checked: `cargo run --example hello -- 3 x`\n//! ends with `hello 3`.\n";
        let check = parse("hello", text).unwrap();
        assert_eq!((check.args.len(), check.last_line.as_str()), (2, "hello 3"));
        assert!(parse("other", text).is_err());
        assert!(parse("hello", "//! Says hello.\n").is_err());
    }

    #[test]
    fn a_star_stands_for_anything() {
        assert!(fits("took * ms, * rounds", "took 12 ms, 3 rounds"));
        assert!(!fits("took * ms", "took 12 s"));
        assert!(!fits("", "x") && fits("*", ""));
    }
}
