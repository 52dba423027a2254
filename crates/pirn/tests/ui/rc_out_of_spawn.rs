//! A result travels to whoever joins: it must be `Send`.

use std::rc::Rc;

fn main() {
    pirn::spawn(|| Rc::new(1));
}
