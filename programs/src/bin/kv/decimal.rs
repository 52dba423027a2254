//! Decimal fractions for `INCRBYFLOAT`: exact sums with 17 digits behind the point.
//!
//! Redis adds binary fractions of 80 bits and prints 17 digits of the sum, so `1000.1` plus 0 is
//! 1000.10000000000000003 there. Here it stays 1000.1. Numbers end below 10^20.

/// A number in units of 10^-17.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal(i128);

/// Digits behind the point.
const PLACES: i32 = 17;
const LIMIT: i128 = 10_i128.pow(37);

impl Decimal {
    pub(crate) const ZERO: Decimal = Decimal(0);

    /// Reads digits with an optional sign, point and exponent; `None` for other text or out of
    /// range. Digits behind the 17th place are rounded.
    pub(crate) fn parse(text: &[u8]) -> Option<Decimal> {
        let (negative, rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let is_mark = |byte: &u8| matches!(byte, b'e' | b'E');
        let (number, exponent) = match rest.iter().position(is_mark) {
            Some(at) => (&rest[..at], exponent(&rest[at + 1..])?),
            None => (rest, 0),
        };
        let point = number.iter().position(|byte| *byte == b'.');
        let (whole, fraction) = match point {
            Some(at) => (&number[..at], &number[at + 1..]),
            None => (number, &[][..]),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        // The power of ten that a digit counts.
        let mut power = i32::try_from(whole.len()).ok()?.checked_add(exponent)?;
        let mut sum = 0_i128;
        for digit in whole.iter().chain(fraction) {
            let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
            power -= 1;
            let place = power.saturating_add(PLACES);
            match (digit, u32::try_from(place)) {
                (0, _) => {}
                (_, Ok(place)) => {
                    let unit = 10_i128.checked_pow(place)?;
                    sum = sum.checked_add(unit.checked_mul(digit.into())?)?;
                }
                (5.., Err(_)) if place == -1 => sum += 1,
                (_, Err(_)) => {}
            }
        }
        let sum = if negative { -sum } else { sum };
        (sum.abs() < LIMIT).then_some(Decimal(sum))
    }

    /// `None` if the sum is out of range.
    pub(crate) fn add(self, other: Decimal) -> Option<Decimal> {
        let sum = self.0 + other.0;
        (sum.abs() < LIMIT).then_some(Decimal(sum))
    }

    /// The number without zeros behind its last digit.
    pub(crate) fn text(self) -> String {
        let sign = if self.0 < 0 { "-" } else { "" };
        let unit = 10_u128.pow(PLACES.unsigned_abs());
        let (whole, fraction) =
            (self.0.unsigned_abs() / unit, self.0.unsigned_abs() % unit);
        let text = format!("{sign}{whole}.{fraction:017}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// The number behind an `e`.
fn exponent(text: &[u8]) -> Option<i32> {
    let text = std::str::from_utf8(text).ok()?;
    text.parse()
        .ok()
        .filter(|exponent: &i32| exponent.abs() < 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves: N5-X-kvclients.
    #[test]
    fn sums_are_exact() {
        let sum = |a: &str, b: &str| {
            let a = Decimal::parse(a.as_bytes()).unwrap();
            a.add(Decimal::parse(b.as_bytes()).unwrap()).unwrap().text()
        };
        assert_eq!(sum("0.1", "0.2"), "0.3");
        assert_eq!(sum("5.0e3", "200"), "5200");
        assert_eq!(sum("10.50", "-5"), "5.5");
        assert_eq!(sum("-1", "1"), "0");
        assert_eq!(sum("-0.5", ".25"), "-0.25");
        assert_eq!(sum("1e-18", "6e-18"), "0.00000000000000001");
        assert_eq!(sum("3.", "+1E2"), "103");
    }

    // Proves: N5-X-kvclients.
    #[test]
    fn other_texts_are_no_numbers() {
        for text in [
            "", ".", "-", "1 ", " 1", "1e", "e1", "abc", "nan", "inf", "0x1",
        ] {
            assert_eq!(Decimal::parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!(Decimal::parse(b"1e20"), None);
        assert!(Decimal::parse(b"99999999999999999999").is_some());
    }
}
