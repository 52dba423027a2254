//! What an event is, and how it is stored in three words and an address.

use std::panic::Location;

use super::mask::LogMask;
use crate::wait::Reason;

/// Something that happened on a worker.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// Nanoseconds, as `base::clock` counts.
    pub(crate) time: u64,
    pub(crate) kind: Kind,
    /// Meaning depends on the kind.
    pub(crate) detail: u32,
    /// The identity of its fiber; 0 if it has none.
    pub(crate) fiber: u64,
    /// Where that fiber was spawned.
    pub(crate) place: Option<&'static Location<'static>>,
}

/// What happened.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// The running fiber spawned this one.
    Spawn = 1,
    /// It runs for the first time, here; a `Run` follows.
    Start,
    /// It was switched to.
    Run,
    /// It waits; the detail is the number of a [`Reason`].
    Park,
    /// It lets others run.
    Yield,
    /// Its wait was ended on this worker.
    Wake,
    /// It was taken from another worker with others; the detail is that worker.
    Steal,
    /// It has ended.
    Done,
    /// It found the ring full; half of that went to the injector.
    Overflow,
    /// It came out of the injector.
    Fetch,
    /// It was handed to the worker that the detail names, for balance.
    Place,
}

const KINDS: [Kind; 11] = [
    Kind::Spawn,
    Kind::Start,
    Kind::Run,
    Kind::Park,
    Kind::Yield,
    Kind::Wake,
    Kind::Steal,
    Kind::Done,
    Kind::Overflow,
    Kind::Fetch,
    Kind::Place,
];

impl Event {
    /// Kind and detail in one word.
    pub(super) fn what(&self) -> u64 {
        u64::from(self.detail) << 8 | self.kind as u64
    }

    /// Returns the kind and the detail of such a word; `None` for an invalid word.
    pub(super) fn of_what(what: u64) -> Option<(Kind, u32)> {
        let kind = *KINDS.get((what as usize & 0xFF).checked_sub(1)?)?;
        Some((kind, u32::try_from(what >> 8).ok()?))
    }

    /// Returns what a parked fiber waits for.
    pub(crate) fn reason(&self) -> Option<Reason> {
        match self.kind {
            Kind::Park => Reason::numbered(self.detail),
            _ => None,
        }
    }

    /// Returns the categories that include this event.
    pub(super) fn categories(&self) -> LogMask {
        match self.kind {
            Kind::Wake => LogMask::WAKE,
            Kind::Done => LogMask::JOIN,
            Kind::Steal | Kind::Overflow | Kind::Fetch | Kind::Place => LogMask::INJECT,
            Kind::Spawn | Kind::Start | Kind::Run | Kind::Yield => LogMask::NONE,
            Kind::Park => match self.reason() {
                Some(
                    Reason::Join
                    | Reason::Scope
                    | Reason::Group
                    | Reason::Run
                    | Reason::Idle,
                ) => LogMask::PARK | LogMask::JOIN,
                // For waits in channels, `chan` has the details.
                _ => LogMask::PARK,
            },
        }
    }
}

impl Kind {
    /// True if the fiber has stopped running by it.
    pub(crate) fn leaves(self) -> bool {
        matches!(self, Kind::Park | Kind::Yield | Kind::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(pirn_modelled))]
    fn words_and_back() {
        for kind in KINDS {
            for detail in [0, 1, u32::MAX] {
                let event = Event {
                    time: 0,
                    kind,
                    detail,
                    fiber: 0,
                    place: None,
                };
                assert_eq!(Event::of_what(event.what()), Some((kind, detail)));
            }
        }
        assert_eq!(Event::of_what(0), None);
        assert_eq!(Event::of_what(KINDS.len() as u64 + 1), None);
    }
}
