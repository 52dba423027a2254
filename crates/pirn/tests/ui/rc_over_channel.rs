//! Both ends of a channel go where they are sent only if the values may follow.

use std::rc::Rc;

fn main() {
    let (tx, rx) = pirn::channel::bounded(1);
    pirn::spawn(move || tx.send(Rc::new(1)));
    let _ = rx.recv();
}
