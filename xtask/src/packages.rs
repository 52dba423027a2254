//! The step `packages`: the packages of the crates that a registry would get, checked as their
//! users have them.
//!
//! Owns the texts, files and sizes of the packages; a workspace of the unpacked packages, which is
//! built and tested without the repository around it; and the installation of the programs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Build, Run, cases};
use crate::options::Options;
use crate::tally::Tally;
use crate::{command, jobs, repo, suite};

/// The crates that are published, and the most KiB that each has in its packed form: a fifth more
/// than it had when this was written. `pirn-top` had 64 at first; the limits on what hostile peers
/// and damaged recordings may cost have made it 66.
const PACKAGES: [(&str, u64); 6] = [
    ("pgz", 96),
    ("pirn", 1100),
    ("pirn-hooks", 48),
    ("pirn-macros", 16),
    ("pirn-sim", 84),
    ("pirn-top", 72),
];

/// The files that every package has.
const TEXTS: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// What else is in some, beside the sources. All other files stay in the repository, `tests/` among
/// them.
const OTHERS: [&str; 7] = [
    ".cargo_vcs_info.json",
    "Cargo.lock",
    "Cargo.toml.orig",
    "examples",
    "gdb",
    "guide",
    "src",
];

/// What a page of a registry shows.
const SHOWN: [&str; 6] = [
    "/description",
    "/keywords/0",
    "/categories/0",
    "/license",
    "/readme",
    "/rust_version",
];

/// Packs, checks and unpacks the crates, runs their unit tests outside of the repository, and
/// installs the programs.
///
/// # Errors
/// When cargo or tar fails, or the packages do not build.
pub(crate) fn packages(options: &Options) -> Result<Tally, String> {
    let home = repo::target(Some("packages"));
    let mut tally = Tally::default();
    let published = published()?;
    let known: Vec<_> = PACKAGES.iter().map(|(name, _)| *name).collect();
    let names: Vec<_> = published.iter().map(|p| text(p, "/name")).collect();
    let said = format!("published are {}", names.join(", "));
    tally += Tally::printed(names == known, said);
    let workspace = unpack(&home, &published)?;
    let unpacked = metadata(&workspace.join("Cargo.toml"))?;
    for package in &unpacked {
        for finding in findings(package, &home)? {
            tally += Tally::printed(false, finding);
        }
        tally += Tally::check(true);
    }
    tally += unit_tests(&workspace, options)?;
    for package in published.iter().filter(|p| has_program(p)) {
        let (ok, said) = installs(package, &home)?;
        tally += Tally::printed(ok, said);
    }
    tally.nonzero("packages")
}

/// Returns cargo's description of the crates of the repository that may be published.
///
/// # Errors
/// When cargo fails.
pub(crate) fn published() -> Result<Vec<Value>, String> {
    let mut packages = metadata(&repo::root().join("Cargo.toml"))?;
    packages.retain(|package| package["publish"].is_null());
    Ok(packages)
}

/// Returns cargo's description of the crates of a workspace, by name.
fn metadata(manifest: &Path) -> Result<Vec<Value>, String> {
    let mut cargo = command::cargo("metadata --no-deps --format-version 1 --offline");
    let json = command::output(cargo.arg("--manifest-path").arg(manifest))?;
    let mut json: Value = serde_json::from_str(&json).map_err(|e| e.to_string())?;
    let packages = json["packages"].as_array_mut().map(std::mem::take);
    let mut packages = packages.unwrap_or_default();
    packages.sort_by_key(|package| text(package, "/name").to_owned());
    Ok(packages)
}

/// Packs the crates and unpacks them side by side; returns the folder, a workspace in which they
/// find each other.
fn unpack(home: &Path, published: &[Value]) -> Result<PathBuf, String> {
    let workspace = home.join("unpacked");
    let io = |e: std::io::Error| format!("{}: {e}", workspace.display());
    if workspace.exists() {
        fs::remove_dir_all(&workspace).map_err(io)?;
    }
    fs::create_dir_all(&workspace).map_err(io)?;
    let mut pack = command::cargo("package --quiet --no-verify --allow-dirty --offline");
    for package in published {
        pack.args(["--package", text(package, "/name")]);
    }
    command::run(pack.env("CARGO_TARGET_DIR", home))?;
    let folders: Vec<_> = published.iter().map(folder).collect();
    let head = "[workspace]\nresolver = \"3\"\nmembers";
    let mut manifest = format!("{head} = {folders:?}\n\n[patch.crates-io]\n");
    for package in published {
        let mut tar = command::program("tar");
        tar.arg("-xzf").arg(packed(home, package));
        command::run(tar.arg("-C").arg(&workspace))?;
        let (name, folder) = (text(package, "/name"), folder(package));
        manifest += &format!("{name} = {{ path = {folder:?} }}\n");
    }
    // Unoptimised, the tests of pgz take half a minute, and the programs share no dependencies.
    let repository = repo::read("Cargo.toml")?;
    let profile = repository.split("\n\n");
    let profile = profile.filter(|table| table.contains("[profile.dev.package"));
    profile.for_each(|table| manifest += &format!("\n{table}\n"));
    fs::write(workspace.join("Cargo.toml"), manifest).map_err(io)?;
    // The versions of the repository, which this machine has.
    let lock = repo::root().join("Cargo.lock");
    fs::copy(lock, workspace.join("Cargo.lock")).map_err(io)?;
    Ok(workspace)
}

/// Returns what is wrong with the files of an unpacked package.
fn findings(package: &Value, home: &Path) -> Result<Vec<String>, String> {
    let name = text(package, "/name");
    let folder = home.join("unpacked").join(folder(package));
    let packed = packed(home, package);
    let io = |e: std::io::Error| format!("{name}: {e}");
    let mut found = Vec::new();
    let size = fs::metadata(packed).map_err(io)?.len().div_ceil(1024);
    let bound = PACKAGES.iter().find(|(known, _)| *known == name);
    let most = bound.map_or(0, |(_, most)| *most);
    println!("    {name}: {size} KiB of at most {most}");
    if size > most {
        found.push(format!("{name}: {size} KiB, more than {most}"));
    }
    let inside = fs::read_dir(&folder).map_err(io)?;
    let inside = inside.map(|file| Ok(file?.file_name().to_string_lossy().into_owned()));
    let inside: BTreeSet<_> = inside.collect::<Result<_, _>>().map_err(io)?;
    for missing in TEXTS.iter().filter(|file| !inside.contains(**file)) {
        found.push(format!("{name}: has no {missing}"));
    }
    let is_known = |file: &str| TEXTS.contains(&file) || OTHERS.contains(&file);
    for more in inside.iter().filter(|file| !is_known(file)) {
        found.push(format!("{name}: has {more}, which users do not need"));
    }
    for licence in TEXTS.iter().filter(|file| file.starts_with("LICENSE")) {
        let own = fs::read(folder.join(licence)).unwrap_or_default();
        if own != fs::read(repo::root().join(licence)).map_err(io)? {
            found.push(format!("{name}: {licence} is not the repository's"));
        }
    }
    for field in SHOWN.iter().filter(|field| text(package, field).is_empty()) {
        found.push(format!("{name}: Cargo.toml has no {}", &field[1..]));
    }
    if package.pointer("/metadata/docs/rs/all-features") != Some(&Value::Bool(true)) {
        found.push(format!("{name}: its documentation leaves features out"));
    }
    let readme = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    for link in links(&readme).filter(|link| !folder.join(link).exists()) {
        found.push(format!("{name}: README.md links to the missing {link}"));
    }
    Ok(found)
}

/// Builds the unpacked packages, with the dependencies that their manifests name, and runs their
/// unit tests. Builds the examples of the library without its features, and with all of them.
fn unit_tests(workspace: &Path, options: &Options) -> Result<Tally, String> {
    // Cargo runs in the root, and words of its command line end at spaces.
    let inside = workspace.strip_prefix(repo::root()).unwrap_or(workspace);
    let manifest = format!("--manifest-path {}/Cargo.toml", inside.display());
    let args = format!("{manifest} --workspace --lib --bins --offline");
    // In the repository's own folder, where the dependencies are built.
    let build = Build::new(&args).debug("none");
    for set in ["no-default-features", "all-features"] {
        let args = format!("build -q {manifest} -p pirn --examples --offline --{set}");
        command::run(&mut build.cargo(&args)?)?;
    }
    let mut chosen = cases(&build)?;
    chosen.retain(|case| case.ignored.is_none() && !case.is_alone());
    let tally = suite::run_all(chosen, Run::default().with(options)?)?;
    println!("    unit tests of the packages: {tally}");
    tally.nonzero("unit tests of the packages")
}

/// Installs a program from its folder, as README.md says, and asks it for its version.
fn installs(package: &Value, home: &Path) -> Result<(bool, String), String> {
    let (name, version) = (text(package, "/name"), text(package, "/version"));
    let installed = home.join("installed");
    let install = "install --quiet --locked --offline --force --debug";
    let build = jobs::build("test")?;
    let mut cargo = build.cargo(&format!("{install} --path crates/{name} --root"))?;
    command::run(cargo.arg(&installed))?;
    let mut program = command::program(installed.join("bin").join(name));
    let said = command::output(program.arg("--version"))?;
    let first = said.lines().next().unwrap_or_default();
    let expected = format!("{name} {version}");
    Ok((first == expected, format!("installed: {first}")))
}

fn has_program(package: &Value) -> bool {
    let targets = package["targets"].as_array().into_iter().flatten();
    targets.into_iter().any(|target| target["kind"][0] == "bin")
}

fn packed(home: &Path, package: &Value) -> PathBuf {
    home.join("package").join(folder(package) + ".crate")
}

/// Returns the folder that a package unpacks to.
fn folder(package: &Value) -> String {
    format!("{}-{}", text(package, "/name"), text(package, "/version"))
}

fn text<'a>(json: &'a Value, pointer: &str) -> &'a str {
    let found = json.pointer(pointer).and_then(Value::as_str);
    found.unwrap_or_default()
}

/// Returns the files to which a Markdown text links.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let pieces = text.split("](").skip(1);
    let targets = pieces.filter_map(|rest| rest.split(')').next());
    let files = targets.map(|target| target.split('#').next().unwrap_or_default());
    files.filter(|file| !file.is_empty() && !file.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_links_to_files() {
        let text = "[a](b.md) [c](d/e.md#f) [g](#h) [i](https://docs.rs/j)\n[k](l)";
        assert_eq!(links(text).collect::<Vec<_>>(), ["b.md", "d/e.md", "l"]);
    }
}
