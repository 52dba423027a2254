//! The inputs of the gzip cases, made once, and their measurement.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::case::{Case, Kind};
use crate::harness::Answer;
use crate::peers::OURS;
use crate::tools::{step, target_directory};

use super::corpus;
use super::timing::{filed, piped};

/// The size of the corpus.
const SIZE: usize = 64 << 20;

/// The inputs and the path of pgz.
#[derive(Debug)]
pub struct Setup {
    pgz: PathBuf,
    corpus: PathBuf,
    ordinary: PathBuf,
    indexed: PathBuf,
    output: PathBuf,
}

impl Setup {
    /// Builds pgz and makes the inputs.
    ///
    /// # Errors
    /// The message of the build or file operation that failed.
    pub fn prepare() -> Result<Setup, String> {
        let target = target_directory();
        let directory = target.join("pgz");
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let mut build = Command::new("cargo");
        build.args([
            "build",
            "--quiet",
            "--release",
            "-p",
            "pgz",
            "--manifest-path",
        ]);
        build.arg(manifest).arg("--target-dir").arg(&directory);
        step(&mut build)?;
        let setup = Setup {
            pgz: directory.join("release/pgz"),
            corpus: target.join("corpus"),
            ordinary: target.join("corpus.ordinary.gz"),
            indexed: target.join("corpus.indexed.gz"),
            output: target.join("corpus.out"),
        };
        corpus::prepare(&setup.corpus, SIZE)
            .map_err(|error| format!("no corpus: {error}"))?;
        setup.pack("serial", &setup.ordinary, &[])?;
        setup.pack(OURS, &setup.indexed, &["-i"])?;
        Ok(setup)
    }

    /// Runs one program once: `rate` is MB of plain text per second, `size` the output in percent
    /// of the plain text.
    pub fn measure(&self, peer: &str, case: &Case) -> Answer {
        let level = match case.job.kind {
            Kind::Pgz { level, .. } => level,
            _ => 0,
        };
        let Some(mut command) = command(peer, &self.pgz, level, case.job.workers) else {
            return Answer::skipped("no gzip program");
        };
        let run = match case.job.kind {
            Kind::Pgz { pipe: true, .. } => {
                fs::read(&self.corpus).and_then(|corpus| piped(&mut command, &corpus))
            }
            kind => {
                let input = match kind {
                    Kind::Gunzip { indexed: true } => &self.indexed,
                    Kind::Gunzip { indexed: false } => &self.ordinary,
                    _ => &self.corpus,
                };
                filed(&mut command, input, &self.output)
            }
        };
        let plain = SIZE as f64;
        match run {
            Ok(run) if level == 0 && run.written != SIZE as u64 => {
                Answer::failed(format!("inflated to {} bytes", run.written))
            }
            Ok(run) => Answer::done(vec![
                ("rate".to_owned(), plain / 1e6 / run.seconds),
                ("size".to_owned(), run.written as f64 * 100.0 / plain),
            ]),
            Err(error) => Answer::failed(error.to_string()),
        }
    }

    /// Makes a compressed input at the default level.
    fn pack(&self, peer: &str, output: &Path, options: &[&str]) -> Result<(), String> {
        let mut command = command(peer, &self.pgz, 6, 2).expect("a gzip program");
        let run = filed(command.args(options), &self.corpus, output);
        run.map(drop)
            .map_err(|error| format!("{peer} makes no input: {error}"))
    }
}

/// Returns the command by which `peer` reads standard input, or a file appended to its arguments,
/// and writes standard output. Level 0 inflates. `None` if the peer is no gzip program.
fn command(peer: &str, pgz: &Path, level: u8, workers: usize) -> Option<Command> {
    let how = match peer {
        OURS => return Some(with_options(Command::new(pgz), level, workers)),
        "pigz" => return Some(with_options(Command::new("pigz"), level, workers)),
        "pgz-fibers" => "fibers",
        "pgz-threads" => "threads",
        "serial" => "serial",
        _ => return None,
    };
    let here = std::env::current_exe().expect("a running program has a path");
    let mut command = Command::new(here);
    command.args([
        "child",
        "gzip",
        how,
        &level.to_string(),
        &workers.to_string(),
    ]);
    Some(command)
}

/// Adds the arguments of pgz and pigz.
fn with_options(mut command: Command, level: u8, workers: usize) -> Command {
    let what = if level == 0 {
        "-d".to_owned()
    } else {
        format!("-{level}")
    };
    command.args([&what, "-c", "-p", &workers.to_string()]);
    command
}
