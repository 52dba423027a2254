//! Models: a scope's end against the ends of its children. The parent resumes when all have ended
//! and not before. From then on no child accesses the scope. A panic is raised once, unless it has
//! been joined.

use std::cell::UnsafeCell;
use std::mem::ManuallyDrop;
use std::panic::{Location, resume_unwind};
use std::sync::Arc;

use crate::base::tests::explore::explore;
use crate::fiber::cancel_scope::CancelScope;
use crate::fiber::tests::stage::{Actor, Block};
use crate::fiber::token::Node;
use crate::fiber::{FiberPtr, Header, current, entry};
use crate::join::{JoinError, Joined};
use crate::scope::children::Children;
use crate::scope::scoped::{adopt, take_panic};
use crate::shim::atomic::{AtomicU32, Ordering};
use crate::shim::thread::JoinHandle;
use crate::wait::{How, Reason, Spec};

/// The frame of a parent. Its memory stays allocated, so that loom detects an access to the scope
/// after its end instead of a crash.
struct Frame(UnsafeCell<ManuallyDrop<Children>>);

// SAFETY: the children in it have a lock.
unsafe impl Send for Frame {}
// SAFETY: as above.
unsafe impl Sync for Frame {}

/// One scope, its parent and its children-to-be.
struct Fixture {
    frame: Arc<Frame>,
    parent: Arc<Block>,
    blocks: [Arc<Block>; 2],
    /// The number of children with closures that have run. Relaxed: only the scope's end orders it.
    ran: Arc<AtomicU32>,
}

impl Fixture {
    fn new() -> Fixture {
        let parent = Block::new();
        parent.renew(1);
        Fixture {
            frame: Arc::new(Frame(UnsafeCell::new(ManuallyDrop::new(Children::new(
                CancelScope::shared(Node::below([None, None])),
                true,
                true,
            ))))),
            parent: Arc::new(parent),
            blocks: std::array::from_fn(|_| Arc::new(Block::new())),
            ran: Arc::default(),
        }
    }

    fn children(&self) -> &Children {
        // SAFETY: only shared until `end`.
        unsafe { &*self.frame.0.get() }
    }

    /// Starts a child; its closure counts itself, and panics if `panics` is set.
    fn spawn(&self, i: usize, panics: bool) -> (FiberPtr, JoinHandle<()>) {
        self.blocks[i].stock();
        self.children().count();
        let ran = Arc::clone(&self.ran);
        let body = move || {
            ran.fetch_add(1, Ordering::Relaxed);
            if panics {
                resume_unwind(Box::new(i));
            }
        };
        // SAFETY: nothing is borrowed.
        let fiber = unsafe { entry::fresh(current::local(), Location::caller(), body) };
        assert_eq!(fiber, self.blocks[i].pointer());
        // SAFETY: the frame stays until `end`.
        unsafe { adopt(self.children(), fiber) };
        let actor = Actor(fiber);
        let frame = Arc::clone(&self.frame);
        let thread = self.blocks[i].start(move || {
            let Actor(fiber) = { actor };
            // SAFETY: once, by the thread that runs the fiber.
            unsafe { entry::live(fiber) };
            fiber.header().state.finish();
            // SAFETY: the runtime's reference.
            unsafe { Header::release(fiber) };
            drop(frame);
        });
        (fiber, thread)
    }

    /// Waits for the end of the scope, takes its panic if there is one, and leaves the frame.
    fn end(&self) -> Option<usize> {
        self.parent.play(|| {
            let how = self.children().wait(&Spec::of(Reason::Scope));
            assert!(matches!(how, How::Woken(_)));
        });
        // SAFETY: all children have ended, and no handle is in use.
        let panic = unsafe { take_panic(self.children()) };
        // SAFETY: all children have ended, and the parent is the caller.
        unsafe { ManuallyDrop::drop(&mut *self.frame.0.get()) };
        panic.map(|panic| *panic.downcast().expect("a child's number"))
    }
}

fn joined(fiber: FiberPtr) -> Joined<()> {
    // SAFETY: J1: the one handle's reference, of the closure's type.
    unsafe { Joined::new(fiber) }
}

fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("the thread passes"));
}

// Proves: K1.
#[test]
fn model_children_last_one_ends_the_scope() {
    explore("children_last_one", 2, || {
        let fixture = Fixture::new();
        let children = [0, 1].map(|i| {
            let (fiber, thread) = fixture.spawn(i, false);
            drop(joined(fiber));
            thread
        });
        assert_eq!(fixture.end(), None);
        assert_eq!(
            fixture.ran.load(Ordering::Relaxed),
            2,
            "the scope ended too early"
        );
        join(children);
    });
}

/// The scope raises a panic that was not joined; the handle is dropped before or after the child's
/// end.
#[test]
fn model_children_panic_is_raised() {
    explore("children_panic_is_raised", 3, || {
        let fixture = Fixture::new();
        let (fiber, thread) = fixture.spawn(1, true);
        drop(joined(fiber));
        assert_eq!(fixture.end(), Some(1));
        join([thread]);
    });
}

/// A sibling joins the child that panics, takes the panic, and the scope raises nothing.
#[test]
fn model_children_panic_is_joined_by_a_sibling() {
    explore("children_panic_is_joined", 2, || {
        let fixture = Fixture::new();
        let (fiber, panicking) = fixture.spawn(1, true);
        let handle = joined(fiber);
        let sibling = Block::new();
        sibling.renew(1);
        let sibling = Arc::new(sibling);
        fixture.children().count();
        let frame = Arc::clone(&fixture.frame);
        let joining = sibling.start(move || {
            let _ = handle.wait(&Spec::of(Reason::Join));
            assert!(matches!(handle.take(), Err(JoinError::Panicked(_))));
            // SAFETY: the scope waits for this.
            unsafe { &*frame.0.get() }.uncount();
        });
        assert_eq!(fixture.end(), None);
        join([panicking, joining]);
    });
}
