//! rayon's part: `join` inside a pool.

use rayon::ThreadPool;
use rayon::prelude::*;

use super::library::Library;

impl Library for ThreadPool {
    type Scope<'a> = ();

    fn start(workers: usize) -> ThreadPool {
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
