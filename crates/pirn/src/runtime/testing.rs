//! A runtime of one's own for a test.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::environment::Environment;
use super::handle::Handle;
use super::instance::Runtime;
use crate::shim;

/// Runs `f` on a fiber of a [deterministic](super::Builder::deterministic) runtime made for
/// it, and waits for every fiber that it leaves behind.
///
/// For `#[test]` functions: nothing that other tests do can be seen, waiting for time to pass
/// takes none, and a fiber that is left over shows up as a test that does not end. The seed is
/// the value of the environment variable `PIRN_SEED`, else another one in every call. If `f`
/// panics, its seed is printed to the standard error stream before anything else is waited
/// for.
///
/// Time stands still while anything computes. So a [`timeout`](crate::timeout) ends what waits, but never a loop
/// that asks [`cancel::check`](crate::cancel::check), as [`par::try_for_each`](crate::par::try_for_each) does.
///
/// # Panics
/// With the panic of `f`, after the other fibers have ended; or if the runtime cannot be
/// made.
///
/// # Cancellation
/// Not an interruption point.
///
/// # Blocking
/// Until every fiber has ended, without a limit, as for the drop of a
/// [`Runtime`]. Parks a fiber, blocks a plain thread.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::time::{now, sleep};
///
/// pirn::runtime::test(|_| {
///     let start = now();
///     sleep(Duration::from_secs(3600)).unwrap();
///     assert_eq!(now() - start, Duration::from_secs(3600));
/// });
/// ```
pub fn test<T: Send>(f: impl FnOnce(&Handle) -> T + Send) -> T {
    let made = Environment::read().and_then(|environment| {
        let seed = environment.seed.unwrap_or_else(shim::seed);
        let builder = Runtime::builder().name("pirn-test").deterministic(seed);
        Ok((seed, builder.build()?))
    });
    let (seed, runtime) =
        made.unwrap_or_else(|error| panic!("no runtime for the test: {error}"));
    let handle = runtime.handle();
    // UNWIND: nothing is looked at after a panic but the seed.
    let result = catch_unwind(AssertUnwindSafe(|| handle.run(|| f(&handle))));
    if result.is_err() {
        let _ = writeln!(io::stderr(), "pirn: PIRN_SEED={seed} reproduces this");
    }
    drop(runtime);
    result.unwrap_or_else(|panic| resume_unwind(panic))
}
