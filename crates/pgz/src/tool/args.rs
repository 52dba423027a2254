//! Reads the command line in gzip's style: flags may be combined (`-9kv`), come after the
//! files, be repeated (the last one counts) and, where long, be cut short (`--decomp`).

use std::ffi::OsString;
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;

use super::command::{LEVELS, command};
use super::environment::{Words, words};
use super::options::{Mode, Options, Voice};
use crate::deflate::Level;
use crate::pipeline::{BLOCK_SIZES, Settings};

/// The meaning of the command line.
pub(super) enum Parsed {
    /// An operation with its options.
    Run(Box<Options>),
    /// A text to print (`--help`, `--version`, `--license`).
    Print { called: String, text: String },
    /// An error; the text describes it.
    Usage { called: String, text: String },
}

/// Reads the command line, program name included, and the environment.
pub(super) fn parse(args: impl IntoIterator<Item = OsString>) -> Parsed {
    let mut args = args.into_iter();
    let program = args.next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or("pgz".as_ref());
    let called = name.display().to_string();
    let print = |text| Parsed::Print {
        called: called.clone(),
        text,
    };
    let usage = |text: String| {
        let text = text.strip_prefix("error: ").unwrap_or(&text);
        Parsed::Usage {
            called: called.clone(),
            text: format!("{}\n", text.trim_end()),
        }
    };
    let environment = match words(command, |variable| std::env::var_os(variable)) {
        Ok(words) => words,
        Err(text) => return usage(text),
    };
    let (args, presumes_terminal) = take_presumption(args);
    let all = [&program].into_iter().chain(&environment.all).chain(&args);
    match command().try_get_matches_from(all) {
        Err(e) if e.use_stderr() => usage(e.render().to_string()),
        Err(e) => print(e.render().to_string()),
        Ok(matches) if matches.get_flag("help") => {
            print(command().render_help().to_string())
        }
        Ok(matches) if matches.get_flag("version") => print(VERSION.to_owned()),
        Ok(matches) if matches.get_flag("license") => {
            print(format!("{VERSION}{LICENSE}"))
        }
        Ok(matches) => match options(&matches, &called) {
            Ok(options) => Parsed::Run(Box::new(Options {
                remarks: remarks(&matches, &environment),
                presumes_terminal,
                called: called.clone(),
                ..options
            })),
            Err(text) => usage(text),
        },
    }
}

/// Removes gzip's option for tests from the arguments: it has one hyphen too many for the parser.
/// Returns true if it was present.
fn take_presumption(args: impl Iterator<Item = OsString>) -> (Vec<OsString>, bool) {
    let mut found = false;
    let mut files = false;
    let kept = args
        .filter(|arg| {
            files |= arg == "--";
            let taken = !files && arg == "---presume-input-tty";
            found |= taken;
            !taken
        })
        .collect();
    (kept, found)
}

/// Returns remarks about the options themselves.
fn remarks(matches: &ArgMatches, environment: &Words) -> Vec<&'static str> {
    let mut remarks = Vec::new();
    if environment.gzip {
        remarks.push(
            "warning: GZIP environment variable is deprecated; use an alias or script",
        );
    }
    if matches.get_flag("ascii") {
        remarks.push("option --ascii ignored on this system");
    }
    remarks
}

/// Returns the options implied by the program's name: `unpgz` and `gunzip` decompress, `pgzcat` and
/// `zcat` decompress to standard output.
fn habits(name: &str) -> (bool, bool) {
    let cat = name.ends_with("cat");
    (
        cat || name.starts_with("un") || name.starts_with("gun"),
        cat,
    )
}

fn options(matches: &ArgMatches, called: &str) -> Result<Options, String> {
    let (decompresses, to_stdout) = habits(called);
    let mode = if matches.get_flag("list") {
        Mode::List
    } else if matches.get_flag("test") {
        Mode::Test
    } else if decompresses || matches.get_flag("decompress") {
        Mode::Decompress
    } else {
        Mode::Compress
    };
    let voice = match last_of(matches, ["verbose", "quiet"]) {
        Some("verbose") => Voice::Verbose,
        Some(_) => Voice::Quiet,
        None => Voice::Plain,
    };
    let name = match last_of(matches, ["name", "no-name"]) {
        Some(which) => which == "name",
        None => mode == Mode::Compress,
    };
    let time = match last_of(matches, ["name", "no-name", "time", "no-time"]) {
        Some(which) => which == "name" || which == "time",
        None => mode == Mode::Compress,
    };
    let level = last_of(matches, LEVELS)
        .and_then(|digit| Level::new(digit.parse().ok()?))
        .unwrap_or_default();
    let suffix = match matches.get_one::<OsString>("suffix") {
        None => OsString::from(".gz"),
        Some(suffix) if suffix.is_empty() || suffix.as_bytes().contains(&b'/') => {
            return Err(format!("invalid suffix '{}'", suffix.display()));
        }
        Some(suffix) => suffix.clone(),
    };
    let workers = match matches.get_one::<String>("processes") {
        None => std::thread::available_parallelism().map_or(1, NonZero::get),
        Some(text) => match text.parse() {
            Ok(n @ 1..=MAX_WORKERS) => n,
            _ => return Err(format!("-p {text}: not a number from 1 to {MAX_WORKERS}")),
        },
    };
    let mut settings = Settings {
        level,
        independent: matches.get_flag("independent"),
        rsyncable: matches.get_flag("rsyncable"),
        ..Settings::default()
    };
    if let Some(text) = matches.get_one::<String>("blocksize") {
        settings.block_size = size(text).ok_or(format!(
            "-b {text}: not a size from {} to {} KiB",
            BLOCK_SIZES.start() >> 10,
            BLOCK_SIZES.end() >> 10
        ))?;
    }
    let operands = matches
        .get_many("file")
        .unwrap_or_default()
        .cloned()
        .collect();
    Ok(Options {
        called: String::new(),
        remarks: Vec::new(),
        presumes_terminal: false,
        mode,
        voice,
        to_stdout: to_stdout || matches.get_flag("stdout"),
        keep: matches.get_flag("keep"),
        force: matches.get_flag("force"),
        recursive: matches.get_flag("recursive"),
        name,
        time,
        synchronous: matches.get_flag("synchronous"),
        stats: matches.get_flag("stats"),
        suffix,
        workers,
        settings,
        operands,
    })
}

/// Returns the last one of these flags on the command line.
fn last_of<'a, const N: usize>(
    matches: &ArgMatches,
    flags: [&'a str; N],
) -> Option<&'a str> {
    flags
        .into_iter()
        .filter(|flag| matches.value_source(flag) == Some(ValueSource::CommandLine))
        .max_by_key(|flag| matches.indices_of(flag).and_then(Iterator::last))
}

/// A block size: KiB, or with a suffix.
fn size(text: &str) -> Option<usize> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1 << 10),
        b'm' | b'M' => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1 << 10),
    };
    let bytes = digits.parse::<usize>().ok()?.checked_mul(unit)?;
    BLOCK_SIZES.contains(&bytes).then_some(bytes)
}

const VERSION: &str = concat!("pgz ", env!("CARGO_PKG_VERSION"), "\n");
const LICENSE: &str = "\
    Licensed under the MIT License or the Apache License, Version 2.0, as you prefer.\n\
    Without warranty of any kind, to the extent that the law permits.\n";

/// More threads than the cores of any present machine.
const MAX_WORKERS: usize = 1024;
