//! A lock is released by the fiber that acquired it: its guard does not move to another fiber.

fn main() {
    let mutex = pirn::sync::Mutex::new(0);
    let guard = mutex.lock();
    pirn::scope(|s| {
        s.spawn(move || drop(guard));
    });
}
