//! What every work here asks of a library.

use std::thread;
use std::time::Duration;

/// A pool of workers, and its join.
pub(in crate::peers) trait Library {
    /// What the library passes from join to join; `()` if it finds its worker by itself.
    type Scope<'a>;

    /// A pool of so many workers.
    fn start(workers: usize) -> Self;

    /// What `work` returns, which begins on one of the workers.
    fn enter<R: Send>(&self, work: impl FnOnce(&mut Self::Scope<'_>) -> R + Send) -> R;

    /// What both closures return; another worker may run one of them meanwhile.
    fn join<A: Send, B: Send>(
        scope: &mut Self::Scope<'_>,
        a: impl FnOnce(&mut Self::Scope<'_>) -> A + Send,
        b: impl FnOnce(&mut Self::Scope<'_>) -> B + Send,
    ) -> (A, B);

    /// Calls `work` so many times at once, each on its own, and `sleeper` beside them, which is handed what sleeps
    /// in the way that a user of this library would. Returns when all of them have.
    fn beside(
        &self,
        jobs: usize,
        work: impl Fn(&mut Self::Scope<'_>) + Sync,
        sleeper: impl FnOnce(fn(Duration)) + Send,
    ) where
        Self: Sync,
    {
        thread::scope(|s| {
            for _ in 0..jobs {
                s.spawn(|| self.enter(|scope| work(scope)));
            }
            sleeper(thread::sleep);
        });
    }

    /// The sum of `values`, in the way that a user of this library would write it.
    fn sum(scope: &mut Self::Scope<'_>, values: &[u64]) -> u64 {
        if values.len() <= LEAF {
            return values.iter().sum();
        }
        let (left, right) = values.split_at(values.len() / 2);
        let (a, b) = Self::join(
            scope,
            |scope| Self::sum(scope, left),
            |scope| Self::sum(scope, right),
        );
        a + b
    }
}

/// 64 KiB, some microseconds: a join is nothing beside it, and a beat comes often enough.
const LEAF: usize = 8192;
