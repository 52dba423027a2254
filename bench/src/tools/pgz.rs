//! The gzip programs: which command stands for which peer, and how one run is timed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use std::{fs, thread};

use crate::harness::{Answer, Status};
use crate::peers::OURS;

use super::corpus;
use super::step::step;
use super::target_directory;

/// What the rows of other cases say about these programs.
pub const ONLY_GZIP: &str = "compresses only";

/// The size of the corpus.
const SIZE: usize = 64 << 20;

/// The corpus and where the programs are.
#[derive(Debug)]
pub struct Setup {
    corpus: PathBuf,
    output: PathBuf,
    pgz: PathBuf,
}

impl Setup {
    /// Builds pgz and writes the corpus.
    pub fn prepare() -> Result<Setup, String> {
        let target = target_directory();
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let directory = target.join("pgz");
        let mut build = Command::new(env!("CARGO"));
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
        let corpus = target.join("corpus");
        corpus::prepare(&corpus, SIZE).map_err(|error| format!("no corpus: {error}"))?;
        let output = target.join("corpus.gz");
        Ok(Setup {
            corpus,
            output,
            pgz: directory.join("release/pgz"),
        })
    }

    /// One run of one program, as `rate` in MB/s and `size` in percent of the input.
    pub fn measure(&self, peer: &str, level: u8, pipe: bool, workers: usize) -> Answer {
        let Some(mut command) = self.command(peer, level, workers) else {
            return Answer::empty(Status::Skipped("no gzip program".to_owned()));
        };
        let run = if pipe {
            self.piped(&mut command)
        } else {
            self.filed(&mut command)
        };
        match run {
            Ok((seconds, size)) => {
                let samples = vec![
                    ("rate".to_owned(), SIZE as f64 / 1e6 / seconds),
                    ("size".to_owned(), size as f64 * 100.0 / SIZE as f64),
                ];
                Answer {
                    status: Status::Done,
                    samples,
                }
            }
            Err(error) => Answer::empty(Status::Failed(error.to_string())),
        }
    }

    /// The program that stands for `peer`, compressing to standard output.
    fn command(&self, peer: &str, level: u8, workers: usize) -> Option<Command> {
        let workers = workers.to_string();
        let mut command = match peer {
            OURS => Command::new(&self.pgz),
            "pgz-threads" => {
                let mut command = Command::new(&self.pgz);
                command.arg("--threads");
                command
            }
            "pigz" => Command::new("pigz"),
            "serial" => {
                let mut command = Command::new(std::env::current_exe().ok()?);
                command.args(["child", "gzip"]).arg(level.to_string());
                return Some(command);
            }
            _ => return None,
        };
        command
            .arg(format!("-{level}"))
            .arg("-c")
            .args(["-p", &workers]);
        Some(command)
    }

    /// File to file.
    fn filed(&self, command: &mut Command) -> io::Result<(f64, u64)> {
        let output = File::create(&self.output)?;
        let started = Instant::now();
        let child = command
            .arg(&self.corpus)
            .stdin(Stdio::null())
            .stdout(output)
            .spawn()?;
        finish(child)?;
        let seconds = started.elapsed().as_secs_f64();
        Ok((seconds, fs::metadata(&self.output)?.len()))
    }

    /// From a pipe that a thread of ours fills to one that another empties.
    fn piped(&self, command: &mut Command) -> io::Result<(f64, u64)> {
        let corpus = fs::read(&self.corpus)?;
        let started = Instant::now();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut feed = child.stdin.take().expect("standard input is a pipe");
        let drain =
            OwnedFd::from(child.stdout.take().expect("standard output is a pipe"));
        let size = thread::scope(|scope| {
            scope.spawn(move || feed.write_all(&corpus));
            count(File::from(drain))
        })?;
        finish(child)?;
        Ok((started.elapsed().as_secs_f64(), size))
    }
}

fn finish(mut child: Child) -> io::Result<()> {
    let status = child.wait()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(status.to_string()))
    }
}

fn count(mut input: File) -> io::Result<u64> {
    let mut block = vec![0; 256 << 10];
    let mut total = 0;
    loop {
        match input.read(&mut block)? {
            0 => return Ok(total),
            length => total += length as u64,
        }
    }
}
