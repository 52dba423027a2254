//! The files of a failure, which `PIRN_SIM_OUT` asks for.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Writes the trace, the page and the trace events of a failure to `directory`; returns the path of
/// the page. The names are those of the test and the seed.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn write(failure: &Failure, directory: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(directory)?;
    let name = format!("{}-{}", safe(failure.name()), failure.seed());
    let file = |extension: &str| directory.join(format!("{name}.{extension}"));
    fs::write(file("trace"), format!("{}\n", failure.trace()))?;
    fs::write(file("json"), failure.to_perfetto())?;
    let page = file("html");
    fs::write(&page, failure.to_html())?;
    Ok(page)
}

/// Returns a name for files.
fn safe(name: &str) -> String {
    let letter = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' => letter,
        _ => '-',
    };
    name.replace("::", ".").chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::safe;

    #[test]
    fn names_of_tests_become_names_of_files() {
        assert_eq!(safe("bank::tests::pays_once"), "bank.tests.pays_once");
        assert_eq!(safe("a thread/../x"), "a-thread-..-x");
    }
}
