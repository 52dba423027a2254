//! Reports of calls that blocked their thread although they were made in code where calls park.

use std::ffi::c_int;
use std::panic::Location;
use std::time::{Duration, Instant};

use pirn::cancel;
use pirn::dev::hooks;
use pirn::sync::Mutex;
use pirn::time::now;

use crate::descriptor::errno_of;
use crate::kernel::keep_errno;
use crate::stats::Function;

/// A call that takes at least this long is reported. Arbitrary: a tenth of the default threshold of
/// stalls, and longer than most reads of files.
const LONG: Duration = Duration::from_millis(10);

/// The largest number of pairs of a function and a spawn line that are reported.
const MOST: usize = 64;

/// The functions with the spawn lines of the fibers that were reported.
static REPORTED: Mutex<Vec<(Function, &Location<'static>)>> = Mutex::new(Vec::new());

/// A call that may block its thread. When it ends after a long time, it is reported, once for each
/// function and spawn line. The time is that of the clock, and includes that of a thread that was
/// ready to run.
pub(crate) struct Block {
    function: Function,
    since: Instant,
}

impl Function {
    /// Counts a call that may block the thread, although it is made within the region, and measures
    /// it until the result is dropped.
    pub(crate) fn blocks(self) -> Block {
        self.count_blocked();
        Block {
            function: self,
            since: now(),
        }
    }

    /// As [`blocks`](Self::blocks), unless the code has been cancelled: no cancellation would end
    /// the call.
    ///
    /// # Errors
    /// The error of a call that was interrupted.
    pub(crate) fn blocks_unless_cancelled(self) -> Result<Block, c_int> {
        cancel::check().map_err(errno_of)?;
        Ok(self.blocks())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        keep_errno(|| {
            let took = now() - self.since;
            if took >= LONG
                && let Some(place) = hooks::reported_line()
                && is_new(self.function, place)
            {
                hooks::report_block(self.function.name(), took);
            }
        });
    }
}

/// Records a function with a spawn line. Returns false if the pair is known, if [`MOST`] pairs are,
/// or if another thread holds the list.
fn is_new(function: Function, place: &'static Location<'static>) -> bool {
    // A call that blocks its thread must not park the fiber.
    let Some(mut reported) = REPORTED.try_lock() else {
        return false;
    };
    let known = reported.len() >= MOST || reported.contains(&(function, place));
    if !known {
        reported.push((function, place));
    }
    !known
}
