//! The interface of a library for every workload here.

use std::thread;
use std::time::Duration;

/// A pool of workers, and its join.
pub(in crate::peers) trait Library {
    /// The value that the library passes from join to join; `()` if it finds its worker by itself.
    type Scope<'a>;

    /// Returns a pool of workers.
    fn start(workers: usize) -> Self;

    /// Runs `work`, starting on one of the workers, and returns its result.
    fn enter<R: Send>(&self, work: impl FnOnce(&mut Self::Scope<'_>) -> R + Send) -> R;

    /// Returns the results of both closures; another worker may run one of them meanwhile.
    fn join<A: Send, B: Send>(
        scope: &mut Self::Scope<'_>,
        a: impl FnOnce(&mut Self::Scope<'_>) -> A + Send,
        b: impl FnOnce(&mut Self::Scope<'_>) -> B + Send,
    ) -> (A, B);

    /// Calls `work` several times concurrently, and beside them `sleeper`, with the usual sleep
    /// function of this library. Returns when all of them have.
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

    /// Returns the sum of `values`, as a user of this library would write it.
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

/// 64 KiB, some microseconds: a join is negligible beside it, and beats are frequent enough.
const LEAF: usize = 8192;
