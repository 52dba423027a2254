//! The C++ program: Boost.Fiber from the system if it is there, else Debian's packages
//! unpacked below the target directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{step, target_directory};

/// Builds `bench/boost`.
pub fn boost() -> Result<PathBuf, String> {
    let target = target_directory();
    let program = target.join("boost-peer");
    if compile(&program, None).is_ok() {
        return Ok(program);
    }
    let unpacked = target.join("boost");
    if !unpacked.join("usr").exists() {
        fetch(&unpacked)?;
    }
    compile(&program, Some(&unpacked.join("usr")))?;
    Ok(program)
}

fn compile(program: &Path, prefix: Option<&Path>) -> Result<(), String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("boost/main.cpp");
    let mut compiler = Command::new("g++");
    compiler
        .args(["-std=c++17", "-O2", "-DNDEBUG", "-pthread", "-o"])
        .arg(program);
    compiler.arg(source);
    if let Some(prefix) = prefix {
        compiler.arg("-I").arg(prefix.join("include"));
        for library in library_directories(prefix) {
            compiler.arg("-L").arg(library);
        }
    }
    compiler.args(["-l:libboost_fiber.a", "-l:libboost_context.a"]);
    step(&mut compiler).map(drop)
}

/// `lib` and the directory for this architecture in it.
fn library_directories(prefix: &Path) -> Vec<PathBuf> {
    let lib = prefix.join("lib");
    let inside = fs::read_dir(&lib).into_iter().flatten().flatten();
    inside
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .chain([lib.clone()])
        .collect()
}

/// Unpacks the packages on which the one for Boost.Fiber depends.
fn fetch(directory: &Path) -> Result<(), String> {
    let packages = directory.join("packages");
    fs::create_dir_all(&packages).map_err(|error| error.to_string())?;
    let names = package_names()?;
    let mut download = Command::new("apt-get");
    step(download.arg("download").args(&names).current_dir(&packages))?;
    for package in fs::read_dir(&packages)
        .map_err(|error| error.to_string())?
        .flatten()
    {
        step(
            Command::new("dpkg")
                .arg("-x")
                .arg(package.path())
                .arg(directory),
        )?;
    }
    Ok(())
}

/// Returns the packages for the version of Boost in this release of Debian.
fn package_names() -> Result<[String; 3], String> {
    let name = "libboost-fiber-dev";
    let ask = || step(Command::new("apt-cache").args(["depends", name]));
    let answer = match ask() {
        Ok(answer) => answer,
        Err(_) => {
            // New machines have no lists yet.
            step(Command::new("apt-get").arg("update"))?;
            ask()?
        }
    };
    let version = answer
        .lines()
        .find_map(|line| line.trim().strip_prefix("Depends: libboost-fiber"))
        .and_then(|rest| rest.strip_suffix("-dev"))
        .ok_or("no package of Boost.Fiber")?;
    Ok(["", "-fiber", "-context"].map(|part| format!("libboost{part}{version}-dev")))
}
