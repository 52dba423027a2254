//! A detached fiber may outlive the frame that spawned it: it may not borrow from there.

fn main() {
    let local = String::from("here");
    pirn::spawn(|| assert_eq!(local, "here"));
}
