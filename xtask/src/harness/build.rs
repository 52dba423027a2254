//! Builds test binaries through cargo.
//!
//! Owns the flags of one build (a lane) and the reader of cargo's messages. Cargo prints one JSON
//! object a line; the four fields needed here are found by name, without a parser.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::rc::Rc;

use crate::command;
use crate::repo;

/// The targets and flags of a build; every lane has its own target directory.
#[derive(Debug, Default, Clone)]
pub(crate) struct Build {
    /// Arguments to `cargo test --no-run`: packages, targets, profile.
    pub(crate) args: Vec<String>,
    /// Flags for every crate in the graph.
    pub(crate) rustflags: Option<String>,
    /// Additional environment of the build and of the tests.
    pub(crate) env: Vec<(String, OsString)>,
    /// Subdirectory of the target directory; none for the ordinary one.
    pub(crate) lane: Option<String>,
    /// `--cfg` arguments for the named target alone, through `cargo rustc`.
    pub(crate) cfgs: Vec<String>,
}

/// Cargo's setting of the debug information.
const DEBUG: &str = "CARGO_PROFILE_DEV_DEBUG";

/// A test binary.
#[derive(Debug)]
pub(crate) struct Binary {
    /// `pirn` for a library's own tests, `pirn::it` for an integration test,
    /// `pgz::bin/pgz` for a program's.
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    /// The package's directory, in which cargo would run it.
    pub(crate) home: PathBuf,
    pub(crate) env: Vec<(String, OsString)>,
}

impl Build {
    /// Returns a build with these arguments, in the ordinary target directory.
    pub(crate) fn new(args: &[&str]) -> Build {
        Build {
            args: args.iter().map(ToString::to_string).collect(),
            ..Build::default()
        }
    }

    /// Returns the same in a lane of its own, with these flags for every crate. The ordinary build
    /// reports warnings.
    pub(crate) fn lane(mut self, lane: &str, rustflags: &str) -> Build {
        self.lane = Some(lane.to_owned());
        self.rustflags = Some(format!("-Awarnings {rustflags}"));
        self
    }

    /// Sets the debug information, a value of cargo's setting `debug`. Full information takes two
    /// fifths of the time of a build, lines alone a fifth.
    pub(crate) fn debug(self, what: &str) -> Build {
        self.env(DEBUG, what)
    }

    /// Returns true if it is full: types, variables, the paths of functions.
    pub(crate) fn tells_all(&self) -> bool {
        let own = self.env.iter().rev().find(|(name, _)| name == DEBUG);
        let what = own.map_or_else(|| std::env::var_os(DEBUG), |own| Some(own.1.clone()));
        what.is_none_or(|what| what == "full")
    }

    /// Adds an environment variable to the build and to the tests.
    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Build {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Builds and ignores errors: [`binaries`](Self::binaries) reports them.
    pub(crate) fn ahead(&self) {
        let _ = self.binaries();
    }

    /// Builds; returns the test binaries in a stable order.
    ///
    /// # Errors
    /// When cargo fails; its messages have been printed.
    pub(crate) fn binaries(&self) -> Result<Vec<Rc<Binary>>, String> {
        let mut cargo = command::cargo();
        if self.cfgs.is_empty() {
            cargo.args(["test", "--no-run"]);
        } else {
            cargo.arg("rustc");
        }
        cargo
            .arg("--message-format=json-render-diagnostics")
            .arg("--quiet");
        cargo.args(&self.args);
        if !self.cfgs.is_empty() {
            cargo.arg("--");
            cargo.args(self.cfgs.iter().flat_map(|c| ["--cfg", c]));
        }
        cargo.env("CARGO_TARGET_DIR", repo::target(self.lane.as_deref()));
        if let Some(flags) = &self.rustflags {
            cargo.env("RUSTFLAGS", flags);
        }
        cargo.envs(self.env.iter().map(|(k, v)| (k, v)));
        cargo.stdin(Stdio::null());
        let messages = command::output(&mut cargo)?;
        let mut found: Vec<_> = messages
            .lines()
            .filter_map(|m| self.binary(m))
            .map(Rc::new)
            .collect();
        found.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(found)
    }

    fn binary(&self, message: &str) -> Option<Binary> {
        let (_, profile) = message.split_once(r#""profile":{"#)?;
        let (profile, _) = profile.split_once('}')?;
        if !message.contains(r#""reason":"compiler-artifact""#)
            || !profile.contains(r#""test":true"#)
        {
            return None;
        }
        let path = PathBuf::from(field(message, r#""executable":""#)?);
        let manifest = PathBuf::from(field(message, r#""manifest_path":""#)?);
        let home = manifest.parent()?.to_path_buf();
        let package = home.file_name()?.to_string_lossy().into_owned();
        let (_, target) = message.split_once(r#""target":{"#)?;
        let name = field(target, r#""name":""#)?;
        let id = match field(target, r#""kind":[""#)?.as_str() {
            "test" => format!("{package}::{name}"),
            "bin" => format!("{package}::bin/{name}"),
            "example" => format!("{package}::example/{name}"),
            _ => package,
        };
        Some(Binary {
            id,
            path,
            home,
            env: self.env.clone(),
        })
    }
}

/// Returns the string that follows `key`, up to its closing quote, unescaped.
fn field(text: &str, key: &str) -> Option<String> {
    let (_, rest) = text.split_once(key)?;
    let mut value = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            '"' => return Some(value),
            '\\' => value.push(chars.next()?),
            c => value.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = r#"{"reason":"compiler-artifact","package_id":"p","manifest_path":"/r/crates/pirn/Cargo.toml","target":{"kind":["test"],"crate_types":["bin"],"name":"it","src_path":"/r/crates/pirn/tests/it/main.rs","edition":"2024","doc":false,"doctest":false,"test":true},"profile":{"opt_level":"0","debuginfo":2,"debug_assertions":true,"overflow_checks":true,"test":true},"features":[],"filenames":["/t/it-1"],"executable":"/t/it-1","fresh":true}"#;

    #[test]
    fn finds_a_test_binary() {
        let binary = Build::default().binary(MESSAGE).unwrap();
        assert_eq!(binary.id, "pirn::it");
        assert_eq!(binary.path, PathBuf::from("/t/it-1"));
        assert_eq!(binary.home, PathBuf::from("/r/crates/pirn"));
    }

    #[test]
    fn leaves_out_what_is_no_test() {
        let plain =
            MESSAGE.replace(r#""overflow_checks":true,"test":true"#, r#""test":false"#);
        assert!(Build::default().binary(&plain).is_none());
        assert!(Build::default().binary("{}").is_none());
    }

    #[test]
    fn undoes_escapes() {
        assert_eq!(field(r#"{"a":"b\\c\"d"}"#, r#""a":""#).unwrap(), r#"b\c"d"#);
    }
}
