//! A scoped handle is useless after its scope: it cannot leave it.

fn main() {
    let handle = pirn::scope(|s| s.spawn(|| 1));
    let _ = handle.join();
}
