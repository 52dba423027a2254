//! `main` returns what the system can be given as an exit code.

#[pirn::main]
fn main() -> u32 {
    7
}
