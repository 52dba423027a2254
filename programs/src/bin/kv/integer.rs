//! Whole numbers as text, the way Redis reads and writes them.

/// Reads a number: digits, and a `-` before them; no `+`, no blanks, no zeros in front.
pub(crate) fn parse(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [b'0'] if !negative => return Some(0),
        [] | [b'0', ..] => return None,
        _ => {}
    }
    digits.iter().try_fold(0_i64, |number, digit| {
        let digit = i64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
        let number = number.checked_mul(10)?;
        // Below zero there is one number more.
        if negative {
            number.checked_sub(digit)
        } else {
            number.checked_add(digit)
        }
    })
}

/// Appends a number's digits.
pub(crate) fn write(out: &mut Vec<u8>, number: i64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_both_ways() {
        for number in [0, 7, -7, 10, 1_234_567_890, i64::MAX, i64::MIN] {
            let mut text = Vec::new();
            write(&mut text, number);
            assert_eq!(text, number.to_string().as_bytes());
            assert_eq!(parse(&text), Some(number));
        }
        let wrong = "|-|+1|01|-0|00| 1|1 |1a|9223372036854775808|-9223372036854775809";
        for wrong in wrong.split('|') {
            assert_eq!(parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
