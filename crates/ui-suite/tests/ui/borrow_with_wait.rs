//! A join by hand does not help, as the compiler cannot know that it happens: a borrow needs a
//! scope.

fn main() {
    let local = String::from("here");
    let borrowed = &local;
    let handle = pirn::spawn(move || borrowed.len());
    let _ = handle.join();
}
