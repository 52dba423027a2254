//! Nothing borrowed from a child's own frame leaves it.

fn main() {
    pirn::scope(|s| {
        let handle = s.spawn(|| {
            let own = String::from("here");
            own.as_str()
        });
        let _ = handle.join();
    });
}
