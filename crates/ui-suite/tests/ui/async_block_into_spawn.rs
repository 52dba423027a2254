//! A fiber runs a closure. An `async` block is waited for inside of one, by `pirn::future::wait`.

fn main() {
    pirn::spawn(async { 7 });
}
