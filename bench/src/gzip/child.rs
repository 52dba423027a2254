//! Children that compress or inflate: pgz's pipeline on fibers or on plain threads, and one
//! thread alone with the library that pgz uses, at the library's own level: its level 1 is faster than
//! what pgz takes for `-1`, with larger output.

use std::fs::File;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use pgz::deflate::Level;
use pgz::gzip::Header;
use pgz::pipeline::{Engine, Executor, Fibers, Foreign, Settings, Threads};

/// Runs `compare child gzip HOW LEVEL WORKERS [FILE]`, with output to standard output. Level 0
/// inflates.
///
/// # Errors
/// Wrong arguments, or an error of reading or writing, as text.
pub fn child(arguments: &[String]) -> Result<(), String> {
    let [how, level, workers, file @ ..] = arguments else {
        return Err("usage: compare child gzip HOW LEVEL WORKERS [FILE]".to_owned());
    };
    let known = level.parse().ok().filter(|level| *level <= 9);
    let level: u8 = known.ok_or_else(|| format!("level `{level}` is not 0 to 9"))?;
    let number = workers.parse();
    let workers = number.map_err(|_| format!("`{workers}` is no number of workers"))?;
    let mut input: Box<dyn Read> = match file.first() {
        Some(path) => Box::new(File::open(path).map_err(words)?),
        None => Box::new(io::stdin()),
    };
    match how.as_str() {
        "fibers" => pipeline(Fibers::new(workers).map_err(words)?, level, &mut input),
        "threads" => pipeline(Threads::new(workers), level, &mut input),
        "serial" if level == 0 => inflate(&mut input).map_err(words),
        "serial" => deflate(level, &mut input).map_err(words),
        _ => Err(format!("unknown method `{how}`: fibers, threads or serial")),
    }
}

/// Runs pgz's pipeline.
fn pipeline<E: Executor>(
    executor: E,
    level: u8,
    input: &mut dyn Read,
) -> Result<(), String> {
    let settings = match Level::new(level) {
        Some(level) => Settings {
            level,
            ..Settings::default()
        },
        None => Settings::default(),
    };
    let engine = Engine::new(executor, settings);
    // As the program does: standard output of std would split each block at its last line feed.
    let mut output = File::from(stdout().map_err(words)?);
    let done = match level {
        0 => engine
            .decompress(input, Foreign::Refused, &mut output)
            .map(drop),
        _ => engine
            .compress(&Header::default(), input, &mut output)
            .map(drop),
    };
    done.map_err(|failure| failure.to_string())
}

fn deflate(level: u8, input: &mut dyn Read) -> io::Result<()> {
    let level = Compression::new(u32::from(level));
    let mut output = GzEncoder::new(File::from(stdout()?), level);
    copy(input, &mut output)?;
    output.finish().map(drop)
}

fn inflate(input: &mut dyn Read) -> io::Result<()> {
    copy(&mut MultiGzDecoder::new(input), &mut File::from(stdout()?))
}

/// Copies in blocks of the size that pgz reads.
fn copy(input: &mut dyn Read, output: &mut dyn Write) -> io::Result<()> {
    let mut block = vec![0; 128 << 10];
    loop {
        match input.read(&mut block)? {
            0 => return Ok(()),
            length => output.write_all(&block[..length])?,
        }
    }
}

/// Returns standard output without line buffering.
fn stdout() -> io::Result<std::os::fd::OwnedFd> {
    use std::os::fd::AsFd;
    io::stdout().as_fd().try_clone_to_owned()
}

fn words(error: io::Error) -> String {
    error.to_string()
}
