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
    let mut name: String = name.replace("::", ".").chars().map(letter).collect();
    // The end says more than the modules. All letters are of ASCII.
    name.split_off(name.len().saturating_sub(LONGEST))
}

/// The longest name, in bytes: file systems allow 255, with the seed and the extension.
const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use super::{LONGEST, safe};

    #[test]
    fn names_of_tests_become_names_of_files() {
        assert_eq!(safe("bank::tests::pays_once"), "bank.tests.pays_once");
        assert_eq!(safe("a thread/../x"), "a-thread-..-x");
        let long = safe(&format!("{}::pays_once", "m".repeat(300)));
        assert!(
            long.len() == LONGEST && long.ends_with("m.pays_once"),
            "{long}"
        );
    }
}
