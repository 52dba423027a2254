//! Events that change the class of a spawn line.

use std::panic::Location;
use std::time::Duration;

use crate::sched::placement::lines::{LineClass, Lines, PlacementTag, RunEnd, Spread};

#[track_caller]
fn line() -> &'static Location<'static> {
    // Time counts from the first look.
    crate::base::clock::now();
    Location::caller()
}

fn tag(lines: &Lines, location: &'static Location<'static>) -> Option<PlacementTag> {
    Some(PlacementTag(lines.tag(location))).filter(|tag| tag.0 != 0)
}

/// Spawns and starts a fiber of the line, and ends it after `life`.
fn live(lines: &Lines, location: &'static Location<'static>, life: Duration) {
    let Some(tag) = tag(lines, location) else {
        return;
    };
    lines.started(tag.line());
    if life.is_zero() {
        // Short, even if this thread has been off its processor.
        lines.lived(tag.line(), false);
        return;
    }
    let started = PlacementTag::started(tag.line());
    pause(life);
    lines.ended(started);
}

fn pause(length: Duration) {
    crate::sleep(length).expect("a plain thread is not interrupted");
}

fn class(lines: &Lines, location: &'static Location<'static>) -> LineClass {
    let known = lines.list(|_| 0).into_iter();
    let mut of = known.filter(|known| known.location == location);
    of.next().expect("it was met").class
}

const LONG: Duration = Duration::from_millis(3);

#[test]
fn a_new_line_is_spread() {
    let lines = Lines::new(Spread::ByHistory);
    let (one, other) = (line(), line());
    let (one, other) = (tag(&lines, one).unwrap(), tag(&lines, other).unwrap());
    assert_ne!(one.line(), other.line());
    assert_eq!(lines.class(one.line()), LineClass::Spread);
    assert_eq!(one.worker(), None);
    assert_eq!(
        PlacementTag::assigned(one.line(), 1_023).worker(),
        Some(1_023)
    );
    assert_eq!(PlacementTag::assigned(255, 511).line(), 255);
    assert_eq!(PlacementTag::started(255).worker(), None);
}

/// A runtime that does not spread fibers tracks no line.
#[test]
fn a_table_that_is_off_tracks_nothing() {
    let lines = Lines::new(Spread::Never);
    let line = line();
    for _ in 0..3 {
        assert_eq!(tag(&lines, line), None);
    }
    assert!(!lines.held(line, true, |_| 0));
}

// Proves: B20.
#[test]
fn short_lives_make_a_line_short_and_long_ones_undo_that() {
    let lines = Lines::new(Spread::ByHistory);
    let line = line();
    (0..7).for_each(|_| live(&lines, line, Duration::ZERO));
    assert_eq!(class(&lines, line), LineClass::Spread);
    live(&lines, line, Duration::ZERO);
    assert_eq!(class(&lines, line), LineClass::Short);
    assert_eq!(tag(&lines, line), None);
    // Later, one fiber in each period is a probe. The third long life ends the class.
    for probe in 0..3 {
        pause(Duration::from_millis(300));
        lines.sweep(|_| 1);
        assert_eq!(class(&lines, line), LineClass::Probe, "probe {probe}");
        live(&lines, line, LONG);
        assert_eq!(tag(&lines, line).is_some(), probe == 2);
    }
    assert_eq!(class(&lines, line), LineClass::Spread);
}

/// A life of a millisecond is long, one that is a little shorter is not.
// Proves: B20.
#[test]
fn a_long_life_takes_a_millisecond() {
    // The time of the start is in bits 10 to 31, in units of 65.5 µs.
    let aged = |line, units: u32| {
        PlacementTag(PlacementTag::started(line).0.wrapping_sub(units << 10))
    };
    let lines = Lines::new(Spread::ByHistory);
    let line = line();
    let entry = tag(&lines, line).expect("a new line is tracked").line();
    // On a busy machine, the time until `ended` may add more than the difference.
    let shorter = |_: &usize| {
        lines.ended(aged(entry, 13));
        class(&lines, line) == LineClass::Spread
    };
    let lives = (0..10_000).take_while(shorter).count();
    assert!(lives < 10_000, "lives of 0.85 ms are not short");
    assert_eq!(class(&lines, line), LineClass::Short);
    (0..4).for_each(|_| lines.ended(aged(entry, 17)));
    assert_eq!(class(&lines, line), LineClass::Spread);
}

/// A probe that does not end counts as a long life.
#[test]
fn a_probe_that_stays_is_seen() {
    let lines = Lines::new(Spread::ByHistory);
    let line = line();
    (0..8).for_each(|_| live(&lines, line, Duration::ZERO));
    for _ in 0..4 {
        pause(Duration::from_millis(300));
        lines.sweep(|_| 1);
        let stays = tag(&lines, line);
        stays.inspect(|tag| lines.started(tag.line()));
    }
    assert_eq!(class(&lines, line), LineClass::Spread);
}

#[test]
fn runs_that_pass_messages_keep_a_line_together() {
    let lines = Lines::new(Spread::ByHistory);
    let line = line();
    let tag = tag(&lines, line).unwrap();
    (0..6).for_each(|_| lines.sampled(tag, 300, RunEnd::ForAFiber));
    assert_eq!(class(&lines, line), LineClass::Together);
    // Long runs, or waits for the clock and for sockets, are evidence against the class.
    (0..2).for_each(|_| lines.sampled(tag, 300, RunEnd::Other));
    assert_eq!(class(&lines, line), LineClass::Together);
    (0..2).for_each(|_| lines.sampled(tag, 2_000_000, RunEnd::ForAFiber));
    assert_eq!(class(&lines, line), LineClass::Spread);
    // A run of many short operations passes messages too, but not one of long operations.
    (0..8).for_each(|_| lines.sampled(tag, 4_000, RunEnd::Budget));
    assert_eq!(class(&lines, line), LineClass::Together);
    (0..4).for_each(|_| lines.sampled(tag, 40_000, RunEnd::Budget));
    assert_eq!(class(&lines, line), LineClass::Spread);
}

// Proves: E2-lines.
#[test]
fn a_fiber_that_holds_its_thread_names_its_line() {
    let lines = Lines::new(Spread::ByHistory);
    let (computes, blocks) = (line(), line());
    assert!(lines.held(computes, false, |_| 0));
    assert!(!lines.held(computes, false, |_| 0), "it is known");
    assert_eq!(class(&lines, computes), LineClass::Computes);
    assert!(lines.held(blocks, true, |_| 0));
    assert!(!lines.held(blocks, false, |_| 0));
    assert_eq!(class(&lines, blocks), LineClass::Blocks);
    assert!(lines.held(computes, true, |_| 0));
    assert_eq!(class(&lines, computes), LineClass::Blocks);
    let known = lines.list(|_| 3);
    assert_eq!(known.len(), 2);
    assert!(known.iter().all(|line| line.live == 3 && line.held > 0));
}

/// One fiber that seems to hold its thread does not outweigh many short ones before it. Short ones
/// after it refute a hold.
#[test]
fn a_hold_is_weighed_against_short_lives() {
    let lines = Lines::new(Spread::ByHistory);
    let line = line();
    let short = |n| (0..n).for_each(|_| live(&lines, line, Duration::ZERO));
    short(8);
    assert_eq!(class(&lines, line), LineClass::Short);
    assert!(!lines.held(line, false, |_| 0));
    assert_eq!(class(&lines, line), LineClass::Spread);
    short(8);
    assert_eq!(class(&lines, line), LineClass::Short);
    lines.held(line, false, |_| 0);
    assert!(lines.held(line, false, |_| 0));
    assert_eq!(class(&lines, line), LineClass::Computes);
    short(15);
    assert_eq!(class(&lines, line), LineClass::Computes);
    short(2);
    assert_eq!(class(&lines, line), LineClass::Short);
}

/// Of thousands of fibers one may hold its thread by chance: that says nothing about the others. Of
/// twenty it does, and so do as many holds as one in 64.
// Proves: E2-lines.
#[test]
fn a_crowd_is_not_judged_by_one_fiber() {
    let lines = Lines::new(Spread::ByHistory);
    let (crowd, few, queued) = (line(), line(), line());
    for hold in 1..=1_000 / 64 {
        assert!(!lines.held(crowd, true, |_| 1_000), "hold {hold}");
        assert_eq!(class(&lines, crowd), LineClass::Spread);
    }
    assert!(lines.held(crowd, true, |_| 1_000));
    assert_eq!(class(&lines, crowd), LineClass::Blocks);
    assert!(lines.held(few, false, |_| 20));
    assert_eq!(class(&lines, few), LineClass::Computes);
    // Fibers that have not started count.
    let tags: Vec<_> = (0..65).map(|_| tag(&lines, queued).unwrap()).collect();
    assert!(!lines.held(queued, true, |_| 0));
    lines.started(tags[0].line());
    assert!(lines.held(queued, true, |_| 0));
    assert_eq!(class(&lines, queued), LineClass::Blocks);
}

/// `queued` returns the number of a line's fibers that have not started.
#[test]
fn queued_fibers_are_counted() {
    let lines = Lines::new(Spread::ByHistory);
    let line = line();
    assert_eq!(lines.queued(line), None);
    let tags: Vec<_> = (0..3).map(|_| tag(&lines, line).unwrap()).collect();
    let entry = tags[0].line();
    assert_eq!(lines.queued(line), Some((entry, 3)));
    lines.started(entry);
    assert_eq!(lines.queued(line), Some((entry, 2)));
}

/// History has no effect if all lines are spread evenly, nor on a fiber that is to start apart.
#[test]
fn history_can_be_overridden() {
    let lines = Lines::new(Spread::Evenly);
    let line = line();
    (0..20).for_each(|_| live(&lines, line, Duration::ZERO));
    let talks = tag(&lines, line).unwrap();
    (0..20).for_each(|_| lines.sampled(talks, 300, RunEnd::ForAFiber));
    assert_eq!(class(&lines, line), LineClass::Spread);
    assert!(!talks.is_apart());
    let apart = PlacementTag(lines.tag_apart(line));
    assert!(apart.is_apart() && apart.worker().is_none());
    assert_eq!(apart.line(), talks.line());
    assert_eq!(Lines::new(Spread::Never).tag_apart(line), 0);
}
