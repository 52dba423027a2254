//! A child outlives the body of its scope: it may borrow from outside the body, not from inside.

fn main() {
    pirn::scope(|s| {
        let inside = String::from("here");
        s.spawn(|| assert_eq!(inside, "here"));
    });
}
