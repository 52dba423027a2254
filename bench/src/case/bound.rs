//! The limits that a row of pirn must keep, as ratios to peers and floors of the same run.

/// Which number of a distribution a limit speaks of.
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
    /// A factor times what one peer did.
    Peer(&'static str, f64),
    /// A factor times the best of all peers but the named ones.
    Best(&'static [&'static str], f64),
    /// A factor times the best of the named peers.
    BestOf(&'static [&'static str], f64),
    /// A factor times one of the run's floors.
    Floor(&'static str, f64),
    /// A fixed number in the row's unit.
    Fixed(Stat, f64),
    /// A limit for another of our own peers.
    For(&'static str, &'static Bound),
}

impl Bound {
    /// The number of the distribution that is held against this limit.
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
