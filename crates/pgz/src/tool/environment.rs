//! Options from environment variables: `GZIP` as gzip reads it, `PIGZ` as pigz does.
//!
//! Both hold words between spaces and tabs, without quoting. They come before those of the
//! command line, which therefore override them.
//!
//! * `GZIP` is obsolescent: it takes levels, `-n`, `-N`, `-q`, `-v` and `--rsyncable`, and
//!   using it gives a warning.
//! * `PIGZ` takes any option, and no file.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use clap::Command;
use clap::parser::ValueSource;

/// Returns the words of both variables, `GZIP` first. `read` returns a variable's value.
///
/// # Errors
///
/// A word that the variable does not accept; the text names both.
pub(super) fn words(
    command: impl Fn() -> Command,
    read: impl Fn(&str) -> Option<OsString>,
) -> Result<Words, String> {
    let mut words = Words::default();
    for (variable, allowed) in [("GZIP", Some(IN_GZIP)), ("PIGZ", None)] {
        let found = split(&read(variable).unwrap_or_default());
        check(variable, &found, allowed, command())?;
        words.gzip |= variable == "GZIP" && !found.is_empty();
        words.all.extend(found);
    }
    Ok(words)
}

/// Options from both variables.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Options, in the order in which they apply.
    pub(super) all: Vec<OsString>,
    /// True if some of them are from `GZIP`.
    pub(super) gzip: bool,
}

fn split(value: &OsStr) -> Vec<OsString> {
    value
        .as_bytes()
        .split(|&byte| byte == b' ' || byte == b'\t')
        .filter(|word| !word.is_empty())
        .map(|word| OsStr::from_bytes(word).to_owned())
        .collect()
}

fn check(
    variable: &str,
    words: &[OsString],
    allowed: Option<&[&str]>,
    command: Command,
) -> Result<(), String> {
    let refused = |what: &str, why: &str| {
        Err(format!("{what}: {why} in {variable} environment variable"))
    };
    if words.iter().any(|word| word == "--") {
        return refused("--", "option not valid");
    }
    let args =
        std::iter::once(OsStr::new("")).chain(words.iter().map(OsString::as_os_str));
    let matches = match command.try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => {
            let text = error.render().to_string();
            let text = text.lines().next().unwrap_or_default();
            let text = text.strip_prefix("error: ").unwrap_or(text);
            return refused(text, "invalid");
        }
    };
    for id in matches.ids() {
        let id = id.as_str();
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        if id == "file" {
            let first = matches.get_one::<OsString>("file");
            let first = first.map(|file| file.display().to_string());
            return refused(&first.unwrap_or_default(), "non-option");
        }
        if allowed.is_some_and(|allowed| !allowed.contains(&id)) {
            return refused(&format!("--{id}"), "option not valid");
        }
    }
    Ok(())
}

/// The options that gzip accepts in its variable.
const IN_GZIP: &[&str] = &[
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "name",
    "no-name",
    "quiet",
    "verbose",
    "rsyncable",
];
