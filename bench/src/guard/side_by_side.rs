//! Counts operations in parallel: a count depends on no clock.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::Operation;

/// Counts the operations by `count`, one on each processor at a time; returns the answers in their order.
///
/// # Errors
/// The first failed count.
pub(super) fn side_by_side<T: Send>(
    operations: &[&'static Operation],
    count: impl Fn(&&'static Operation) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let at_once = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let counted = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some((at, operation)) = take(&next, operations) {
                    let answer = count(operation);
                    let mut counted =
                        counted.lock().unwrap_or_else(PoisonError::into_inner);
                    counted.push((at, answer));
                }
            });
        }
    });
    let mut counted = counted.into_inner().unwrap_or_else(PoisonError::into_inner);
    counted.sort_by_key(|(at, _)| *at);
    counted.into_iter().map(|(_, answer)| answer).collect()
}

fn take<'a, T>(next: &AtomicUsize, all: &'a [T]) -> Option<(usize, &'a T)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    all.get(at).map(|one| (at, one))
}
