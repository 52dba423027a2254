//! A child outlives the body of its scope: it may borrow what is outside, not what is inside.

fn main() {
    pirn::scope(|s| {
        let inside = String::from("here");
        s.spawn(|| assert_eq!(inside, "here"));
    });
}
