//! The input of the rules, and their findings.

use std::fmt;

use crate::repo::File;
use crate::source::Source;

/// The path of the library's files.
pub(super) const LIBRARY: &str = "crates/pirn/src/";

/// The repository: every text file, and every Rust file parsed.
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
    pub(crate) sources: Vec<Source>,
}

impl Tree {
    /// Parses the Rust files.
    ///
    /// # Errors
    /// When one cannot be parsed.
    pub(crate) fn new(files: Vec<File>) -> Result<Tree, String> {
        let rust = files.iter().filter(|file| file.path.ends_with(".rs"));
        let sources = rust.map(Source::new).collect::<Result<_, _>>()?;
        Ok(Tree { files, sources })
    }

    /// Returns a tree of (path, text) pairs, for the tests of the rules.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        Tree::new(files.iter().map(file).collect()).unwrap()
    }

    /// Returns the text of one file; empty if it does not exist.
    pub(crate) fn text(&self, path: &str) -> &str {
        let file = self.files.iter().find(|f| f.path == path);
        file.map_or("", |file| &file.text)
    }

    /// Returns the library's own files.
    pub(crate) fn library(&self) -> impl Iterator<Item = &Source> {
        let sources = self.sources.iter();
        sources.filter(|source| source.path.starts_with(LIBRARY))
    }
}

/// One violation of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) path: String,
    /// From 1; 0 for the whole file.
    pub(crate) line: usize,
    pub(crate) message: String,
    /// Printed, but does not fail the run.
    pub(crate) only_warns: bool,
}

impl Finding {
    /// Returns a violation that fails the run.
    pub(crate) fn new(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding {
            path: path.to_owned(),
            line,
            message: message.into(),
            only_warns: false,
        }
    }

    /// Returns the same, as a warning.
    pub(crate) fn warning(self) -> Finding {
        Finding {
            only_warns: true,
            ..self
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weight = if self.only_warns { "warning: " } else { "" };
        match self.line {
            0 => write!(f, "{}: {weight}{}", self.path, self.message),
            line => write!(f, "{}:{line}: {weight}{}", self.path, self.message),
        }
    }
}
