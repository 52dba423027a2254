//! The scope itself cannot be kept: spawning after its end would outlive the borrows.

fn main() {
    let mut kept = None;
    pirn::scope(|s| kept = Some(s));
    drop(kept);
}
