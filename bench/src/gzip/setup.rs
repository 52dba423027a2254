//! The inputs of the gzip cases, made once, and their measurement.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::case::{Case, Kind};
use crate::harness::{Answer, Status};
use crate::peers::OURS;
use crate::tools::{step, target_directory};

use super::command::{Level, command};
use super::corpus;
use super::timing::{Run, filed, piped};

/// The reason with which these programs skip all other cases.
pub const ONLY_GZIP: &str = "compresses only";

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
    /// A build or a file failed; in words.
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

    /// Measures one run of one program, as `rate` in MB/s of plain text, and `size` of the output
    /// in percent of it.
    pub fn measure(&self, peer: &str, case: &Case) -> Answer {
        let level = match case.kind {
            Kind::Pgz { level, .. } => level,
            _ => 0,
        };
        let Some(mut command) = command(peer, &self.pgz, Level(level), case.workers)
        else {
            return Answer::empty(Status::Skipped("no gzip program".to_owned()));
        };
        let run = match case.kind {
            Kind::Pgz { pipe: true, .. } => {
                fs::read(&self.corpus).and_then(|corpus| piped(&mut command, &corpus))
            }
            Kind::Gunzip { indexed: true } => {
                filed(&mut command, &self.indexed, &self.output)
            }
            Kind::Gunzip { indexed: false } => {
                filed(&mut command, &self.ordinary, &self.output)
            }
            _ => filed(&mut command, &self.corpus, &self.output),
        };
        match run {
            Ok(run) if level == 0 && run.written != SIZE as u64 => {
                let what = format!("inflated to {} bytes", run.written);
                Answer::empty(Status::Failed(what))
            }
            Ok(run) => Answer {
                status: Status::Done,
                samples: samples(run),
            },
            Err(error) => Answer::empty(Status::Failed(error.to_string())),
        }
    }

    /// Makes a compressed input at the default level.
    fn pack(&self, peer: &str, output: &Path, options: &[&str]) -> Result<(), String> {
        let mut command = command(peer, &self.pgz, Level(6), 2).expect("a gzip program");
        let run = filed(command.args(options), &self.corpus, output);
        run.map(drop)
            .map_err(|error| format!("{peer} makes no input: {error}"))
    }
}

fn samples(run: Run) -> Vec<(String, f64)> {
    vec![
        ("rate".to_owned(), SIZE as f64 / 1e6 / run.seconds),
        ("size".to_owned(), run.written as f64 * 100.0 / SIZE as f64),
    ]
}
