//! The figures of the guide. The pages of rustdoc have no files beside them, so there is also an
//! address that contains each figure.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// Returns an address that contains `svg`, without characters that Markdown would interpret.
fn address(svg: &str) -> String {
    let mut address = String::from("data:image/svg+xml,");
    for byte in svg.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => address.push(byte.into()),
            b'-' | b'.' | b'/' | b':' | b';' | b'=' | b',' => address.push(byte.into()),
            _ => write!(address, "%{byte:02X}").expect("a string takes all"),
        }
    }
    address
}

/// With `PIRN_FIGURES_ACCEPT=1` writes the addresses instead.
#[test]
fn addresses_contain_the_figures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("guide");
    for name in ["fiber.svg", "threads.svg"] {
        let svg = fs::read_to_string(folder.join(name)).unwrap();
        let expected = address(&svg) + "\n";
        let file = folder.join(format!("{name}.uri"));
        if env::var_os("PIRN_FIGURES_ACCEPT").is_some() {
            fs::write(file, expected).unwrap();
        } else {
            let found = fs::read_to_string(file).unwrap();
            assert!(
                found == expected,
                "{name} has changed: set PIRN_FIGURES_ACCEPT=1"
            );
        }
    }
}
