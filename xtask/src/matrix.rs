//! The step `matrix`: the library with each of its features alone, with none and with all, and its
//! documentation as users of all features see it.
//!
//! Tests cannot show that a feature is enough for the code behind it: they turn most features on.

use std::process::Command;

use crate::options::Options;
use crate::packages::published;
use crate::tally::Tally;
use crate::{command, repo};

/// The package with features.
const LIBRARY: &str = "pirn";

/// The target directory of this step, inside the ordinary one.
pub(crate) const FOLDER: &str = "matrix";

/// Lints the library for every set of features, or for those with a word in their names, and builds
/// the documentation of the published crates.
///
/// # Errors
/// When cargo cannot list the features, or no set is chosen.
pub(crate) fn matrix(options: &Options) -> Result<Tally, String> {
    let published = published()?;
    let library = published.iter().find(|p| p["name"] == LIBRARY);
    let features = library.and_then(|p| p["features"].as_object());
    let features = features.ok_or("cargo lists no features")?;
    let mut checks = Vec::new();
    let others = features.keys().filter(|feature| *feature != "default");
    let alone = others.map(|feature| (feature.as_str(), format!("--features {feature}")));
    let sets = [
        ("none", String::new()),
        ("all", "--all-features".to_owned()),
    ];
    for (name, set) in sets.into_iter().chain(alone) {
        let args = format!("clippy --quiet --package {LIBRARY} --lib");
        let args = format!("{args} --no-default-features {set} -- -Dwarnings");
        checks.push((name, args, ""));
    }
    let names = published.iter().filter_map(|p| p["name"].as_str());
    let names: String = names.map(|name| format!(" --package {name}")).collect();
    let args = format!("doc --quiet --no-deps --all-features{names}");
    // With the features that items need, as the host of documentation shows them.
    checks.push(("docs", args, "--cfg docsrs"));
    checks.retain(|(name, ..)| options.picks(name));
    let mut tally = Tally::default();
    for (name, args, flags) in checks {
        tally += Tally::printed(command::run(&mut cargo(&args, flags)).is_ok(), name);
    }
    tally.nonzero("sets of features")
}

/// Returns the command for cargo with these arguments, and these flags for rustdoc beside
/// `-Dwarnings`. With such flags it has a target directory of its own: they turn on unstable
/// features, and then some dependencies are built differently.
pub(crate) fn cargo(args: &str, doc_flags: &str) -> Command {
    let mut cargo = command::cargo(args);
    let folder = Some(FOLDER).filter(|_| !doc_flags.is_empty());
    cargo.env("CARGO_TARGET_DIR", repo::target(folder));
    cargo.env("RUSTDOCFLAGS", format!("-Dwarnings {doc_flags}"));
    if !doc_flags.is_empty() {
        // The flag turns on what is not stable.
        cargo.env("RUSTC_BOOTSTRAP", "1");
    }
    cargo
}
