//! A runtime of one's own for a test.

use super::handle::Handle;
use super::instance::Runtime;

/// Runs `f` on a fiber of a runtime made for it, with one worker, and waits for every fiber
/// that it leaves behind.
///
/// For `#[test]` functions: nothing that other tests do can be seen, and a fiber that is
/// left over shows up as a test that does not end.
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
pub fn test<T: Send>(f: impl FnOnce(&Handle) -> T + Send) -> T {
    let runtime = Runtime::builder().name("pirn-test").workers(1).build();
    let runtime =
        runtime.unwrap_or_else(|error| panic!("no runtime for the test: {error}"));
    let handle = runtime.handle();
    let result = handle.run(|| f(&handle));
    drop(runtime);
    result
}
