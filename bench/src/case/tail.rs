//! The kinds of work in which tasks settle on workers before the work comes, or wait beside
//! tasks that hold a worker.

/// The work of the child; the meaning of `n` differs for each and is given here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// This many fibers wait on one channel for 20 ms, then share `n` jobs of 2 ms.
    Pool(u64),
    /// `n` fibers sleep 5 ms and then compute for 10 ms each.
    Sleepers,
    /// `n` fibers sleep 5 ms and then block their threads for 300 ms; twice.
    Blockers,
    /// Eight actors pass eight tokens around a ring of channels, `n` hops of 1 ms altogether.
    Ring,
    /// `n` items go through three stages that compute 1 ms for each.
    Stages,
    /// A fiber sleeps 1 ms again and again for `n` ms beside fibers that hold their workers.
    Late {
        /// Number of these.
        hogs: u64,
        /// How they hold their workers, 500 ms at a time.
        hog: Hog,
        /// Order of spawning them and the sleeper.
        order: Order,
    },
    /// `n` times: a fiber spawns a fresh one and computes for 100 ms, while other fibers
    /// compute on all other workers.
    Fresh,
    /// `n` messages, 1 ms apart, from a plain thread to a fiber, beside this many fibers that
    /// compute for 100 µs at a time.
    Message(u64),
}

/// How a fiber holds its worker for 500 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hog {
    /// It computes.
    Computes,
    /// It sleeps in the kernel.
    Blocks,
    /// It computes under a lock of std that all of its kind share.
    Locks,
}

/// The time of spawning the hogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Before the sleeper.
    HogsFirst,
    /// After the sleeper has slept for a while.
    HogsLast,
}

impl Tail {
    /// Returns true if a child gives one sample for each round: the time of a whole program.
    pub fn is_program(self) -> bool {
        match self {
            Tail::Pool(_)
            | Tail::Sleepers
            | Tail::Blockers
            | Tail::Ring
            | Tail::Stages => true,
            Tail::Late { .. } | Tail::Fresh | Tail::Message(_) => false,
        }
    }
}
