//! docs/features.md: the promises, each with the tests that prove it.
//!
//! The page is written from two sources (`cargo xtask tidy --save`). docs/promises.txt has its
//! text, and one line for each promise, `A3 | text`. A test names its promises in a line above it:
//! * `// Proves: A3, B5.`: the test, or the model, proves both;
//! * `// Proves: A3 (free).`: the test where fibers may migrate, `(portable)` under the portable
//!   switch and parker, `(checked)` with the features `diagnostics` and `tracing`.
//!
//! Other proofs are a third column in docs/promises.txt, between backticks:
//! * `` `mutant park_relaxed` ``: a seeded bug that its model catches;
//! * `` `compiles aarch64-apple-darwin` ``: the library compiles for that target;
//! * `` `bench steal` ``: a case of the benches with bounds in bench/BOUNDS.md;
//! * `` `crossbeam-suite::threads zero::mpmc` ``: a test of another project.

use std::fmt;

use crate::markdown::quoted;
use crate::repo::{self, File};
use crate::tidy::Finding;

/// The page's path.
pub(crate) const PATH: &str = "docs/features.md";
/// The path of the promises.
pub(crate) const PROMISES: &str = "docs/promises.txt";

/// The placeholder in the promises for the list of rows with an open part.
const OPEN: &str = "{open}";

/// The first words of proofs that are not plain tests.
const KINDS: [&str; 7] = [
    "model", "mutant", "free", "portable", "checked", "compiles", "bench",
];
/// The beginning of the comment above a test.
const MARK: &str = "// Proves: ";
/// Above the first row of each section.
const HEAD: &str = "| Row | Promise | Proof |\n|---|---|---|\n";

/// A proof of a promise.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Proof {
    /// The first word, or `test`. Where a step of `ci` runs it, the step's name.
    pub(crate) kind: &'static str,
    pub(crate) name: String,
}

impl Proof {
    /// Returns true for a case of the benches: its bounds decide.
    pub(crate) fn is_case(&self) -> bool {
        self.kind == "bench" && !self.name.contains("::")
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            "test" => write!(f, "`{}`", self.name),
            kind => write!(f, "`{kind} {}`", self.name),
        }
    }
}

/// One promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) proofs: Vec<Proof>,
}

impl Row {
    /// Returns the cases of the benches among its proofs.
    pub(crate) fn cases(&self) -> Vec<&str> {
        let cases = self.proofs.iter().filter(|proof| proof.is_case());
        cases.map(|proof| proof.name.as_str()).collect()
    }
}

/// The promises, the page, and the errors in its sources.
#[derive(Debug)]
pub(crate) struct Features {
    pub(crate) rows: Vec<Row>,
    pub(crate) page: String,
    pub(crate) wrong: Vec<Finding>,
}

/// Reads the promises and the comments of tests.
pub(crate) fn read(files: &[File]) -> Features {
    let (mut rows, mut page) = (Vec::<Row>::new(), String::new());
    let (mut wrong, mut claims) = (Vec::new(), Vec::new());
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        for (at, _) in file.text.match_indices(MARK) {
            let line = file.text[..at].matches('\n').count() + 1;
            let indent = file.text[..at].rsplit('\n').next().unwrap_or_default();
            if !indent.trim().is_empty() {
                continue;
            }
            match claims_at(files, file, at) {
                Some(found) => {
                    claims
                        .extend(found.into_iter().map(|claim| (claim, &file.path, line)));
                }
                None => {
                    let said =
                        "write `// Proves: A3, B5 (free).` right above a `#[test]`";
                    wrong.push(Finding::new(&file.path, line, said));
                }
            }
        }
    }
    let promises = files.iter().find(|file| file.path == PROMISES);
    let (mut is_inside, mut open) = (false, Vec::new());
    for (at, line) in promises.map_or("", |file| &file.text).lines().enumerate() {
        let Some((id, text)) = line.split_once(" | ").filter(|_| !line.starts_with('|'))
        else {
            page += &format!("{line}\n");
            is_inside = false;
            continue;
        };
        let (text, others) = text.split_once(" | ").unwrap_or((text, ""));
        let mut proofs: Vec<_> = claims
            .extract_if(.., |((row, _), ..)| row == id)
            .map(|((_, proof), ..)| proof)
            .collect();
        proofs.extend(quoted(others).into_iter().map(proof));
        let mut fail =
            |said| wrong.push(Finding::new(PROMISES, at + 1, format!("{id}: {said}")));
        if proofs.is_empty() {
            fail("no proof: no test has the comment `// Proves: …`");
        }
        if rows.iter().any(|row| row.id == id) {
            fail("is there twice");
        }
        if !is_inside {
            page += HEAD;
        }
        is_inside = true;
        if text.contains("*Open") {
            open.push(id);
        }
        let names: Vec<_> = proofs.iter().map(Proof::to_string).collect();
        page += &format!("| {id} | {text} | {} |\n", names.join(", "));
        let id = id.to_owned();
        rows.push(Row { id, proofs });
    }
    let page = page.replace(OPEN, &open.join(", "));
    wrong.extend(claims.into_iter().map(|((row, _), path, line)| {
        Finding::new(path, line, format!("no row {row} in {PROMISES}"))
    }));
    Features { rows, page, wrong }
}

/// Writes the page.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn save(files: &[File]) -> Result<(), String> {
    repo::write(PATH, &read(files).page)
}

/// Reads a proof of the third column.
fn proof(text: &str) -> Proof {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let kind = KINDS.iter().find(|kind| **kind == first);
    let (kind, name) = kind.map_or(("test", text), |kind| (kind, rest));
    Proof {
        kind,
        name: name.to_owned(),
    }
}

/// Returns the rows of the list in the comment at this place, each with the test below it; none if
/// the list cannot be read, or no test follows.
fn claims_at(files: &[File], file: &File, at: usize) -> Option<Vec<(String, Proof)>> {
    let (above, text) = file.text.split_at(at);
    let text = text.strip_prefix(MARK)?;
    let (list, below) = text.split_at(text.find('\n')?);
    let (attributes, below) = below.split_once("fn ")?;
    let is_test = attributes.contains("#[test]") && !attributes.contains("\n\n");
    let (name, _) = below.split_once('(').filter(|_| is_test)?;
    let (binary, mut path) = repo::module(&file.path)?;
    if let Some(name) = renamed(files, &file.path) {
        path.pop();
        path.push(name);
    }
    // A module around it, if it is not at the beginning of its line.
    let lines = above.lines().filter(|line| !line.starts_with([' ', '/']));
    let mut modules =
        lines.filter_map(|line| line.strip_suffix(" {")?.split_once("mod "));
    let inner = modules.next_back().filter(|_| above.ends_with(' '));
    path.extend(inner.map(|(_, name)| name));
    path.push(name);
    let (path, is_model) = (path.join("::"), name.starts_with("model_"));
    let claim = |word: &str| {
        let (row, build) = word.split_once(" (").unwrap_or((word, ""));
        let text = match build.strip_suffix(')') {
            Some(build) => format!("{build} {path}"),
            None if is_model => format!("model {name}"),
            None if binary == "pirn::model" => format!("model {path}"),
            None if binary.starts_with("bench") => format!("bench {path}"),
            None => format!("{binary} {path}"),
        };
        let proof = proof(&text);
        let is_known = build.is_empty() || proof.kind != "test";
        is_known.then(|| (row.to_owned(), proof))
    };
    list.strip_suffix('.')?.split(", ").map(claim).collect()
}

/// Returns the name of a module, if an attribute in the `mod.rs` beside its file names the file.
fn renamed<'a>(files: &'a [File], path: &str) -> Option<&'a str> {
    let (folder, name) = path.rsplit_once('/')?;
    let facade = format!("{folder}/mod.rs");
    let facade = files.iter().find(|file| file.path == facade)?;
    let attribute = format!("#[path = \"{name}\"]\nmod ");
    let (_, rest) = facade.text.split_once(&attribute)?;
    rest.split(';').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(promises: &str, path: &str, test: &str) -> Features {
        let file = |(path, text): (&str, &str)| File {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let facade = "#[cfg(x)]\n#[path = \"c_linux.rs\"]\nmod c;\n";
        let files = [
            (PROMISES, promises),
            (path, test),
            ("crates/a/src/b/mod.rs", facade),
        ];
        super::read(&files.map(file))
    }

    fn proofs(promises: &str, path: &str, test: &str) -> Vec<String> {
        let read = read(promises, path, test);
        assert_eq!(read.wrong, []);
        read.rows[0].proofs.iter().map(Proof::to_string).collect()
    }

    const TEST: &str = "/// T.\n// Proves: A1.\n#[test]\nfn t() {}\n";

    #[test]
    fn reads_every_kind_of_proof() {
        for (path, name) in [
            ("crates/a/tests/it/b.rs", "`a::it b::t`"),
            ("crates/a/tests/idle.rs", "`a::idle t`"),
            ("crates/a/src/b/tests/mod.rs", "`a b::tests::t`"),
            ("crates/a/src/b/c_linux.rs", "`a b::c::t`"),
            ("programs/src/bin/kv/main.rs", "`programs::bin/kv t`"),
            ("crates/pirn/tests/model/m.rs", "`model m::t`"),
            ("bench/src/m.rs", "`bench m::t`"),
        ] {
            assert_eq!(proofs("A1 | p\n", path, TEST), [name]);
        }
        let inline =
            "mod tests {\n    // Proves: A1 (free).\n    #[test]\n    fn t() {}\n}\n";
        let found = proofs(
            "A1 | p | `mutant d`, `a::b c`\n",
            "crates/a/src/b.rs",
            inline,
        );
        assert_eq!(found, ["`free b::tests::t`", "`mutant d`", "`a::b c`"]);
        let model = "// Proves: A1.\n#[test]\nfn model_t() {}\n";
        assert_eq!(
            proofs("A1 | p\n", "crates/a/src/b.rs", model),
            ["`model model_t`"]
        );
    }

    #[test]
    fn writes_the_page() {
        let text = "# {open}\n\n| a | b |\n\nA1 | one | `bench d`\nA2 | *Open* | `bench e::f`\n\nEnd.\n";
        let read = read(text, "crates/a/tests/it.rs", TEST);
        let rows =
            "| A1 | one | `a::it t`, `bench d` |\n| A2 | *Open* | `bench e::f` |\n";
        assert_eq!(
            read.page,
            format!("# A2\n\n| a | b |\n\n{HEAD}{rows}\nEnd.\n")
        );
        let cases: Vec<_> = read.rows.iter().map(Row::cases).collect();
        assert_eq!(cases, [vec!["d"], vec![]]);
    }

    #[test]
    fn refuses_what_it_cannot_read() {
        let wrong = |promises: &str, test: &str| {
            let wrong = read(promises, "crates/a/tests/it.rs", test).wrong;
            wrong.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(wrong("A1 | p\n", TEST), [""; 0]);
        let said = "crates/a/tests/it.rs:2: no row A1 in docs/promises.txt";
        assert_eq!(wrong("A2 | p | `mutant d`\n", TEST), [said]);
        let said =
            "docs/promises.txt:1: A2: no proof: no test has the comment `// Proves: …`";
        assert_eq!(wrong("A2 | p\nA1 | p\n", TEST), [said]);
        assert_eq!(
            wrong("A1 | p | `mutant d`\nA1 | p | `mutant d`\n", "").len(),
            1
        );
        for comment in ["A1", "A1 (some day).", "A1.\n"] {
            let test = format!("// Proves: {comment}\n#[test]\nfn t() {{}}\n");
            assert_eq!(wrong("A1 | p | `mutant d`\n", &test).len(), 1, "{comment}");
        }
        let helper = TEST.replace("#[test]\n", "");
        assert_eq!(wrong("A1 | p | `mutant d`\n", &helper).len(), 1);
    }
}
