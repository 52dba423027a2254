//! Things done side by side, so many at a time.
//!
//! Owns: the threads, who takes what next, the order of the answers. Does not own: how many that ought to
//! be, which whoever calls knows.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does `work` for each of `items`, `jobs` at a time, beginning in their order; returns what it returned, in
/// their order.
///
/// # Panics
/// With a panic of `work`.
pub(crate) fn beside<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|s| {
        for _ in 0..jobs.min(items.len()) {
            s.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let answer = work(item);
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.push((at, answer));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, answer)| answer).collect()
}

/// As many as there are processors.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_order() {
        let items: Vec<_> = (0..100).collect();
        assert_eq!(
            beside(&items, 7, |item| item + 1),
            (1..=100).collect::<Vec<_>>()
        );
        assert!(beside(&[], 7, |(): &()| ()).is_empty());
    }
}
