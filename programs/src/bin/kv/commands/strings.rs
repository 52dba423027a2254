//! Commands on the bytes of values, except those that set one: see `set`.

use std::ops::Range;

use super::call::{Call, Done};
use super::refused::Refused;
use crate::input::LONGEST;
use crate::integer;
use crate::store::{Condition, Until};

pub(super) fn get(call: &mut Call<'_, '_>) -> Done {
    let answers = &mut *call.answers;
    call.keys
        .get(call.request.arg(1), |value| answers.value(value));
    Ok(())
}

pub(super) fn mget(call: &mut Call<'_, '_>) -> Done {
    let answers = &mut *call.answers;
    answers.array(call.request.len() - 1);
    for key in call.request.args(1) {
        call.keys.get(key, |value| answers.value(value));
        if answers.exceed_limit() {
            break;
        }
    }
    Ok(())
}

pub(super) fn mset(call: &mut Call<'_, '_>) -> Done {
    call.pairs("mset")?;
    call.set_pairs();
    call.answers.word("OK");
    Ok(())
}

pub(super) fn msetnx(call: &mut Call<'_, '_>) -> Done {
    call.pairs("msetnx")?;
    let keys = &mut *call.keys;
    let mut names = call.request.args(1).step_by(2);
    let is_there = names.any(|key| keys.get(key, |value| value.is_some()));
    if !is_there {
        call.set_pairs();
    }
    call.answers.integer(i64::from(!is_there));
    Ok(())
}

pub(super) fn getdel(call: &mut Call<'_, '_>) -> Done {
    let answers = &mut *call.answers;
    call.keys.slot(call.request.arg(1), |mut slot| {
        answers.value(slot.get());
        slot.remove();
    });
    Ok(())
}

pub(super) fn append(call: &mut Call<'_, '_>) -> Done {
    let added = call.request.arg(2);
    let len = call.keys.slot(call.request.arg(1), |mut slot| {
        let len = slot.get().map_or(0, |value| value.bytes().len());
        if len + added.len() > LONGEST {
            return Err(Refused::LONG);
        }
        Ok(slot.change(|value| {
            if value.len() >= LONG && value.capacity() - value.len() < added.len() {
                // Doubling would waste much.
                value.reserve_exact(added.len() + LONG);
            }
            value.extend_from_slice(added);
            value.len()
        }))
    })?;
    call.answers.count(len);
    Ok(())
}

pub(super) fn strlen(call: &mut Call<'_, '_>) -> Done {
    let key = call.request.arg(1);
    let len = call
        .keys
        .get(key, |value| value.map_or(0, |value| value.bytes().len()));
    call.answers.count(len);
    Ok(())
}

pub(super) fn getrange(call: &mut Call<'_, '_>) -> Done {
    let first = integer::parse(call.request.arg(2)).ok_or(Refused::NO_INTEGER)?;
    let last = integer::parse(call.request.arg(3)).ok_or(Refused::NO_INTEGER)?;
    let answers = &mut *call.answers;
    call.keys.get(call.request.arg(1), |value| match value {
        Some(value) => answers.part(value, range(value.bytes().len(), first, last)),
        None => answers.bulk(b""),
    });
    Ok(())
}

pub(super) fn setrange(call: &mut Call<'_, '_>) -> Done {
    let offset = integer::parse(call.request.arg(2)).ok_or(Refused::NO_INTEGER)?;
    let offset = usize::try_from(offset).map_err(|_| Refused::OFFSET)?;
    let bytes = call.request.arg(3);
    let database = call.database;
    let len = call.keys.slot(call.request.arg(1), |mut slot| {
        if bytes.is_empty() {
            return Ok(slot.get().map_or(0, |value| value.bytes().len()));
        }
        let end = offset.saturating_add(bytes.len());
        if end > LONGEST {
            return Err(Refused::LONG);
        }
        let len = slot.get().map_or(0, |value| value.bytes().len());
        if database.is_full(end.saturating_sub(len)) {
            return Err(Refused::NO_MEMORY);
        }
        Ok(slot.change(|value| {
            lengthen(value, end);
            value[offset..end].copy_from_slice(bytes);
            value.len()
        }))
    })?;
    call.answers.count(len);
    Ok(())
}

impl Call<'_, '_> {
    /// # Errors
    /// If a value is missing behind the last key.
    fn pairs(&self, name: &str) -> Done {
        if self.request.len() % 2 == 1 {
            Ok(())
        } else {
            Err(Refused::arguments(name))
        }
    }

    fn set_pairs(&mut self) {
        for at in (1..self.request.len()).step_by(2) {
            let (key, value) = (self.request.arg(at), self.request.value(at + 1));
            self.keys
                .write(key, value, Until::Always, Condition::Always);
        }
    }
}

/// Returns the places from `first` to `last` of `len` bytes, both counted from the end if negative.
fn range(len: usize, first: i64, last: i64) -> Range<usize> {
    if first < 0 && last < 0 && first > last {
        return 0..0;
    }
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    let from_start = |at: i64| {
        if at < 0 {
            len.saturating_add(at).max(0)
        } else {
            at
        }
    };
    let (first, last) = (from_start(first), from_start(last).min(len - 1));
    let first = usize::try_from(first).unwrap_or(usize::MAX);
    let end = usize::try_from(last + 1).unwrap_or(0);
    if first < end { first..end } else { 0..0 }
}

/// Adds zeros up to a length. Many of them cost nothing until they are read: fresh memory is zero.
fn lengthen(value: &mut Vec<u8>, len: usize) {
    if len / 2 > value.len() {
        let mut longer = vec![0; len];
        longer[..value.len()].copy_from_slice(value);
        *value = longer;
    } else if len > value.len() {
        value.resize(len, 0);
    }
}

/// From this length on a value grows by this length. Arbitrary.
const LONG: usize = 1 << 20;
