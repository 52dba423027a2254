//! Borrowing without a scope is possible, and `unsafe`.

fn main() {
    let local = 1;
    let _ = pirn::spawn::Builder::new().spawn_unchecked(|| local + 1);
}
