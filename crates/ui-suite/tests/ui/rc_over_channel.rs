//! Both ends of a channel are `Send` only if the values are.

use std::rc::Rc;

fn main() {
    let (tx, rx) = pirn::channel::bounded(1);
    pirn::spawn(move || tx.send(Rc::new(1)));
    let _ = rx.recv();
}
