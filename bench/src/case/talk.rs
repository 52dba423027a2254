//! The kinds of work in which fibers, or threads, wait for one another or for the clock.

/// The work of the child; the meaning of `n` differs for each and is given here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Fibers, wherever the scheduler puts them.
    Anywhere,
    /// Fibers that computed on two workers at the same moment before they began.
    Apart,
    /// Plain threads.
    Threads,
}

/// A channel and its users.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
