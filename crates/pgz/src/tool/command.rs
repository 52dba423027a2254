//! The grammar of the command line: all options, with the text of `--help`.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

/// All options.
pub(super) fn command() -> Command {
    let command = Command::new("pgz")
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
    switches(levels(command))
}

fn levels(mut command: Command) -> Command {
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
}

fn switches(command: Command) -> Command {
    command
        .arg(both('a', "ascii", "Ignored: lines end in one way here"))
        .arg(
            both(
                'b',
                "blocksize",
                "Block size in KiB, or with a suffix K or M [128]",
            )
            .action(ArgAction::Set)
            .value_name("SIZE"),
        )
        // `--st` as in gzip: `--stats` would make it ambiguous.
        .arg(
            both('c', "stdout", "Write to standard output, keep the files")
                .aliases(["to-stdout", "st"]),
        )
        .arg(both('d', "decompress", "Decompress").alias("uncompress"))
        .arg(both(
            'f',
            "force",
            "Overwrite, follow links, write to a terminal",
        ))
        .arg(both('h', "help", "Show this help").short_alias('H'))
        .arg(both(
            'i',
            "independent",
            "Independent blocks, decompressed on all cores",
        ))
        .arg(both('k', "keep", "Keep the input files"))
        .arg(both('l', "list", "List sizes of compressed files"))
        .arg(both('L', "license", "Show the license"))
        // Without long names, as in gzip: they would make abbreviations of others ambiguous.
        .arg(switch("no-time", "Neither store nor restore the time").short('m'))
        .arg(switch("time", "Store or restore the time").short('M'))
        .arg(both(
            'n',
            "no-name",
            "Neither store nor restore name and time",
        ))
        .arg(both('N', "name", "Store or restore name and time"))
        .arg(
            both(
                'p',
                "processes",
                "Work on up to N blocks at once [all cores]",
            )
            .action(ArgAction::Set)
            .value_name("N"),
        )
        .arg(both('q', "quiet", "No warnings").alias("silent"))
        .arg(both('r', "recursive", "Walk through directories"))
        .arg(long(
            "rsyncable",
            "Cut blocks where the data says so, for rsync",
        ))
        .arg(
            both('S', "suffix", "Suffix of compressed files [.gz]")
                .action(ArgAction::Set)
                .value_name("SUF")
                .allow_hyphen_values(true)
                .value_parser(clap::value_parser!(OsString)),
        )
        .arg(long(
            "synchronous",
            "Remove a file when its replacement is on the disk",
        ))
        .arg(both('t', "test", "Test compressed files"))
        .arg(both('v', "verbose", "Say what happens to each file"))
        .arg(both('V', "version", "Show the version"))
        .arg(long("stats", "Print the runtime's counters at the end"))
}

fn both(short: char, name: &'static str, help: &'static str) -> Arg {
    long(name, help).short(short)
}

fn long(name: &'static str, help: &'static str) -> Arg {
    switch(name, help).long(name)
}

fn switch(id: &'static str, help: &'static str) -> Arg {
    Arg::new(id).help(help).action(ArgAction::SetTrue)
}

/// The options that choose a level.
pub(super) const LEVELS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
