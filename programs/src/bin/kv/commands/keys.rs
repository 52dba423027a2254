//! Commands on keys, whatever their values are.

use super::call::{Call, Done};
use super::refused::Refused;

pub(super) fn del(call: &mut Call<'_, '_>) -> Done {
    let keys = &mut *call.keys;
    let names = call.request.args(1);
    let count = names
        .filter(|key| keys.slot(key, |mut slot| slot.remove()))
        .count();
    call.answers.count(count);
    Ok(())
}

pub(super) fn exists(call: &mut Call<'_, '_>) -> Done {
    let keys = &mut *call.keys;
    let names = call.request.args(1);
    let count = names
        .filter(|key| keys.get(key, |value| value.is_some()))
        .count();
    call.answers.count(count);
    Ok(())
}

pub(super) fn kind(call: &mut Call<'_, '_>) -> Done {
    let is_there = call.keys.get(call.request.arg(1), |value| value.is_some());
    call.answers.word(if is_there { "string" } else { "none" });
    Ok(())
}

pub(super) fn rename(call: &mut Call<'_, '_>) -> Done {
    call.rename(true)?;
    call.answers.word("OK");
    Ok(())
}

pub(super) fn renamenx(call: &mut Call<'_, '_>) -> Done {
    let is_renamed = call.rename(false)?;
    call.answers.integer(i64::from(is_renamed));
    Ok(())
}

pub(super) fn dbsize(call: &mut Call<'_, '_>) -> Done {
    let count = call.keys.len();
    call.answers.count(count);
    Ok(())
}

pub(super) fn flush(call: &mut Call<'_, '_>) -> Done {
    let mut options = call.request.args(1);
    let option = options.next().unwrap_or(b"sync");
    let is = |name: &str| option.eq_ignore_ascii_case(name.as_bytes());
    if options.next().is_some() || !is("sync") && !is("async") {
        return Err(Refused::SYNTAX);
    }
    call.keys.clear();
    call.answers.word("OK");
    Ok(())
}

impl Call<'_, '_> {
    /// Renames a key; false if the new name exists and must not be replaced.
    fn rename(&mut self, replaces: bool) -> Result<bool, Refused> {
        let (from, to) = (self.request.arg(1), self.request.arg(2));
        let found = self.keys.slot(from, |mut slot| {
            let value = slot.get().cloned();
            value.map(|value| (value, slot.end().flatten()))
        });
        let (value, end) = found.ok_or(Refused::NO_KEY)?;
        let is_there = self.keys.get(to, |value| value.is_some());
        if is_there && !replaces {
            return Ok(false);
        }
        if from != to {
            self.keys.slot(from, |mut slot| slot.remove());
            self.keys.slot(to, |mut slot| slot.put(value, end));
        }
        Ok(true)
    }
}
