//! The second half of a join may run on another thread: its captures must be `Send`.

use std::rc::Rc;

fn main() {
    let shared = Rc::new(1);
    pirn::par::join(|| (), || drop(shared));
}
