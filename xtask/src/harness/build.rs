//! Builds test binaries through cargo.
//!
//! Owns the flags of one build and the reader of cargo's messages, which are one JSON object a
//! line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::Value;

use crate::{command, compiler, repo};

/// The targets and flags of a build.
#[derive(Debug, Default, Clone)]
pub(crate) struct Build {
    /// Arguments to `cargo test --no-run`, separated by spaces: packages, targets, profile.
    args: String,
    /// Flags for every crate in the graph.
    rustflags: Option<String>,
    /// Additional environment of the build and of the tests.
    env: Vec<(String, OsString)>,
    /// Subdirectory of the target directory; none for the ordinary one.
    folder: Option<String>,
    /// Flags for the crates of the workspace alone, and the name of the wrapper that adds them.
    own_flags: Option<(String, String)>,
}

/// Cargo's setting of the debug information.
const DEBUG: &str = "CARGO_PROFILE_DEV_DEBUG";

/// A test binary.
#[derive(Debug, Clone)]
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
    pub(crate) fn new(args: &str) -> Build {
        Build {
            args: args.to_owned(),
            ..Build::default()
        }
    }

    /// Returns the same in this subdirectory of the target directory.
    pub(crate) fn folder(mut self, folder: &str) -> Build {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Returns the same in this subdirectory, with these flags for every crate. The ordinary build
    /// reports warnings.
    pub(crate) fn flags(mut self, folder: &str, rustflags: &str) -> Build {
        self.rustflags = Some(format!("-Awarnings {rustflags}"));
        self.folder(folder)
    }

    /// Returns the same with these flags for the crates of the workspace alone: it shares its
    /// dependencies with the other builds of the directory. The ordinary build reports warnings.
    pub(crate) fn own_flags(mut self, name: &str, rustflags: &str) -> Build {
        self.own_flags = Some((name.to_owned(), format!("-Awarnings {rustflags}")));
        self
    }

    /// Sets the debug information, a value of cargo's setting `debug`. Full information takes two
    /// fifths of the time of a build, lines alone a fifth.
    pub(crate) fn debug(self, what: &str) -> Build {
        self.env(DEBUG, what)
    }

    /// Returns true if it is full: types, variables, the paths of functions.
    pub(crate) fn has_full_debug(&self) -> bool {
        let own = self.env.iter().rev().find(|(name, _)| name == DEBUG);
        let what = own.map_or_else(|| std::env::var_os(DEBUG), |own| Some(own.1.clone()));
        what.is_none_or(|what| what == "full")
    }

    /// Adds an environment variable to the build and to the tests.
    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Build {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Builds; returns the test binaries in a stable order.
    ///
    /// # Errors
    /// When cargo fails; its messages have been printed.
    pub(crate) fn binaries(&self) -> Result<Vec<Arc<Binary>>, String> {
        let mut cargo = self.cargo("test --no-run")?;
        cargo.args(["--message-format=json-render-diagnostics", "--quiet"]);
        cargo.args(self.args.split_whitespace());
        let messages = command::output(cargo.stdin(Stdio::null()))?;
        let binaries = messages.lines().filter_map(|m| self.binary(m));
        let mut found: Vec<_> = binaries.map(Arc::new).collect();
        found.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(found)
    }

    /// Returns the command of a cargo that shares what this build has built.
    ///
    /// # Errors
    /// When the compiler's wrapper cannot be created.
    pub(crate) fn cargo(&self, args: &str) -> Result<Command, String> {
        let mut cargo = command::cargo(args);
        cargo.env("CARGO_TARGET_DIR", repo::target(self.folder.as_deref()));
        if let Some(flags) = &self.rustflags {
            cargo.env("RUSTFLAGS", flags);
        }
        if let Some((name, flags)) = &self.own_flags {
            cargo.env("RUSTC_WORKSPACE_WRAPPER", compiler::wrapper(name)?);
            cargo.env(compiler::FLAGS, flags);
        }
        cargo.envs(self.env.iter().map(|(name, value)| (name, value)));
        Ok(cargo)
    }

    /// Reads a message of cargo, if it is about a test binary.
    fn binary(&self, message: &str) -> Option<Binary> {
        let message: Value = serde_json::from_str(message).ok()?;
        if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true
        {
            return None;
        }
        let home = Path::new(message["manifest_path"].as_str()?).parent()?;
        let package = home.file_name()?.to_string_lossy();
        let name = message["target"]["name"].as_str()?;
        let id = match message["target"]["kind"][0].as_str()? {
            "test" => format!("{package}::{name}"),
            kind @ ("bin" | "example") => format!("{package}::{kind}/{name}"),
            _ => package.into_owned(),
        };
        Some(Binary {
            id,
            path: message["executable"].as_str()?.into(),
            home: home.to_owned(),
            env: self.env.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = r#"{"reason":"compiler-artifact","manifest_path":"/r/crates/pirn/Cargo.toml","target":{"kind":["test"],"name":"it","test":true},"profile":{"test":true},"executable":"/t/it-1"}"#;

    #[test]
    fn finds_a_test_binary() {
        let binary = Build::default().binary(MESSAGE).unwrap();
        assert_eq!(binary.id, "pirn::it");
        assert_eq!(binary.path, PathBuf::from("/t/it-1"));
        assert_eq!(binary.home, PathBuf::from("/r/crates/pirn"));
        let plain =
            MESSAGE.replace(r#""profile":{"test":true"#, r#""profile":{"test":false"#);
        assert!(Build::default().binary(&plain).is_none());
        assert!(Build::default().binary("{}").is_none());
    }
}
