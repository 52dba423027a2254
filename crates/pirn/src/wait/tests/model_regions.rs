//! Models: the cancellation of a token races code under it: a wait that begins, code that is left,
//! a shield, a token that is made late. Every party concerned is notified, and no other.

use std::sync::Arc;

use crate::base::tests::explore::explore;
use crate::fiber::FiberRef;
use crate::fiber::cancel_scope::CancelScope;
use crate::fiber::tests::stage::Block;
use crate::fiber::token::Node;
use crate::shim::thread::{self, JoinHandle};
use crate::wait::deadline::within;
use crate::wait::park::{park, ticket};
use crate::wait::spec::Spec;
use crate::wait::{How, Interrupt, Reason, interrupted};

fn fiber() -> Arc<Block> {
    let block = Block::new();
    block.renew(1);
    Arc::new(block)
}

fn token() -> Arc<Node> {
    Node::below([None, None])
}

fn cancels(node: &Arc<Node>) -> JoinHandle<()> {
    let node = Arc::clone(node);
    thread::spawn(String::new(), move || node.cancel()).expect("a modelled thread")
}

/// Runs `f` as the fiber of `block`, under the token `node`.
fn under<R>(block: &Block, node: &Arc<Node>, f: impl FnOnce() -> R) -> R {
    let region = CancelScope::entered(block.pointer(), Arc::clone(node));
    within(block.pointer(), &region, f)
}

/// Waits for an event that never comes.
fn wait() -> How {
    let ticket = ticket();
    park(ticket, &Spec::interruptible(Reason::Park)).how
}

const CANCELLED: How = How::Interrupted(Interrupt::Cancelled);

/// A wait under a token that is being cancelled ends, with or without a check before it.
fn cancel_against_a_wait(name: &'static str, looks: bool) {
    explore(name, 3, move || {
        let (node, block) = (token(), fiber());
        let canceller = cancels(&node);
        block.play(|| {
            let how = under(&block, &node, || {
                if looks && interrupted().is_some() {
                    return CANCELLED;
                }
                wait()
            });
            assert_eq!(how, CANCELLED);
        });
        canceller.join().expect("it ends");
        assert!(!block.header().state.is_revoked());
    });
}

// Proves: K2.
#[test]
fn model_regions_cancel_against_a_wait() {
    cancel_against_a_wait("regions_wait", false);
}

#[test]
fn model_regions_cancel_against_a_look_and_a_wait() {
    cancel_against_a_wait("regions_look_and_wait", true);
}

/// Code that a fiber has left is not affected by the cancellation of its token, at any later
/// moment.
#[test]
fn model_regions_cancel_against_leaving() {
    explore("regions_leaving", 3, || {
        let (node, block) = (token(), fiber());
        let canceller = cancels(&node);
        block.play(|| {
            under(&block, &node, || {
                let _ = interrupted();
            });
            assert_eq!(interrupted(), None);
        });
        canceller.join().expect("it ends");
        assert!(
            !block.header().state.is_revoked(),
            "notified after it had left"
        );
    });
}

/// Two tokens, one inside the other, both cancelled: whatever the order, the outer one is reported
/// after the inner one has been left.
// Proves: K-X-entered.
#[test]
fn model_regions_outer_cancel_against_leaving_the_inner() {
    explore("regions_outer", 2, || {
        let (outer, inner, block) = (token(), token(), fiber());
        let canceller = cancels(&outer);
        block.play(|| {
            under(&block, &outer, || {
                let _ = interrupted();
                under(&block, &inner, || {
                    inner.cancel();
                    assert_eq!(interrupted(), Some(Interrupt::Cancelled));
                });
                assert_eq!(wait(), CANCELLED);
            });
        });
        canceller.join().expect("it ends");
    });
}

/// Nothing is reported in a shield; everything is after it.
// Proves: K8.
#[test]
fn model_regions_cancel_against_a_shield() {
    explore("regions_shield", 2, || {
        let (node, block) = (token(), fiber());
        let canceller = cancels(&node);
        block.play(|| {
            under(&block, &node, || {
                let _ = interrupted();
                let shield = CancelScope::shield(block.pointer());
                within(block.pointer(), &shield, || {
                    assert_eq!(interrupted(), None);
                    assert!(!block.header().state.is_revoked());
                });
                assert_eq!(wait(), CANCELLED);
            });
        });
        canceller.join().expect("it ends");
    });
}

/// A fiber is cancelled while a child makes the token of its scope: the token is cancelled too.
// Proves: K7.
#[test]
fn model_regions_cancel_of_the_owner_against_a_late_token() {
    explore("regions_owner", 3, || {
        let block = fiber();
        let region = CancelScope::tokened(block.pointer(), None);
        let canceller = {
            let owner = FiberRef::of(block.pointer());
            let body = move || owner.cancel();
            thread::spawn(String::new(), body).expect("a modelled thread")
        };
        block.play(|| {
            within(block.pointer(), &region, || {
                let node = Arc::clone(region.token());
                canceller.join().expect("it ends");
                assert!(node.is_cancelled());
            });
        });
    });
}

/// A child is born below a token that is being cancelled, and its own child below it.
// Proves: K7.
#[test]
fn model_regions_cancel_against_a_birth() {
    explore("regions_birth", 3, || {
        let node = token();
        let canceller = cancels(&node);
        let child = Node::below([Some(Arc::clone(&node)), None]);
        let grandchild = Node::below([Some(Arc::clone(&child)), None]);
        canceller.join().expect("it ends");
        assert!(child.is_cancelled() && grandchild.is_cancelled());
    });
}

/// A node is dropped while its parent is cancelled and accesses it.
#[test]
fn model_regions_cancel_against_a_drop() {
    explore("regions_drop", 3, || {
        let node = token();
        let child = Node::below([Some(Arc::clone(&node)), None]);
        let canceller = cancels(&node);
        drop(child);
        canceller.join().expect("it ends");
    });
}
