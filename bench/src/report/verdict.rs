//! The limits of a row, compared with pirn's figures.

use serde::Serialize;

use crate::case::{Bound, Row, Stat};
use crate::harness::Cell;
use crate::peers::{self, OURS};

use super::sheet::{Line, is_ours};

/// One limit of one row.
#[derive(Debug, Serialize)]
pub struct Limit {
    /// The peer of pirn that it is for.
    pub peer: &'static str,
    /// The peers that it refers to, whether they ran or not.
    pub among: Vec<&'static str>,
    /// In words; the number follows them.
    pub text: String,
    /// True if the number depends on the figure of a peer or a floor in this run.
    pub relative: bool,
    /// Its number in this run, if the peers that it refers to ran.
    pub value: Option<f64>,
    /// pirn's figure, as a multiple of that number.
    pub times: Option<f64>,
    /// True if that keeps the limit.
    pub kept: Option<bool>,
}

/// All limits of `row`, from the numbers of one run.
pub fn limits(row: &Row, lines: &[Line], floors: &Cell) -> Vec<Limit> {
    row.bounds
        .iter()
        .map(|bound| match bound {
            Bound::For(peer, bound) => limit(row, peer, bound, lines, floors),
            _ => limit(row, OURS, bound, lines, floors),
        })
        .collect()
}

fn limit(
    row: &Row,
    peer: &'static str,
    bound: &Bound,
    lines: &[Line],
    floors: &Cell,
) -> Limit {
    let median = |name: &str| {
        lines
            .iter()
            .find(|line| line.peer == name)
            .map(|line| line.summary.median)
    };
    let sign = if row.unit.more_is_better() {
        "≥"
    } else {
        "≤"
    };
    let (text, value) = match *bound {
        Bound::Peer(peer, factor) => (
            format!("{sign} {factor} × {peer}"),
            median(peer).map(|value| value * factor),
        ),
        Bound::Best(except, factor) => {
            let best = lines
                .iter()
                .find(|line| !is_ours(line.peer) && !except.contains(&line.peer));
            let but = match except {
                [] => String::new(),
                names => format!(" but {}", names.join(" and ")),
            };
            let text = format!("{sign} {factor} × the best peer{but}");
            (text, best.map(|line| line.summary.median * factor))
        }
        Bound::BestOf(peers, factor) => {
            let best = lines.iter().find(|line| peers.contains(&line.peer));
            let text = format!("{sign} {factor} × the best of {}", peers.join(", "));
            (text, best.map(|line| line.summary.median * factor))
        }
        Bound::Floor(floor, factor) => {
            let value = floors.summary(floor).map(|summary| summary.median * factor);
            (format!("{sign} {factor} × {floor}"), value)
        }
        Bound::Fixed(stat, value) => {
            let of = if stat == Stat::P99 { "p99 " } else { "" };
            (format!("{of}{sign}"), Some(value))
        }
        Bound::For(..) => unreachable!("a limit is for one peer"),
    };
    let text = match peer {
        OURS => text,
        other => format!("{other} {text}"),
    };
    let ours = lines.iter().find(|line| line.peer == peer);
    let ours = ours.map(|line| match bound.stat() {
        Stat::Median => line.summary.median,
        // With too few samples for it, the largest is used instead, so that the bound still has a
        // verdict.
        Stat::P99 => line.summary.p99.unwrap_or(line.summary.max),
    });
    let times = ours.zip(value).map(|(ours, value)| ours / value);
    let keeps = |times: f64| {
        if row.unit.more_is_better() {
            times >= 1.0
        } else {
            times <= 1.0
        }
    };
    Limit {
        peer,
        among: among(bound),
        relative: !matches!(bound, Bound::Fixed(..)),
        text,
        value,
        times,
        kept: times.map(keeps),
    }
}

/// Returns the peers that a bound refers to.
fn among(bound: &Bound) -> Vec<&'static str> {
    match *bound {
        Bound::Peer(peer, _) => vec![peer],
        Bound::BestOf(peers, _) => peers.to_vec(),
        Bound::Best(except, _) => {
            let all = peers::all().iter().map(|peer| peer.name);
            all.filter(|name| !is_ours(name) && !except.contains(name))
                .collect()
        }
        Bound::Floor(..) | Bound::Fixed(..) | Bound::For(..) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Unit;
    use crate::harness::Summary;

    fn line(peer: &'static str, median: f64) -> Line {
        let summary = Summary {
            median,
            p95: None,
            p99: None,
            p999: None,
            max: median,
            samples: 1,
        };
        Line {
            peer,
            summary,
            times_best: None,
            surely: None,
            samples: Vec::new(),
        }
    }

    fn row(unit: Unit, bounds: &'static [Bound]) -> Row {
        Row {
            series: "op",
            title: "",
            unit,
            bounds,
            region: &[],
        }
    }

    #[test]
    fn a_ratio_to_a_peer_is_kept_from_below() {
        let row = row(Unit::Ns, &[Bound::Peer("tokio", 0.5)]);
        let lines = [line(OURS, 40.0), line("tokio", 100.0)];
        assert_eq!(limits(&row, &lines, &Cell::new())[0].kept, Some(true));
        let lines = [line(OURS, 60.0), line("tokio", 100.0)];
        assert_eq!(limits(&row, &lines, &Cell::new())[0].kept, Some(false));
    }

    #[test]
    fn a_rate_is_kept_from_above() {
        let row = row(Unit::MopsPerS, &[Bound::Fixed(Stat::Median, 10.0)]);
        assert_eq!(
            limits(&row, &[line(OURS, 9.0)], &Cell::new())[0].kept,
            Some(false)
        );
        assert_eq!(
            limits(&row, &[line(OURS, 11.0)], &Cell::new())[0].kept,
            Some(true)
        );
    }

    #[test]
    fn a_limit_may_be_for_another_of_our_own() {
        let row = row(
            Unit::Ns,
            &[
                Bound::Peer("rayon", 1.0),
                Bound::For("pirn-sq", &Bound::Peer("rayon", 1.0)),
            ],
        );
        let lines = [line(OURS, 1.0), line("pirn-sq", 3.0), line("rayon", 2.0)];
        let limits = limits(&row, &lines, &Cell::new());
        let told = limits.iter().map(|limit| (limit.peer, limit.kept));
        let told: Vec<_> = told.collect();
        assert_eq!(told, [(OURS, Some(true)), ("pirn-sq", Some(false))]);
    }

    #[test]
    fn the_best_leaves_out_the_named_and_our_own() {
        let row = row(Unit::Ms, &[Bound::Best(&["rayon"], 0.5)]);
        let lines = [line("rayon", 1.0), line("pirn-sq", 2.0), line("go", 10.0)];
        assert_eq!(limits(&row, &lines, &Cell::new())[0].value, Some(5.0));
    }

    #[test]
    fn the_best_of_the_named_leaves_out_all_others() {
        let row = row(Unit::Ns, &[Bound::BestOf(&["go", "tokio"], 0.5)]);
        let lines = [line("boost", 1.0), line("go", 10.0), line("tokio", 20.0)];
        assert_eq!(limits(&row, &lines, &Cell::new())[0].value, Some(5.0));
    }

    #[test]
    fn the_largest_stands_in_for_a_percentile_of_few_samples() {
        let row = row(Unit::Ns, &[Bound::Fixed(Stat::P99, 10.0)]);
        let kept = |line| limits(&row, &[line], &Cell::new())[0].kept;
        assert_eq!(kept(line(OURS, 1.0)), Some(true));
        let mut few = line(OURS, 1.0);
        few.summary.max = 11.0;
        assert_eq!(kept(few), Some(false));
        let mut many = line(OURS, 1.0);
        (many.summary.max, many.summary.p99) = (11.0, Some(9.0));
        assert_eq!(kept(many), Some(true));
    }

    #[test]
    fn without_the_peer_there_is_no_verdict() {
        let row = row(Unit::Ns, &[Bound::Peer("tokio", 0.5)]);
        assert_eq!(limits(&row, &[line(OURS, 1.0)], &Cell::new())[0].kept, None);
    }
}
