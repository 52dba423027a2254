//! Children that compress or inflate: pgz's pipeline on fibers or on plain threads, and one
//! thread alone with the deflate that pgz uses.

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
/// Those of reading and writing, in words.
pub fn child(arguments: &[String]) -> Result<(), String> {
    let [how, level, workers, file @ ..] = arguments else {
        return Err("gzip HOW LEVEL WORKERS [FILE]".to_owned());
    };
    let level: u8 = level.parse().map_err(|_| "no such level".to_owned())?;
    let workers: usize = workers.parse().map_err(|_| "no such number".to_owned())?;
    let mut input: Box<dyn Read> = match file.first() {
        Some(path) => Box::new(File::open(path).map_err(words)?),
        None => Box::new(io::stdin()),
    };
    match how.as_str() {
        "fibers" => piped(Fibers::new(workers).map_err(words)?, level, &mut input),
        "threads" => piped(Threads::new(workers), level, &mut input),
        "serial" if level == 0 => inflate(&mut input).map_err(words),
        "serial" => deflate(level, &mut input).map_err(words),
        _ => Err(format!("no way `{how}`")),
    }
}

/// Runs pgz's pipeline.
fn piped<E: Executor>(
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
    let mut output = io::stdout();
    let done = match level {
        0 => engine
            .decompress(input, Foreign::Refused, &mut output)
            .map(drop),
        _ => engine
            .compress(&Header::default(), input, &mut output)
            .map(drop),
    };
    done.map_err(|failure| format!("{failure:?}"))?;
    output.flush().map_err(words)
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
