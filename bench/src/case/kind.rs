//! The kinds of work. The meaning of `n` differs for each and is given here.

use serde::Deserialize;

/// The work of one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `k` fibers on one worker yield to each other, `n` times altogether.
    Yield(u64),
    /// `n` times: spawn one empty fiber and join it.
    SpawnJoin,
    /// As `SpawnJoin`, and the fiber yields once.
    SpawnJoinYield,
    /// One fiber spawns `n` with 32 bytes of captures, then waits for all of them.
    SpawnMany,
    /// A tree of fibers, ten children each, `n` leaves; every parent joins and sums.
    Skynet,
    /// `n` fibers, all started and parked at once.
    Parked,
    /// `n` times: spawn, then compute without yielding until the child has started.
    BusyChild,
    /// `n` times: push an item to a bare queue, for a thread that only steals.
    Steal,
    /// `n` times: spawn two on one worker; a second one, which has just run a fiber, takes the first
    /// of them.
    HandOver,
    /// `n` times: pass an item to a sleeping worker, from a plain thread.
    Wake,
    /// `n` empty fibers, spawned by one fiber for each worker in batches, all run.
    Throughput,
    /// Fibers, or threads, that wait for one another or for the clock.
    Talk(Talk),
    /// Work that is divided in two recursively by a join of two closures.
    Fork(Fork),
    /// Tasks that settle before the work comes, or wait beside tasks that hold a worker.
    Tail(Tail),
    /// A server and a load on it, each in a process of its own.
    Net(Net),
    /// One corpus through a gzip program at this level, through pipes or files.
    Pgz {
        /// The compression level.
        level: u8,
        /// Standard input and output instead of files.
        pipe: bool,
    },
    /// The compressed corpus through a gunzip program, file to file.
    Gunzip {
        /// Made by `pgz -i`, which can be inflated in parallel.
        indexed: bool,
    },
}

/// Work in which fibers, or threads, wait for one another or for the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Talk {
    /// A number goes to and fro over two rendezvous channels, `n` round trips.
    PingPong(Place),
    /// `n` messages through one channel.
    Messages(Shape),
    /// `n` times: receive from any of this many channels, all of which have values.
    Select(u64),
    /// This many fibers lock and unlock one mutex, `n` times altogether.
    Crowd(u64),
    /// `n` times: arm a timer of an hour, and disarm it.
    Timer,
    /// `n` fibers, each with a deadline of its own; the deadlines are spread evenly over ten
    /// seconds for 1,000,000 fibers, and over less for fewer.
    Sleepers,
}

/// The two sides of a ping-pong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Fibers, wherever the scheduler puts them.
    Anywhere,
    /// Fibers that computed on two workers at the same moment before they began.
    Apart,
    /// Plain threads.
    Threads,
}

/// A channel and its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Shape {
    /// Number of senders.
    pub senders: u64,
    /// Number of receivers.
    pub receivers: u64,
    /// Values that the channel holds; 0 for a rendezvous, `None` for any number.
    pub capacity: Option<usize>,
    /// True if senders and receivers are plain threads in every library.
    pub threads: bool,
}

/// Work that is divided in two recursively by a join of two closures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fork {
    /// The largest Fibonacci number that takes at most `n` joins, without a cut-off: the cost of a
    /// join that is not stolen.
    Fib,
    /// The sum over a balanced tree of at most `n` boxed nodes, a join at each.
    Tree,
    /// The sum of `n` numbers, by the function of each library.
    Sum,
    /// `n` numbers sorted: halves by join, and merges of halves by join.
    Mergesort,
    /// All solutions for the most queens that can be placed in at most `n` ways on any number of
    /// rows; the first rows by joins over halves of the columns.
    Queens,
    /// The product of two square matrices with `n` rows.
    Matmul,
    /// A Mandelbrot set of `n` rows, some of which take a hundred times as long as others.
    Mandelbrot,
    /// `n` jobs one after the other, like the frames of a game, each of about this many
    /// microseconds of work in 64 equal pieces.
    Frames(u64),
    /// `n` sleeps of a millisecond beside eight jobs that divide themselves into pieces of 100 µs.
    Late,
}

/// Work in which tasks settle on workers before the work comes, or wait beside tasks that hold a
/// worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hog {
    /// It computes.
    Computes,
    /// It sleeps in the kernel.
    Blocks,
    /// It computes under a lock of std that all of its kind share.
    Locks,
}

/// The time of spawning the hogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Before the sleeper.
    HogsFirst,
    /// After the sleeper has slept for a while.
    HogsLast,
}

/// Work that a server does for a load in another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Net {
    /// Echo of 64 bytes for `n` milliseconds, after a warm-up of a quarter of that.
    Echo {
        /// How many connections.
        connections: usize,
        /// Requests in flight on each.
        depth: usize,
    },
    /// Short HTTP/1.1 answers for as long, one request in flight on each connection.
    Http {
        /// How many connections.
        connections: usize,
    },
    /// The system calls of `n` requests of echo, one in flight on each connection: the
    /// difference of two runs under strace.
    Calls {
        /// How many connections.
        connections: usize,
    },
    /// `n` connections, or as many as the limit on descriptors allows, each answered once
    /// and then left alone.
    Idle,
    /// `n` requests in equal shares on each connection, one in flight on each. The server computes
    /// this many microseconds for each; fewer connections if `n` is smaller.
    Work {
        /// How many connections.
        connections: usize,
        /// Microseconds of computing for a request.
        micros: u64,
    },
    /// Echo or HTTP for `n` milliseconds as fast as the server can, then in an open loop at
    /// 30, 60 and 90 % of that rate, for as long each.
    Open {
        /// How many connections.
        connections: usize,
        /// HTTP instead of echo.
        http: bool,
    },
    /// `n` requests of echo at a fixed rate, over many connections, 1 % of which cost 20 ms of
    /// computing for each request; fewer connections if `n` is smaller.
    Mixed {
        /// How many connections.
        connections: usize,
    },
}

impl Kind {
    /// Returns true if this is for gzip programs alone.
    pub fn is_gzip(self) -> bool {
        matches!(self, Kind::Pgz { .. } | Kind::Gunzip { .. })
    }

    /// Returns true if each repetition gives one sample of a row.
    pub fn gives_one_sample(self) -> bool {
        match self {
            Kind::Tail(work) => work.is_program(),
            Kind::Net(_) => true,
            _ => false,
        }
    }
}

impl Talk {
    /// Returns true if plain threads do this, in every library.
    pub fn on_threads(self) -> bool {
        match self {
            Talk::PingPong(place) => place == Place::Threads,
            Talk::Messages(shape) => shape.threads,
            Talk::Select(_) | Talk::Crowd(_) | Talk::Timer | Talk::Sleepers => false,
        }
    }
}

impl Tail {
    /// Returns true if a child gives one sample for each round: the time of a whole program.
    pub fn is_program(self) -> bool {
        !matches!(self, Tail::Late { .. } | Tail::Fresh | Tail::Message(_))
    }
}
