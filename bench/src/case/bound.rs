//! The limits of a row of pirn, as ratios to peers and floors of the same run.

/// The number of a distribution that a limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stat {
    /// The middle of all samples.
    Median,
    /// The 99th percentile.
    P99,
}

/// One limit of one row. For rows where more is better, read "at least".
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// A factor times the figure of one peer.
    Peer(&'static str, f64),
    /// A factor times the best of all peers but the named ones.
    Best(&'static [&'static str], f64),
    /// A factor times the best of the named peers.
    BestOf(&'static [&'static str], f64),
    /// A factor times one of the run's floors.
    Floor(&'static str, f64),
    /// A fixed number in the row's unit.
    Fixed(Stat, f64),
    /// A limit for another peer of pirn.
    For(&'static str, &'static Bound),
}

impl Bound {
    /// Returns the number of the distribution that is compared with this limit.
    pub fn stat(&self) -> Stat {
        match self {
            Bound::Fixed(stat, _) => *stat,
            Bound::For(_, bound) => bound.stat(),
            Bound::Peer(..) | Bound::Best(..) | Bound::BestOf(..) | Bound::Floor(..) => {
                Stat::Median
            }
        }
    }
}
