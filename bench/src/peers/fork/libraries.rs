//! The joins of the libraries, and plain calls.

use std::time::Duration;

use pirn::par;
use pirn::runtime::Runtime;
use rayon::prelude::*;

use super::library::Library;

/// The free `join`, which looks up the fiber that it runs on.
pub(in crate::peers) struct Free(Runtime);

/// `Scope::join`, which gets it as an argument.
pub(in crate::peers) struct Scoped(Runtime);

impl Library for Free {
    type Scope<'a> = ();

    fn start(workers: usize) -> Free {
        Free(runtime(workers))
    }

    fn enter<R: Send>(&self, work: impl FnOnce(&mut ()) -> R + Send) -> R {
        self.0.run(|| work(&mut ()))
    }

    fn join<A: Send, B: Send>(
        _scope: &mut (),
        a: impl FnOnce(&mut ()) -> A + Send,
        b: impl FnOnce(&mut ()) -> B + Send,
    ) -> (A, B) {
        par::join(|| a(&mut ()), || b(&mut ()))
    }

    fn beside(
        &self,
        jobs: usize,
        work: impl Fn(&mut Self::Scope<'_>) + Sync,
        sleeper: impl FnOnce(fn(Duration)) + Send,
    ) {
        self.0.scope(|s| {
            for _ in 0..jobs {
                s.spawn(|| work(&mut ()));
            }
            s.spawn(|| sleeper(sleep));
        });
    }

    fn sum(_scope: &mut (), values: &[u64]) -> u64 {
        par::sum(values)
    }
}

impl Library for Scoped {
    type Scope<'a> = par::Scope<'a>;

    fn start(workers: usize) -> Scoped {
        Scoped(runtime(workers))
    }

    fn enter<R: Send>(&self, work: impl FnOnce(&mut par::Scope<'_>) -> R + Send) -> R {
        self.0.run(|| par::scope(work))
    }

    fn join<A: Send, B: Send>(
        scope: &mut par::Scope<'_>,
        a: impl FnOnce(&mut par::Scope<'_>) -> A + Send,
        b: impl FnOnce(&mut par::Scope<'_>) -> B + Send,
    ) -> (A, B) {
        scope.join(a, b)
    }

    fn beside(
        &self,
        jobs: usize,
        work: impl Fn(&mut Self::Scope<'_>) + Sync,
        sleeper: impl FnOnce(fn(Duration)) + Send,
    ) {
        self.0.scope(|s| {
            for _ in 0..jobs {
                s.spawn(|| par::scope(&work));
            }
            s.spawn(|| sleeper(sleep));
        });
    }

    fn sum(_scope: &mut par::Scope<'_>, values: &[u64]) -> u64 {
        par::sum(values)
    }
}

fn runtime(workers: usize) -> Runtime {
    Runtime::builder()
        .workers(workers)
        .build()
        .expect("a runtime starts")
}

fn sleep(time: Duration) {
    pirn::sleep(time).expect("no fiber is cancelled");
}

impl Library for rayon::ThreadPool {
    type Scope<'a> = ();

    fn start(workers: usize) -> rayon::ThreadPool {
        super::super::rayon::pool(workers)
    }

    fn enter<R: Send>(&self, work: impl FnOnce(&mut ()) -> R + Send) -> R {
        self.install(|| work(&mut ()))
    }

    fn join<A: Send, B: Send>(
        _scope: &mut (),
        a: impl FnOnce(&mut ()) -> A + Send,
        b: impl FnOnce(&mut ()) -> B + Send,
    ) -> (A, B) {
        rayon::join(|| a(&mut ()), || b(&mut ()))
    }

    fn sum(_scope: &mut (), values: &[u64]) -> u64 {
        values.par_iter().sum()
    }
}

/// The thread that enters is one of the workers.
impl Library for chili::ThreadPool {
    type Scope<'a> = chili::Scope<'a>;

    fn start(workers: usize) -> chili::ThreadPool {
        super::super::chili::pool(workers)
    }

    fn enter<R: Send>(&self, work: impl FnOnce(&mut chili::Scope<'_>) -> R + Send) -> R {
        work(&mut self.scope())
    }

    fn join<A: Send, B: Send>(
        scope: &mut chili::Scope<'_>,
        a: impl FnOnce(&mut chili::Scope<'_>) -> A + Send,
        b: impl FnOnce(&mut chili::Scope<'_>) -> B + Send,
    ) -> (A, B) {
        scope.join(a, b)
    }
}

/// Plain calls, one after the other: the time of the work without any library.
pub(super) struct Serial;

impl Library for Serial {
    type Scope<'a> = ();

    fn start(_workers: usize) -> Serial {
        Serial
    }

    fn enter<R: Send>(&self, work: impl FnOnce(&mut ()) -> R + Send) -> R {
        work(&mut ())
    }

    fn join<A: Send, B: Send>(
        scope: &mut (),
        a: impl FnOnce(&mut ()) -> A + Send,
        b: impl FnOnce(&mut ()) -> B + Send,
    ) -> (A, B) {
        (a(scope), b(scope))
    }

    fn sum(_scope: &mut (), values: &[u64]) -> u64 {
        values.iter().sum()
    }
}
