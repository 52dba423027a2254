//! `run` passes its closure to a worker: the borrowed values must be `Sync`.

use std::rc::Rc;

fn main() {
    let shared = Rc::new(1);
    pirn::run(|| drop(Rc::clone(&shared)));
}
