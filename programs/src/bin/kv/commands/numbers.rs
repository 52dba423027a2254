//! Commands on values that are numbers.

use super::call::{Call, Done};
use super::refused::Refused;
use crate::decimal::Decimal;
use crate::integer;
use crate::store::NoSum;

pub(super) fn incr(call: &mut Call<'_, '_>) -> Done {
    call.add(1)
}

pub(super) fn decr(call: &mut Call<'_, '_>) -> Done {
    call.add(-1)
}

pub(super) fn incrby(call: &mut Call<'_, '_>) -> Done {
    let number = integer::parse(call.request.arg(2)).ok_or(Refused::NO_INTEGER)?;
    call.add(number)
}

pub(super) fn decrby(call: &mut Call<'_, '_>) -> Done {
    let number = integer::parse(call.request.arg(2)).ok_or(Refused::NO_INTEGER)?;
    call.add(number.checked_neg().ok_or(Refused::DECREMENT)?)
}

pub(super) fn incrbyfloat(call: &mut Call<'_, '_>) -> Done {
    let increment = call.request.arg(2);
    let text = call.keys.slot(call.request.arg(1), |mut slot| {
        let before = match slot.get() {
            Some(value) => Decimal::parse(value.bytes()).ok_or(Refused::NO_FLOAT)?,
            None => Decimal::ZERO,
        };
        let increment = Decimal::parse(increment).ok_or(Refused::NO_FLOAT)?;
        let text = before.add(increment).ok_or(Refused::INFINITE)?.text();
        slot.change(|value| {
            value.clear();
            value.extend_from_slice(text.as_bytes());
        });
        Ok::<_, Refused>(text)
    })?;
    call.answers.bulk(text.as_bytes());
    Ok(())
}

impl Call<'_, '_> {
    fn add(&mut self, number: i64) -> Done {
        let sum = self.keys.add(self.request.arg(1), number);
        self.answers.integer(sum.map_err(|why| match why {
            NoSum::NoInteger => Refused::NO_INTEGER,
            NoSum::Overflow => Refused::OVERFLOW,
        })?);
        Ok(())
    }
}
