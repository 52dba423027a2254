//! Reads the command line in gzip's style: flags may be combined (`-9kv`), come after the
//! files, be repeated (the last one counts) and, where long, be cut short (`--decomp`).

use std::ffi::{OsStr, OsString};
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::options::{Mode, Options, Voice};
use crate::deflate::Level;
use crate::pipeline::{BLOCK_SIZES, Settings};

/// What the command line amounts to.
pub(super) enum Parsed {
    /// Something to do.
    Run(Box<Options>),
    /// Something to print (`--help`, `--version`).
    Print(String),
    /// A mistake; the text says which.
    Usage(String),
}

/// Reads the command line, program name included.
pub(super) fn parse(args: impl IntoIterator<Item = OsString>) -> Parsed {
    let args: Vec<OsString> = args.into_iter().collect();
    let called = args.first().map(OsString::as_os_str).unwrap_or_default();
    let (decompresses, to_stdout) = habits(called);
    match command().try_get_matches_from(&args) {
        Err(e) if e.use_stderr() => Parsed::Usage(e.render().to_string()),
        Err(e) => Parsed::Print(e.render().to_string()),
        Ok(matches) if matches.get_flag("help") => {
            Parsed::Print(command().render_help().to_string())
        }
        Ok(matches) if matches.get_flag("version") => {
            Parsed::Print(format!("pgz {}\n", env!("CARGO_PKG_VERSION")))
        }
        Ok(matches) => match options(&matches, decompresses, to_stdout) {
            Ok(options) => Parsed::Run(Box::new(options)),
            Err(text) => Parsed::Usage(format!("error: {text}\n")),
        },
    }
}

/// What the program's name asks for: `unpgz` and `gunzip` decompress, `pgzcat` and `zcat`
/// decompress to standard output.
fn habits(called: &OsStr) -> (bool, bool) {
    let name = Path::new(called).file_name().unwrap_or_default().as_bytes();
    let cat = name.ends_with(b"cat");
    (
        cat || name.starts_with(b"un") || name.starts_with(b"gun"),
        cat,
    )
}

fn command() -> Command {
    let flag = |short: char, long: &'static str, help: &'static str| {
        Arg::new(long)
            .short(short)
            .long(long)
            .help(help)
            .action(ArgAction::SetTrue)
    };
    let mut command = Command::new("pgz")
        .about("Compress or decompress files in gzip format, on all cores.")
        .override_usage("pgz [OPTION]... [FILE]...")
        .after_help(
            "With no FILE, or when FILE is -, standard input goes to standard output.\n\
             Exit status: 0 all well, 1 an error, 2 a warning.",
        )
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args_override_self(true)
        .infer_long_args(true)
        .arg(
            Arg::new("file")
                .value_parser(clap::value_parser!(OsString))
                .num_args(0..)
                .hide(true),
        );
    for digit in LEVELS {
        let mut level = Arg::new(digit).short(digit.chars().next());
        level = match digit {
            "1" => level
                .long("fast")
                .help("Compress faster (-1 ... -9, default -6)"),
            "9" => level.long("best").help("Compress better"),
            _ => level.hide(true),
        };
        command = command.arg(level.action(ArgAction::SetTrue));
    }
    command
        .arg(flag(
            'b',
            "blocksize",
            "Block size in KiB, or with a suffix K or M [128]",
        ))
        .mut_arg("blocksize", |a| a.action(ArgAction::Set).value_name("SIZE"))
        .arg(flag(
            'c',
            "stdout",
            "Write to standard output, keep the files",
        ))
        .mut_arg("stdout", |a| a.alias("to-stdout"))
        .arg(flag('d', "decompress", "Decompress"))
        .mut_arg("decompress", |a| a.alias("uncompress"))
        .arg(flag(
            'f',
            "force",
            "Overwrite, follow links, write to a terminal",
        ))
        .arg(flag('h', "help", "Show this help"))
        .arg(flag(
            'i',
            "independent",
            "Independent blocks, decompressed on all cores",
        ))
        .arg(flag('k', "keep", "Keep the input files"))
        .arg(flag('l', "list", "List sizes of compressed files"))
        .arg(flag(
            'n',
            "no-name",
            "Neither store nor restore name and time",
        ))
        .arg(flag('N', "name", "Store or restore name and time"))
        .arg(flag(
            'p',
            "processes",
            "Work on up to N blocks at once [all cores]",
        ))
        .mut_arg("processes", |a| a.action(ArgAction::Set).value_name("N"))
        .arg(flag('q', "quiet", "No warnings"))
        .mut_arg("quiet", |a| a.alias("silent"))
        .arg(flag('r', "recursive", "Walk through directories"))
        .arg(flag('S', "suffix", "Suffix of compressed files [.gz]"))
        .mut_arg("suffix", |a| {
            a.action(ArgAction::Set)
                .value_name("SUF")
                .allow_hyphen_values(true)
                .value_parser(clap::value_parser!(OsString))
        })
        .arg(flag('t', "test", "Test compressed files"))
        .arg(flag('v', "verbose", "Say what happens to each file"))
        .arg(flag('V', "version", "Show the version"))
        .arg(
            Arg::new("stats")
                .long("stats")
                .help("Print the runtime's counters at the end")
                .action(ArgAction::SetTrue),
        )
}

fn options(
    matches: &ArgMatches,
    decompresses: bool,
    to_stdout: bool,
) -> Result<Options, String> {
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
    let names = match last_of(matches, ["name", "no-name"]) {
        Some(which) => which == "name",
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
        mode,
        voice,
        to_stdout: to_stdout || matches.get_flag("stdout"),
        keep: matches.get_flag("keep"),
        force: matches.get_flag("force"),
        recursive: matches.get_flag("recursive"),
        names,
        stats: matches.get_flag("stats"),
        suffix,
        workers,
        settings,
        operands,
    })
}

/// Which of these flags was given last.
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

const LEVELS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// More threads than any machine of today has cores.
const MAX_WORKERS: usize = 1024;
