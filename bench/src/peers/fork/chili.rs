//! chili's part: `Scope::join`. The thread that enters is one of the workers.

use chili::{Scope, ThreadPool};

use super::library::Library;

impl Library for ThreadPool {
    type Scope<'a> = Scope<'a>;

    fn start(workers: usize) -> ThreadPool {
        super::super::chili::pool(workers)
    }

    fn enter<R: Send>(&self, work: impl FnOnce(&mut Scope<'_>) -> R + Send) -> R {
        work(&mut self.scope())
    }

    fn join<A: Send, B: Send>(
        scope: &mut Scope<'_>,
        a: impl FnOnce(&mut Scope<'_>) -> A + Send,
        b: impl FnOnce(&mut Scope<'_>) -> B + Send,
    ) -> (A, B) {
        scope.join(a, b)
    }
}
