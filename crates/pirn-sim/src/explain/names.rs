//! Words for operations and for kinds of objects.
//!
//! Owns: the words. Does not own: which object has which name (`scene`).

use std::collections::HashSet;

use pirn::dev::sim::Operation;
use pirn::diag::ObjectKind;

/// Returns the kind of an object that has seen these operations.
pub(super) fn noun(operations: &HashSet<Operation>) -> &'static str {
    use Operation as O;
    let any = |those: &[Operation]| those.iter().any(|it| operations.contains(it));
    if any(&[O::Lock, O::Read, O::TryLock]) {
        "lock"
    } else if any(&[O::Send, O::TrySend, O::Receive, O::TryReceive]) {
        "channel"
    } else if any(&[O::Acquire, O::TryAcquire, O::Release]) {
        "semaphore"
    } else if any(&[O::Notify]) {
        "condvar"
    } else if any(&[O::Set]) {
        "event"
    } else if any(&[O::Arrive]) {
        if any(&[O::Wait]) {
            "wait group"
        } else {
            "barrier"
        }
    } else if any(&[O::Close]) {
        "channel"
    } else if any(&[O::Park, O::Unpark]) {
        "key"
    } else if any(&[O::Load, O::Store]) {
        "atomic"
    } else if any(&[O::Cancel, O::Check]) {
        "token"
    } else {
        "object"
    }
}

/// Returns the kind of an object that a fiber waits for.
pub(super) fn kind_of(kind: &ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Mutex { .. } | ObjectKind::RwLock { .. } => "lock",
        ObjectKind::Condvar { .. } => "condvar",
        ObjectKind::Semaphore { .. } => "semaphore",
        ObjectKind::Barrier { .. } => "barrier",
        ObjectKind::WaitGroup { .. } => "wait group",
        ObjectKind::Event { .. } => "event",
        ObjectKind::Channel { .. }
        | ObjectKind::Oneshot { .. }
        | ObjectKind::Broadcast { .. }
        | ObjectKind::Watch { .. } => "channel",
        ObjectKind::Scope { .. } => "scope",
        ObjectKind::Fiber { .. } => "fiber",
        ObjectKind::Token => "token",
        ObjectKind::Key => "key",
        ObjectKind::Future => "future",
        ObjectKind::Socket { .. } => "socket",
        _ => "object",
    }
}

/// Returns the word for an operation: `try_lock`.
pub(super) fn word(operation: Operation) -> String {
    match operation {
        Operation::Receive => "recv".to_owned(),
        Operation::TryReceive => "try_recv".to_owned(),
        _ => snake(&format!("{operation:?}")),
    }
}

/// Returns `two_words` of `TwoWords`.
pub(super) fn snake(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.extend(letter.to_lowercase());
    }
    word
}
