//! Rows of the report, and the bounds of pirn in them, as ratios to peers and floors of the same
//! run.

use super::table::number;

/// One row of the report.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name that a child prints before each sample of this row.
    pub series: &'static str,
    /// The unit.
    pub unit: &'static str,
    /// The title.
    pub title: &'static str,
    /// The bounds of pirn.
    pub bounds: Vec<Bound>,
    /// The figures of peers on another machine.
    pub elsewhere: Vec<(&'static str, f64)>,
}

/// One bound of one row: a factor times another figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The words in `rows.txt` and in BOUNDS.md.
    pub words: &'static str,
    /// The peer of pirn that it is for; `None` for pirn itself.
    pub peer: Option<&'static str>,
    /// True if it is about the 99th percentile instead of the median.
    pub p99: bool,
    /// The factor.
    pub factor: f64,
    /// The other figure.
    pub of: Of,
}

/// The figure that a bound is a multiple of.
#[derive(Clone, Debug, PartialEq)]
pub enum Of {
    /// The row's unit: a fixed number.
    Unit,
    /// One peer's, or one of the run's floors.
    One(&'static str),
    /// The best of these peers.
    BestOf(Vec<&'static str>),
    /// The best of all peers but these.
    BestBut(Vec<&'static str>),
}

impl Row {
    /// Returns true if a larger number is better.
    pub fn more_is_better(&self) -> bool {
        matches!(self.unit, "M/s" | "MB/s" | "/s" | "×" | "")
    }

    /// Returns the row with these cells in `rows.txt`.
    pub(super) fn parse(
        [series, unit, title, bounds, elsewhere]: [&'static str; 5],
    ) -> Row {
        let figure = |words: &'static str| {
            let (peer, figure) = words.rsplit_once(' ')?;
            Some((peer, number(figure)))
        };
        Row {
            series,
            unit: unit.trim_start_matches('-'),
            title,
            bounds: bounds.split_terminator("; ").map(Bound::parse).collect(),
            elsewhere: elsewhere.split(", ").filter_map(figure).collect(),
        }
    }
}

impl Bound {
    /// Returns the bound with these words.
    ///
    /// # Panics
    /// If they are none.
    pub fn parse(words: &'static str) -> Bound {
        let sign = words.find(['≤', '≥']).expect("a bound has a sign");
        let (subject, limit) = words.split_at(sign);
        let peer = subject.split(' ').find(|word| !matches!(*word, "" | "p99"));
        let [_, factor, of] = limit.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("`{words}` has no number with a unit");
        };
        Bound {
            words,
            peer,
            p99: subject.contains("p99"),
            factor: number(&factor.replace(',', "")),
            of: Of::parse(of),
        }
    }
}

impl Of {
    fn parse(words: &'static str) -> Of {
        let Some(figure) = words.strip_prefix("× ") else {
            return Of::Unit;
        };
        if let Some(peers) = figure.strip_prefix("the best of ") {
            return Of::BestOf(peers.split(", ").collect());
        }
        match figure.strip_prefix("the best peer") {
            Some(but) => {
                let names = but.trim_start_matches(" but ").split_terminator(" and ");
                Of::BestBut(names.collect())
            }
            None => Of::One(figure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_read_from_its_words() {
        let bound = Bound::parse("pirn-scope p99 ≤ 5,000 µs");
        assert_eq!((bound.peer, bound.p99), (Some("pirn-scope"), true));
        assert_eq!((bound.factor, bound.of), (5000.0, Of::Unit));
        let of = |words| Bound::parse(words).of;
        assert_eq!(of("≤ 3 × switch pair"), Of::One("switch pair"));
        assert_eq!(of("≥ 1.80 ×"), Of::Unit);
        assert_eq!(of("≤ 0.5 × the best peer"), Of::BestBut(vec![]));
        let but = of("≤ 0.5 × the best peer but rayon and chili");
        assert_eq!(but, Of::BestBut(vec!["rayon", "chili"]));
        assert_eq!(
            of("≥ 1 × the best of go, may"),
            Of::BestOf(vec!["go", "may"])
        );
    }
}
