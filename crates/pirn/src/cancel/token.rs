//! Tokens as users hold them.

use std::fmt;
use std::sync::Arc;

use crate::fiber::current;
use crate::fiber::region::Region;
use crate::fiber::token::Node;
use crate::runtime::Handle;
use crate::sched::place;
use crate::wait::{Attempt, Reason, Spec, limit, spend, wait_in};

use super::case::CancelCase;

/// What cancels: a node in a tree. A clone is the same token.
///
/// A token that is dropped cancels nothing.
#[derive(Clone)]
#[repr(transparent)]
pub struct Token(Arc<Node>);

/// Keeps a callback of [`Token::on_cancel`]; dropping it forgets the callback, unless it has
/// been called, or is being called now.
#[must_use = "a registration that is dropped forgets its callback"]
pub struct Registration(Option<(Arc<Node>, usize)>);

impl Token {
    /// A token below no other.
    #[must_use]
    pub fn new() -> Token {
        Token(Node::below([None, None]))
    }

    /// A token that is cancelled when this one is, or before.
    #[must_use]
    pub fn child(&self) -> Token {
        Token(Node::below([Some(Arc::clone(&self.0)), None]))
    }

    /// The token that the caller's code is under: of the innermost [`enter`](Token::enter) or
    /// scope, else of its runtime. On a plain thread with neither, and directly in a
    /// [`shield`](super::shield()), one that nobody else has.
    #[must_use]
    pub fn current() -> Token {
        let local = current::local();
        let region = current::known(local)
            // SAFETY: H1, H2: the caller's own header.
            .and_then(|fiber| unsafe { fiber.as_ref() }.region.get().region());
        if let Some(region) = region {
            if let Some(node) = region.get().token_in_force() {
                return Token(Arc::clone(node));
            }
            if !region.get().ends_bare() {
                return Token::new();
            }
        }
        match place::pool_of(local) {
            Some(pool) => Token(Arc::clone(pool.root())),
            None => Token::new(),
        }
    }

    /// Cancels this token and all below it: every interruptible wait under it ends with
    /// [`Interrupt::Cancelled`](crate::Interrupt), and all later ones too. For ever, and the
    /// same if it is done twice. Calls the callbacks, on the caller's stack.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends, unless a callback does. Waits for nothing.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether this token has been cancelled, itself or from above.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Runs `f` under this token and under the one that the caller is under: whichever is
    /// cancelled first interrupts it. When `f` is left, this token holds no more.
    ///
    /// # Panics
    /// With the panic of `f`.
    ///
    /// # Cancellation
    /// Not an interruption point itself; suspends only if `f` does.
    pub fn enter<T>(&self, f: impl FnOnce() -> T) -> T {
        let fiber = current::identity(current::local());
        let outside = Token::current();
        let both = Node::below([Some(outside.0), Some(Arc::clone(&self.0))]);
        limit::within(fiber, &Region::entered(fiber, both), f)
    }

    /// Waits until this token is cancelled, whatever the caller itself is under.
    ///
    /// # Cancellation
    /// Not an interruption point: for ever, if nobody cancels. Parks a fiber, blocks a plain
    /// thread.
    #[track_caller]
    pub fn wait(&self) {
        let spec = Spec::of(Reason::Token);
        while !self.is_cancelled() {
            let _ = wait_in(
                self.0.tables(),
                |tables| tables.waiters(),
                &spec,
                |_| match self.0.is_cancelled() {
                    true => Attempt::Done(()),
                    false => Attempt::Wait(()),
                },
            );
        }
        spend();
    }

    /// Returns a case for a select that wins when this token is cancelled.
    pub fn case(&self) -> CancelCase<'_> {
        CancelCase::new(self)
    }

    /// Has `f` called once when this token is cancelled, on the stack of whoever cancels it;
    /// now, if that has come already. A panic of `f` ends there.
    ///
    /// `f` holds up the cancellation of what is below, so it should be short.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends, unless `f` is called now and does.
    pub fn on_cancel(&self, f: impl FnOnce() + Send + 'static) -> Registration {
        match self.0.call_on(Box::new(f)) {
            Ok(key) => Registration(Some((Arc::clone(&self.0), key))),
            Err(call) => {
                crate::base::dropping::end_caught(call);
                Registration(None)
            }
        }
    }

    pub(crate) fn of_ref(node: &Arc<Node>) -> &Token {
        // SAFETY: a token is nothing but the reference that it wraps.
        unsafe { &*std::ptr::from_ref(node).cast::<Token>() }
    }

    pub(crate) fn node(&self) -> &Arc<Node> {
        &self.0
    }
}

impl Handle {
    /// The token that everything in this runtime is under. To cancel it is the first step of
    /// a shutdown: no fiber is taken any more, and all are interrupted.
    #[must_use]
    pub fn token(&self) -> Token {
        Token(Arc::clone(self.pool().root()))
    }
}

impl Default for Token {
    fn default() -> Token {
        Token::new()
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some((node, key)) = self.0.take() {
            // Dropped outside the lock: it is the user's.
            drop(node.forget_call(key));
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").finish_non_exhaustive()
    }
}
