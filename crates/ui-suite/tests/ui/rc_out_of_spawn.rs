//! A result moves to the thread of its joiner: it must be `Send`.

use std::rc::Rc;

fn main() {
    pirn::spawn(|| Rc::new(1));
}
