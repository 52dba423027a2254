//! Operations counted at the same time: a count depends on no clock.

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
    let share = operations.len().div_ceil(at_once).max(1);
    thread::scope(|scope| {
        let count = &count;
        let counting: Vec<_> = operations
            .chunks(share)
            .map(|some| scope.spawn(move || some.iter().map(count).collect::<Vec<_>>()))
            .collect();
        let counted = counting
            .into_iter()
            .flat_map(|thread| thread.join().expect("a count does not panic"));
        counted.collect()
    })
}
