//! Which process this is: a child has a copy of the memory, or shares it.

use std::ffi::c_int;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

unsafe extern "C" {
    fn pthread_atfork(
        before: Option<extern "C" fn()>,
        in_parent: Option<extern "C" fn()>,
        in_child: Option<extern "C" fn()>,
    ) -> c_int;
}

static FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Returns how often libc's `fork` has led from the process of the first call to this one.
fn forks() -> u32 {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // If there is no memory for that, children have the number of their parent.
        // SAFETY: a function that lives as long as the process, and only counts.
        let _ = unsafe { pthread_atfork(None, None, Some(count)) };
    });
    FORKS.load(Ordering::Relaxed)
}

/// A process. Its children are others.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Process {
    forks: u32,
    id: u32,
}

impl Process {
    /// Returns the one that runs.
    pub(crate) fn this() -> Process {
        Process {
            forks: forks(),
            id: std::process::id(),
        }
    }

    /// Returns false in a child of libc's `fork`.
    #[inline]
    pub(crate) fn is_this(self) -> bool {
        self.forks == FORKS.load(Ordering::Relaxed)
    }

    /// Returns false in any other process, such as a child of `vfork`. A system call.
    pub(crate) fn is_surely_this(self) -> bool {
        self.id == std::process::id()
    }
}
