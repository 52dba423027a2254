//! The reason why no stack is available, in words that name the remedy.

use std::{fmt, io};

/// No stack can be taken at present. Nothing was changed. When stacks come back, or the system has
/// memory again, the next attempt succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutOfStacks {
    /// As many stacks are out as the runtime allows.
    Cap {
        /// The bound; `u32::MAX` stands for any larger number too.
        max: u32,
    },
    /// The system refused to create another one.
    System {
        /// The system's error number.
        errno: i32,
    },
}

impl OutOfStacks {
    pub(super) fn cap(max: usize) -> OutOfStacks {
        OutOfStacks::Cap {
            max: u32::try_from(max).unwrap_or(u32::MAX),
        }
    }

    pub(super) fn system(error: &io::Error) -> OutOfStacks {
        OutOfStacks::System {
            errno: error.raw_os_error().unwrap_or(libc::ENOMEM),
        }
    }
}

impl fmt::Display for OutOfStacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            OutOfStacks::Cap { max } => write!(
                f,
                "out of stacks: all {max} that Builder::max_stacks allows are in use"
            ),
            OutOfStacks::System { errno } => {
                let error = io::Error::from_raw_os_error(errno);
                write!(
                    f,
                    "out of stacks: the system refused another one ({error}); lower \
                     Builder::stack_size or Builder::max_stacks, or raise the limit on \
                     memory or on mappings (vm.max_map_count)"
                )
            }
        }
    }
}

impl std::error::Error for OutOfStacks {}
