//! Models: headers between the magazines of threads. A block is in one list, or belongs to one
//! fiber; a thread that gets it sees all that was done to it before.
//!
//! A magazine has room for one block here. So the third block that a thread frees sends the first
//! one to the store.

use std::panic::Location;
use std::sync::Arc;

use super::stage::{Actor, Block};
use crate::base::tests::explore::explore;
use crate::fiber::current;
use crate::fiber::header::{Header, Label};
use crate::fiber::slab;
use crate::shim::Mutex;
use crate::shim::thread::{self, JoinHandle};

/// The fibers that the threads of a model have allocated.
type Got = Arc<Mutex<Vec<Actor>>>;

fn start(body: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    thread::spawn(String::new(), body).expect("a modelled thread")
}

/// Creates a fiber on a block of the calling thread or of the store.
fn alloc(got: &Got) {
    let fiber = slab::alloc(current::local(), 0, Location::caller(), 1);
    let header = fiber.header();
    assert!(header.name().is_none(), "the first life shows through");
    got.lock().push(Actor(fiber));
}

fn assert_each_once(got: &Got, count: usize) {
    let mut got: Vec<_> = got.lock().iter().map(|actor| actor.0.addr()).collect();
    got.sort_unstable();
    got.dedup();
    assert_eq!(got.len(), count, "two fibers on one block");
}

/// A thread ends a fiber and sends its block to the store, where another thread allocates
/// meanwhile.
#[test]
fn model_slab_freed_here_allocated_there() {
    explore("slab_freed", 3, || {
        let blocks: Arc<[Block; 6]> = Arc::new(std::array::from_fn(|_| Block::new()));
        let got = Got::default();
        let first = blocks[0].renew(1);
        blocks[0].header().set_label(Label {
            name: Some("first".into()),
            stack_size: None,
        });
        // One is in the store already, two in the magazines of this thread.
        blocks[3..].iter().for_each(Block::stock);
        let frees = {
            let (blocks, got) = (Arc::clone(&blocks), Arc::clone(&got));
            start(move || {
                let first = first;
                // SAFETY: the one reference.
                unsafe { Header::release(first.0) };
                blocks[1..3].iter().for_each(Block::stock);
                (0..2).for_each(|_| alloc(&got));
            })
        };
        (0..3).for_each(|_| alloc(&got));
        frees.join().expect("the thread passes");
        // The block that is left in the store.
        alloc(&got);
        assert_each_once(&got, 6);
    });
}

/// Two threads without a block go to the store at once.
#[test]
fn model_slab_two_ask_the_store() {
    explore("slab_two_ask", 3, || {
        let blocks: [Block; 4] = std::array::from_fn(|_| Block::new());
        let got = Got::default();
        // Two go to the store.
        blocks.iter().for_each(Block::stock);
        let threads = [(); 2].map(|()| {
            let got = Arc::clone(&got);
            start(move || alloc(&got))
        });
        threads.map(|thread| thread.join().expect("the thread passes"));
        assert_each_once(&got, 2);
    });
}
