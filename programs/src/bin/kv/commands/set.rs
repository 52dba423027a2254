//! Commands that set a value or its expiry: `SET` with its options, and its relatives.

use std::time::Instant;

use super::call::{Call, Done};
use super::expiry::{Unit, moment};
use super::refused::Refused;
use crate::request::Request;
use crate::store::{Condition, Until};

/// The options of `SET` and `GETEX`.
#[derive(Default)]
struct Options<'a> {
    is_getex: bool,
    missing: bool,
    there: bool,
    get: bool,
    keeps: bool,
    persists: bool,
    end: Option<(Unit, &'a [u8])>,
}

pub(super) fn set(call: &mut Call<'_, '_>) -> Done {
    let options = Options::parse(call.request, 3, false)?;
    let until = match options.end("set")? {
        Some(end) => Until::At(end),
        None if options.keeps => Until::AsBefore,
        None => Until::Always,
    };
    let condition = match (options.missing, options.there) {
        (true, _) => Condition::Missing,
        (_, true) => Condition::There,
        _ => Condition::Always,
    };
    let (key, value) = (call.request.arg(1), call.request.value(2));
    if options.get {
        let answers = &mut *call.answers;
        call.keys.slot(key, |mut slot| {
            answers.value(slot.get());
            slot.write(value, until, condition);
        });
    } else if call.keys.write(key, value, until, condition) {
        call.answers.word("OK");
    } else {
        call.answers.null();
    }
    Ok(())
}

pub(super) fn setex(call: &mut Call<'_, '_>) -> Done {
    call.set_until("setex", Unit::Seconds)
}

pub(super) fn psetex(call: &mut Call<'_, '_>) -> Done {
    call.set_until("psetex", Unit::Millis)
}

pub(super) fn setnx(call: &mut Call<'_, '_>) -> Done {
    let (key, value) = (call.request.arg(1), call.request.value(2));
    let is_set = call
        .keys
        .write(key, value, Until::Always, Condition::Missing);
    call.answers.integer(i64::from(is_set));
    Ok(())
}

pub(super) fn getset(call: &mut Call<'_, '_>) -> Done {
    let (key, value) = (call.request.arg(1), call.request.value(2));
    let answers = &mut *call.answers;
    call.keys.slot(key, |mut slot| {
        answers.value(slot.get());
        slot.write(value, Until::Always, Condition::Always);
    });
    Ok(())
}

pub(super) fn getex(call: &mut Call<'_, '_>) -> Done {
    let options = Options::parse(call.request, 2, true)?;
    let answers = &mut *call.answers;
    call.keys.slot(call.request.arg(1), |mut slot| {
        let value = slot.get();
        // As in Redis, a number is not checked if there is no such key.
        let end = match value {
            Some(_) => options.end("getex")?,
            None => None,
        };
        answers.value(value);
        if end.is_some_and(|end| end <= pirn::time::now()) {
            slot.remove();
        } else if end.is_some() || options.persists && slot.end().flatten().is_some() {
            slot.limit(end);
        }
        Ok(())
    })
}

impl Call<'_, '_> {
    fn set_until(&mut self, name: &'static str, unit: Unit) -> Done {
        let end = positive(unit, self.request.arg(2), name)?;
        let (key, value) = (self.request.arg(1), self.request.value(3));
        self.keys
            .write(key, value, Until::At(end), Condition::Always);
        self.answers.word("OK");
        Ok(())
    }
}

impl<'a> Options<'a> {
    /// Reads the options from the `n`th argument.
    #[inline]
    fn parse(
        request: Request<'a>,
        n: usize,
        is_getex: bool,
    ) -> Result<Options<'a>, Refused> {
        let mut options = Options {
            is_getex,
            ..Options::default()
        };
        let mut at = n;
        while at < request.len() {
            at += options.option(request, at).ok_or(Refused::SYNTAX)?;
        }
        Ok(options)
    }

    /// Reads one option; returns its number of arguments, `None` if it is not allowed here.
    fn option(&mut self, request: Request<'a>, at: usize) -> Option<usize> {
        let name = request.arg(at);
        let is = |option: &str| name.eq_ignore_ascii_case(option.as_bytes());
        let is_free = !self.keeps && !self.persists;
        if is("nx") && !self.there && !self.is_getex {
            self.missing = true;
        } else if is("xx") && !self.missing && !self.is_getex {
            self.there = true;
        } else if is("get") && !self.is_getex {
            self.get = true;
        } else if is("keepttl") && self.end.is_none() && !self.is_getex {
            self.keeps = true;
        } else if is("persist") && self.end.is_none() && self.is_getex {
            self.persists = true;
        } else {
            let units = [
                ("ex", Unit::Seconds),
                ("px", Unit::Millis),
                ("exat", Unit::SecondsOfTheClock),
                ("pxat", Unit::MillisOfTheClock),
            ];
            let (_, unit) = units.into_iter().find(|(option, _)| is(option))?;
            let is_same = self.end.is_none_or(|(before, _)| before == unit);
            if !is_free || !is_same || at + 1 == request.len() {
                return None;
            }
            self.end = Some((unit, request.arg(at + 1)));
            return Some(2);
        }
        Some(1)
    }

    fn end(&self, command: &'static str) -> Result<Option<Instant>, Refused> {
        let end = self.end;
        end.map(|(unit, number)| positive(unit, number, command))
            .transpose()
    }
}

/// Returns the time for a number above 0.
fn positive(unit: Unit, number: &[u8], command: &str) -> Result<Instant, Refused> {
    let number = crate::integer::parse(number).ok_or(Refused::NO_INTEGER)?;
    let end = moment(number, unit).filter(|_| number > 0);
    end.ok_or_else(|| Refused::expire(command))
}
