//! Commands that list keys.

use super::call::{Call, Done};
use super::refused::Refused;
use crate::store::Page;
use crate::{glob, integer};

pub(super) fn scan(call: &mut Call<'_, '_>) -> Done {
    let cursor = match call.request.arg(1) {
        // As in Redis.
        [] => Some(0),
        text => std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse().ok()),
    };
    let cursor: u64 = cursor.ok_or(Refused::CURSOR)?;
    let mut pattern: &[u8] = b"*";
    let mut is_wanted = true;
    let mut count = 10;
    let mut options = call.request.args(2);
    while let Some(option) = options.next() {
        let is = |name: &str| option.eq_ignore_ascii_case(name.as_bytes());
        let value = options.next().ok_or(Refused::SYNTAX)?;
        if is("count") {
            let number = integer::parse(value).ok_or(Refused::NO_INTEGER)?;
            count = usize::try_from(number).unwrap_or(0);
            if count == 0 {
                return Err(Refused::SYNTAX);
            }
        } else if is("match") {
            pattern = value;
        } else if is("type") {
            is_wanted = value.eq_ignore_ascii_case(b"string");
        } else {
            return Err(Refused::SYNTAX);
        }
    }
    let Page { mut keys, next } = call.keys.page(cursor, count);
    keys.retain(|key| is_wanted && glob::matches(pattern, key));
    call.answers.array(2);
    call.answers.bulk(next.to_string().as_bytes());
    call.list(&keys);
    Ok(())
}

pub(super) fn keys(call: &mut Call<'_, '_>) -> Done {
    let pattern = call.request.arg(1);
    let keys = call.keys.all(|key| glob::matches(pattern, key));
    call.list(&keys);
    Ok(())
}

impl Call<'_, '_> {
    fn list(&mut self, keys: &[Box<[u8]>]) {
        self.answers.array(keys.len());
        for key in keys {
            self.answers.bulk(key);
        }
    }
}
