//! One run of one program, by the clock, from its start to its end.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Instant;

use crate::harness::clear_environment;

/// The duration and the size of the output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) seconds: f64,
    pub(super) written: u64,
}

/// From a file to a file.
pub(super) fn filed(
    command: &mut Command,
    input: &Path,
    output: &Path,
) -> io::Result<Run> {
    let sink = File::create(output)?;
    let errors = Stdio::null();
    clear_environment(command);
    let started = Instant::now();
    let child = command
        .arg(input)
        .stdin(Stdio::null())
        .stdout(sink)
        .stderr(errors)
        .spawn()?;
    finish(child)?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(Run {
        seconds,
        written: std::fs::metadata(output)?.len(),
    })
}

/// Runs from a pipe that one thread fills to one that another empties.
pub(super) fn piped(command: &mut Command, input: &[u8]) -> io::Result<Run> {
    clear_environment(command);
    let command = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn()?;
    let mut feed = child.stdin.take().expect("standard input is a pipe");
    let drain = OwnedFd::from(child.stdout.take().expect("standard output is a pipe"));
    let written = thread::scope(|scope| {
        // A program that ends early closes the pipe; its exit status is more informative.
        scope.spawn(move || feed.write_all(input).ok());
        count(File::from(drain))
    })?;
    finish(child)?;
    Ok(Run {
        seconds: started.elapsed().as_secs_f64(),
        written,
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::strays;
    use crate::tools::target_directory;

    /// A2. A gzip program gets no variable of its parent that might affect it.
    #[test]
    fn a_program_starts_with_an_empty_environment() {
        let name = format!("environment-{}", std::process::id());
        let output = target_directory().join(name);
        let mut program = Command::new("sh");
        program.args(["-c", "env"]);
        filed(&mut program, Path::new("input"), &output).expect("it runs");
        let text = std::fs::read_to_string(&output).expect("it is there");
        std::fs::remove_file(&output).expect("it is there");
        assert!(text.contains("PATH="), "{text}");
        assert_eq!(strays(&text), [""; 0], "{text}");
        // The same through pipes, with only their length known.
        let mut program = Command::new("sh");
        program.args(["-c", "env | grep -q ^CARGO && exit 1; exit 0"]);
        assert!(
            piped(&mut program, b"").is_ok(),
            "a variable of cargo's is there"
        );
    }
}
