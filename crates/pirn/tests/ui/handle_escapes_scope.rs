//! A scoped handle is of no use after its scope: it cannot leave it.

fn main() {
    let handle = pirn::scope(|s| s.spawn(|| 1));
    let _ = handle.join();
}
