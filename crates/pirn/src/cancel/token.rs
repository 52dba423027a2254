//! The public type of tokens.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::base::choice::Operation;
use crate::fiber::cancel_scope::CancelScope;
use crate::fiber::current;
use crate::fiber::token::Node;
use crate::runtime::Handle;
use crate::sched::worker::enqueue;
use crate::wait::{Attempt, Reason, Spec, consume_budget, deadline, point, wait_in};

/// A cancellation token: a node in a tree. A clone is the same token.
///
/// Dropping a token cancels nothing.
///
/// # Examples
/// ```
/// use pirn::cancel::Token;
///
/// let server = Token::new();
/// let connection = server.child();
/// let request = connection.child();
/// connection.cancel();
/// assert!(request.is_cancelled());
/// assert!(!server.is_cancelled());
/// ```
#[doc(alias = "CancellationToken")]
#[doc(alias = "context.Context")]
#[derive(Clone)]
pub struct Token(Arc<Node>);

/// A guard that keeps a callback of [`Token::on_cancel`] registered. Dropping it deregisters the
/// callback, unless it has been called or is being called.
///
/// # Examples
/// ```
/// use pirn::cancel::Token;
///
/// let (tx, rx) = pirn::channel::bounded(2);
/// let other = tx.clone();
/// let token = Token::new();
/// let kept = token.on_cancel(move || tx.send("kept").unwrap());
/// drop(token.on_cancel(move || other.send("dropped").unwrap()));
/// token.cancel();
/// assert_eq!(rx.try_iter().collect::<Vec<_>>(), ["kept"]);
/// drop(kept);
/// ```
#[must_use = "a registration that is dropped forgets its callback"]
pub struct Registration(Option<(Arc<Node>, usize)>);

/// Clones of one token are equal.
impl PartialEq for Token {
    fn eq(&self, other: &Token) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Token {}

impl Hash for Token {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).addr().hash(state);
    }
}

impl Token {
    /// Returns a token without a parent.
    ///
    /// # Examples
    /// ```
    /// use pirn::cancel::Token;
    ///
    /// let token = Token::new();
    /// assert!(!token.is_cancelled());
    /// token.clone().cancel(); // a clone is the same token
    /// assert!(token.is_cancelled());
    /// ```
    #[must_use]
    pub fn new() -> Token {
        Token(Node::below([None, None]))
    }

    /// Returns a child token, which is cancelled at the latest when this one is.
    ///
    /// # Examples
    /// ```
    /// use pirn::cancel::Token;
    ///
    /// let parent = Token::new();
    /// let (one, other) = (parent.child(), parent.child());
    /// one.cancel();
    /// assert!(!parent.is_cancelled());
    /// parent.cancel();
    /// assert!(other.is_cancelled());
    /// ```
    #[doc(alias = "WithCancel")]
    #[doc(alias = "child_token")]
    #[must_use]
    pub fn child(&self) -> Token {
        Token(Node::below([Some(Arc::clone(&self.0)), None]))
    }

    /// Returns the token under which the caller's code runs: that of the innermost
    /// [`enter`](Token::enter) or scope, else that of its runtime. On a plain thread with neither,
    /// and directly in a [`shield`](super::shield()), it returns a new token.
    ///
    /// # Examples
    /// ```
    /// use pirn::cancel::Token;
    ///
    /// let token = Token::new();
    /// token.enter(|| {
    ///     let current = Token::current();
    ///     assert!(!current.is_cancelled());
    ///     token.cancel();
    ///     assert!(current.is_cancelled());
    /// });
    /// ```
    #[must_use]
    pub fn current() -> Token {
        let local = current::local();
        let region = current::known(local)
            // H2: the caller's own header.
            .and_then(|fiber| fiber.header().scope().region());
        if let Some(region) = region {
            if let Some(node) = region.get().token_in_force() {
                return Token(Arc::clone(node));
            }
            if !region.get().ends_bare() {
                return Token::new();
            }
        }
        match enqueue::pool_of(local) {
            Some(pool) => Token(Arc::clone(pool.root())),
            None => Token::new(),
        }
    }

    /// Cancels this token and all its descendants. Every interruptible wait under it returns
    /// [`Interrupt::Cancelled`](crate::Interrupt). Later waits fail too; cancellation is permanent
    /// and idempotent. Then calls the callbacks on the caller's stack, those of this token first. A
    /// second call returns at once, even while callbacks run.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends, unless a callback does. Waits for nothing.
    ///
    /// # Examples
    /// ```
    /// use pirn::cancel::Token;
    /// use pirn::channel::{self, RecvError};
    /// use pirn::Interrupt;
    ///
    /// let (_tx, rx) = channel::bounded::<u32>(1);
    /// let token = Token::new();
    /// let under = token.clone();
    /// let fiber = pirn::spawn(move || under.enter(|| rx.recv()));
    /// token.cancel();
    /// let received = fiber.join().unwrap();
    /// assert_eq!(received, Err(RecvError::Interrupted(Interrupt::Cancelled)));
    /// ```
    pub fn cancel(&self) {
        point(Operation::Cancel, (&raw const *self.0).addr());
        self.0.cancel();
    }

    /// Returns true if this token or an ancestor has been cancelled.
    ///
    /// # Examples
    /// ```
    /// use pirn::cancel::Token;
    ///
    /// let parent = Token::new();
    /// let child = parent.child();
    /// assert!(!child.is_cancelled());
    /// parent.cancel();
    /// assert!(child.is_cancelled());
    /// ```
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        point(Operation::Check, (&raw const *self.0).addr());
        self.0.is_cancelled()
    }

    /// Runs `f` under this token in addition to the caller's: the first of them to be cancelled
    /// interrupts it. This token's effect ends with `f`.
    ///
    /// # Panics
    /// With the panic of `f`.
    ///
    /// # Cancellation
    /// Not an interruption point itself; suspends only if `f` does.
    ///
    /// # Examples
    /// ```
    /// use pirn::cancel::Token;
    /// use pirn::channel;
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// tx.send(7).unwrap();
    /// let token = Token::new();
    /// token.cancel();
    /// assert!(token.enter(|| rx.recv()).is_err());
    /// assert_eq!(rx.recv(), Ok(7)); // the token no longer applies
    /// ```
    #[doc(alias = "run_until_cancelled")]
    pub fn enter<T>(&self, f: impl FnOnce() -> T) -> T {
        let fiber = current::identity(current::local());
        let outside = Token::current();
        let both = Node::below([Some(outside.0), Some(Arc::clone(&self.0))]);
        deadline::within(fiber, &CancelScope::entered(fiber, both), f)
    }

    /// Waits until this token is cancelled, regardless of the caller's own interrupts.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// Not an interruption point: it waits indefinitely if the token is never cancelled. Parks a
    /// fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::cancel::Token;
    ///
    /// let token = Token::new();
    /// let other = token.clone();
    /// pirn::spawn(move || other.cancel());
    /// token.wait();
    /// assert!(token.is_cancelled());
    /// ```
    #[doc(alias = "Done")]
    #[doc(alias = "cancelled")]
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
        consume_budget(Operation::Check, (&raw const *self.0).addr());
    }

    /// Registers `f` to be called once when this token is cancelled, on the stack of the party that
    /// cancels it. If it has been cancelled already, calls `f` now. A panic of `f` is caught.
    ///
    /// The token and its descendants are cancelled by then. Their later callbacks wait for `f`, so
    /// it should be short. Fibers and threads that the cancellation woke run beside the callbacks:
    /// a registration that one of them drops before its turn is not called.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends, unless `f` is called now and does.
    ///
    /// # Examples
    /// ```
    /// use pirn::cancel::Token;
    ///
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let token = Token::new();
    /// let _registration = token.on_cancel(move || tx.send("cancelled").unwrap());
    /// token.cancel();
    /// assert_eq!(rx.recv(), Ok("cancelled"));
    /// ```
    #[doc(alias = "AfterFunc")]
    pub fn on_cancel(&self, f: impl FnOnce() + Send + 'static) -> Registration {
        point(Operation::Check, (&raw const *self.0).addr());
        match self.0.call_on(Box::new(f)) {
            Ok(key) => Registration(Some((Arc::clone(&self.0), key))),
            Err(call) => {
                crate::base::drop_guard::end_caught(call);
                Registration(None)
            }
        }
    }

    pub(crate) fn of(node: &Arc<Node>) -> Token {
        Token(Arc::clone(node))
    }

    pub(crate) fn node(&self) -> &Arc<Node> {
        &self.0
    }
}

impl Handle {
    /// Returns the token under which all code in this runtime runs. Cancelling it is the first step
    /// of a shutdown: the runtime accepts no more fibers, and all are interrupted.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(1).build().unwrap();
    /// let handle = runtime.handle();
    /// handle.token().cancel();
    /// assert!(handle.spawn(|| 7).join().is_err()); // never started
    /// ```
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
            point(Operation::Check, (&raw const *node).addr());
            // Dropped outside the lock, because it is user code.
            drop(node.forget_call(key));
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("cancelled", &self.0.is_cancelled())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").finish_non_exhaustive()
    }
}
