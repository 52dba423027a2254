//! Commands on the expiry of keys, and their points in time.

use std::time::{Duration, Instant, SystemTime};

use pirn::time;

use super::call::{Call, Done};
use super::refused::Refused;
use crate::integer;

/// The reference point of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// From now on.
    Seconds,
    Millis,
    /// Since 1970.
    SecondsOfTheClock,
    MillisOfTheClock,
}

/// The conditions of `EXPIRE` and its relatives.
#[derive(Default)]
struct Conditions {
    missing: bool,
    there: bool,
    later: bool,
    earlier: bool,
}

pub(super) fn expire(call: &mut Call<'_, '_>) -> Done {
    call.expire("expire", Unit::Seconds)
}

pub(super) fn pexpire(call: &mut Call<'_, '_>) -> Done {
    call.expire("pexpire", Unit::Millis)
}

pub(super) fn expireat(call: &mut Call<'_, '_>) -> Done {
    call.expire("expireat", Unit::SecondsOfTheClock)
}

pub(super) fn pexpireat(call: &mut Call<'_, '_>) -> Done {
    call.expire("pexpireat", Unit::MillisOfTheClock)
}

pub(super) fn ttl(call: &mut Call<'_, '_>) -> Done {
    call.tell_end(|end| left(end).saturating_add(500) / 1000)
}

pub(super) fn pttl(call: &mut Call<'_, '_>) -> Done {
    call.tell_end(left)
}

pub(super) fn expiretime(call: &mut Call<'_, '_>) -> Done {
    call.tell_end(|end| of_the_clock(end).saturating_add(500) / 1000)
}

pub(super) fn pexpiretime(call: &mut Call<'_, '_>) -> Done {
    call.tell_end(of_the_clock)
}

pub(super) fn persist(call: &mut Call<'_, '_>) -> Done {
    let was_limited = call.keys.slot(call.request.arg(1), |mut slot| {
        let is_limited = slot.end().flatten().is_some();
        if is_limited {
            slot.limit(None);
        }
        is_limited
    });
    call.answers.integer(i64::from(was_limited));
    Ok(())
}

impl Call<'_, '_> {
    fn expire(&mut self, name: &'static str, unit: Unit) -> Done {
        let conditions = Conditions::parse(self.request.args(3))?;
        let number = integer::parse(self.request.arg(2)).ok_or(Refused::NO_INTEGER)?;
        let end = moment(number, unit).ok_or_else(|| Refused::expire(name))?;
        let is_set = self.keys.slot(self.request.arg(1), |mut slot| {
            let Some(before) = slot.end() else {
                return false;
            };
            let holds = conditions.hold(before, end);
            if holds && end <= time::now() {
                slot.remove();
            } else if holds {
                slot.limit(Some(end));
            }
            holds
        });
        self.answers.integer(i64::from(is_set));
        Ok(())
    }

    /// Answers a number for the expiry of a key, -1 if it has none, -2 if there is no such key.
    fn tell_end(&mut self, number: impl FnOnce(Instant) -> i64) -> Done {
        let end = self.keys.slot(self.request.arg(1), |mut slot| slot.end());
        self.answers.integer(match end {
            None => -2,
            Some(None) => -1,
            Some(Some(end)) => number(end),
        });
        Ok(())
    }
}

impl Conditions {
    fn parse<'a>(options: impl Iterator<Item = &'a [u8]>) -> Result<Conditions, Refused> {
        let mut conditions = Conditions::default();
        for option in options {
            match option.to_ascii_lowercase().as_slice() {
                b"nx" => conditions.missing = true,
                b"xx" => conditions.there = true,
                b"gt" => conditions.later = true,
                b"lt" => conditions.earlier = true,
                _ => {
                    let told = super::refused::start(option, option.len());
                    return Err(Refused::about("ERR Unsupported option ", told, ""));
                }
            }
        }
        let Conditions {
            missing,
            there,
            later,
            earlier,
        } = conditions;
        if missing && (there || later || earlier) {
            return Err(Refused::new(
                "ERR NX and XX, GT or LT options at the same time are not compatible",
            ));
        }
        if later && earlier {
            return Err(Refused::new(
                "ERR GT and LT options at the same time are not compatible",
            ));
        }
        Ok(conditions)
    }

    /// Returns true if a key with this expiry may get another one. No expiry counts as the latest.
    fn hold(&self, before: Option<Instant>, end: Instant) -> bool {
        !(self.missing && before.is_some()
            || self.there && before.is_none()
            || self.later && before.is_none_or(|before| end <= before)
            || self.earlier && before.is_some_and(|before| end >= before))
    }
}

/// Returns the time for a number; `None` if it does not fit into milliseconds, which Redis refuses.
/// Past times become now.
pub(super) fn moment(number: i64, unit: Unit) -> Option<Instant> {
    let millis = match unit {
        Unit::Seconds | Unit::SecondsOfTheClock => number.checked_mul(1000)?,
        Unit::Millis | Unit::MillisOfTheClock => number,
    };
    let now = time::now();
    let clock = clock();
    let nanos = match unit {
        Unit::Seconds | Unit::Millis => {
            i64::try_from(clock.as_millis()).ok()?.checked_add(millis)?;
            i128::from(millis) * 1_000_000
        }
        Unit::SecondsOfTheClock | Unit::MillisOfTheClock => {
            i128::from(millis) * 1_000_000 - i128::try_from(clock.as_nanos()).ok()?
        }
    };
    let seconds = u64::try_from(nanos.unsigned_abs() / 1_000_000_000).ok()?;
    let rest = u32::try_from(nanos.unsigned_abs() % 1_000_000_000).ok()?;
    let duration = Duration::new(seconds, rest);
    if nanos < 0 {
        Some(now.checked_sub(duration).unwrap_or(now))
    } else {
        now.checked_add(duration)
    }
}

/// Returns the milliseconds until then, at least 1 for an existing key.
fn left(end: Instant) -> i64 {
    let left = end.saturating_duration_since(time::now());
    i64::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

/// Returns the nearest millisecond since 1970: the two clocks are not read at the same moment.
fn of_the_clock(end: Instant) -> i64 {
    let at = clock().saturating_add(end.saturating_duration_since(time::now()));
    i64::try_from((at.as_nanos() + 500_000) / 1_000_000).unwrap_or(i64::MAX)
}

/// Returns the time since 1970.
fn clock() -> Duration {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default()
}
