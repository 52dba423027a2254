//! A directory for each test, programs run in it, and test data.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::unmeasured::unmeasured;

/// A directory that is removed at the end of the test.
pub(crate) struct Sandbox {
    dir: PathBuf,
}

/// The outcome of a program.
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Done {
    /// Fails the test unless the exit code is `code`.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Done {
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        assert_eq!(self.code, Some(code), "stderr: {}", self.stderr);
        self
    }
}

impl Sandbox {
    pub(crate) fn new() -> Sandbox {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("pgz-{}-{number}", std::process::id());
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&dir).unwrap();
        Sandbox { dir }
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.join(name)
    }

    pub(crate) fn write(&self, name: &str, data: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, data).unwrap();
        path
    }

    pub(crate) fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let program = if program == "pgz" {
            env!("CARGO_BIN_EXE_pgz")
        } else {
            program
        };
        let mut command = Command::new(program);
        command.current_dir(&self.dir).env("TZ", "UTC");
        command.env_remove("GZIP").env_remove("PIGZ");
        command
    }

    pub(crate) fn pgz<S: AsRef<OsStr>>(&self, args: &[S]) -> Done {
        self.run("pgz", args, b"")
    }

    /// Runs a program to its end with `input` as its standard input.
    pub(crate) fn run<S: AsRef<OsStr>>(
        &self,
        program: &str,
        args: &[S],
        input: &[u8],
    ) -> Done {
        let mut child = self
            .command(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{program}: {e}"));
        let mut stdin = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || {
                // A program that stops early closes its end, which is no error.
                let _ = stdin.write_all(input);
            });
            child.wait_with_output().unwrap()
        });
        Done {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Every file below the directory, with its mode.
    pub(crate) fn listing(&self) -> BTreeMap<String, u32> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.dir.clone()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let facts = fs::symlink_metadata(&path).unwrap();
                let name = path.strip_prefix(&self.dir).unwrap().display().to_string();
                found.insert(name, facts.permissions().mode());
                if facts.is_dir() {
                    open.push(path);
                }
            }
        }
        found
    }

    /// The names alone.
    pub(crate) fn names(&self) -> Vec<String> {
        self.listing().into_keys().collect()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Returns true if `pigz` is installed. Prints a notice if not.
pub(crate) fn has_pigz() -> bool {
    let there = Command::new("pigz")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok();
    if !there {
        unmeasured("no pigz on this machine: checked with gzip only");
    }
    there
}

/// Text-like data: words from a small vocabulary, the same for the same `seed`.
pub(crate) fn text(seed: u64, len: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    let words: Vec<Vec<u8>> = (0..400)
        .map(|_| {
            let letters = 2 + random.below(9);
            (0..letters)
                .map(|_| b'a' + random.below(26) as u8)
                .collect()
        })
        .collect();
    let mut out = Vec::with_capacity(len + 16);
    while out.len() < len {
        // Squaring prefers the first words, as languages do.
        let pick = random.below(words.len()) * random.below(words.len()) / words.len();
        out.extend_from_slice(&words[pick]);
        out.push(if random.below(12) == 0 { b'\n' } else { b' ' });
    }
    out.truncate(len);
    out
}

/// Data that does not compress.
pub(crate) fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..len).map(|_| random.next() as u8).collect()
}

/// A small generator, so that every run has the same inputs.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}
