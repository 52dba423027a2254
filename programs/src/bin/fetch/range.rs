//! The header `Content-Range` of a partial answer (RFC 9110, section 14.4).

/// The bytes of a file that a partial answer carries.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ContentRange {
    /// Position of the first byte.
    pub(crate) start: u64,
    /// Position behind the last byte; larger than `start`.
    pub(crate) end: u64,
    /// Length of the whole file, at least `end`, if the server gives it.
    pub(crate) total: Option<u64>,
}

impl ContentRange {
    /// Parses `bytes FIRST-LAST/TOTAL`, where `TOTAL` may be `*`.
    ///
    /// Returns `None` for another unit, a syntax error, or contradictory numbers.
    pub(crate) fn parse(text: &str) -> Option<ContentRange> {
        let (unit, rest) = text.trim().split_once(' ')?;
        let (range, total) = rest.trim_start().split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let (start, end) = (number(first)?, number(last)?.checked_add(1)?);
        let total = match total {
            "*" => None,
            total => Some(number(total)?),
        };
        let is_sound = start < end && total.is_none_or(|total| end <= total);
        let is_bytes = unit.eq_ignore_ascii_case("bytes");
        (is_bytes && is_sound).then_some(ContentRange { start, end, total })
    }
}

/// Parses digits only: `u64::from_str` accepts a sign too.
pub(crate) fn number(text: &str) -> Option<u64> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::ContentRange;

    #[test]
    fn ranges_are_read() {
        let range = |start, end, total| Some(ContentRange { start, end, total });
        let parse = ContentRange::parse;
        assert_eq!(parse("bytes 0-0/1"), range(0, 1, Some(1)));
        assert_eq!(parse("bytes 7-9/10"), range(7, 10, Some(10)));
        assert_eq!(parse("Bytes 7-8/*"), range(7, 9, None));
        let most = u64::MAX - 1;
        assert_eq!(
            parse(&format!("bytes 0-{most}/*")),
            range(0, u64::MAX, None)
        );
    }

    #[test]
    fn contradictions_and_other_units_are_refused() {
        for text in [
            "",
            "bytes",
            "bytes 0-9",
            "bytes=0-9/10",
            "bytes */10",
            "bytes 9-0/10",
            "bytes 0-10/10",
            "bytes 0-/10",
            "bytes -9/10",
            "bytes +0-9/10",
            "bytes 0-9/ten",
            "bytes 0-9/",
            "bytes 0-18446744073709551615/*",
            "bytes 0-18446744073709551616/*",
            "bytes 0-4/10, 5-9/10",
            "lines 0-9/10",
        ] {
            assert_eq!(ContentRange::parse(text), None, "{text}");
        }
    }
}
