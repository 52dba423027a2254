//! Patterns of names, as `KEYS`, `SCAN` and `CONFIG GET` of Redis match them.
//!
//! `*` stands for any bytes, `?` for one byte, `[a-z]` for one of a set, `[^a-z]` for one outside
//! of it, and a backslash takes the next byte as it is.

/// Returns true if `text` matches `pattern`.
///
/// A mismatch behind a `*` goes back to the last `*` only: the time is at most the product of both
/// lengths, whatever the pattern.
pub(crate) fn matches(mut pattern: &[u8], mut text: &[u8]) -> bool {
    // Behind the last `*`: the pattern, and the text that has not been tried yet.
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        if let [b'*', rest @ ..] = pattern {
            if rest.is_empty() {
                return true;
            }
            pattern = rest;
            retry = Some((rest, text));
            continue;
        }
        let step = match (pattern, text) {
            ([], []) => return true,
            ([], _) | (_, []) => None,
            (_, [byte, after @ ..]) => one(pattern, *byte).map(|rest| (rest, after)),
        };
        match (step, retry) {
            (Some(step), _) => (pattern, text) = step,
            (None, Some((again, [_, shorter @ ..]))) => {
                (pattern, text) = (again, shorter);
                retry = Some((again, shorter));
            }
            (None, _) => return false,
        }
    }
}

/// Matches one byte; returns the pattern behind what matched it.
fn one(pattern: &[u8], byte: u8) -> Option<&[u8]> {
    match pattern {
        [b'?', rest @ ..] => Some(rest),
        [b'[', rest @ ..] => set(rest, byte),
        [b'\\', escaped, rest @ ..] => (*escaped == byte).then_some(rest),
        [literal, rest @ ..] => (*literal == byte).then_some(rest),
        [] => None,
    }
}

/// Matches one byte with a set; its `[` has been read. A set that is not closed ends with the
/// pattern.
fn set(mut pattern: &[u8], byte: u8) -> Option<&[u8]> {
    let negated = pattern.first() == Some(&b'^');
    if negated {
        pattern = &pattern[1..];
    }
    let mut found = false;
    let rest = loop {
        match pattern {
            [] => break pattern,
            [b']', rest @ ..] => break rest,
            [b'\\', escaped, rest @ ..] => {
                found |= *escaped == byte;
                pattern = rest;
            }
            [low, b'-', high, rest @ ..] => {
                found |= (*low.min(high)..=*low.max(high)).contains(&byte);
                pattern = rest;
            }
            [literal, rest @ ..] => {
                found |= *literal == byte;
                pattern = rest;
            }
        }
    };
    (found != negated).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Proves: N5-X-kvclients.
    #[test]
    fn patterns_match_names() {
        let yes = [
            ("", ""),
            ("*", ""),
            ("a*b*c", "a--b--b-c"),
            ("h?llo", "hello"),
            ("h[ae]llo", "hallo"),
            ("h[^e]llo", "hallo"),
            ("h[b-a]llo", "hallo"),
            ("a\\*", "a*"),
            ("[\\]]", "]"),
            ("[a", "a"),
            ("*\\", "a\\"),
        ];
        for (pattern, text) in yes {
            let is = matches(pattern.as_bytes(), text.as_bytes());
            assert!(is, "{pattern} {text}");
        }
        let no = [
            ("", "a"),
            ("?", ""),
            ("a*b", "a-c"),
            ("h[^e]llo", "hello"),
            ("a\\*", "ab"),
            ("[", "["),
            ("a", "ab"),
        ];
        for (pattern, text) in no {
            let is = matches(pattern.as_bytes(), text.as_bytes());
            assert!(!is, "{pattern} {text}");
        }
    }

    // Proves: N5-X-kvclients.
    #[test]
    fn a_hostile_pattern_takes_no_long_time() {
        let pattern = "a*".repeat(1000) + "b";
        let text = "a".repeat(10_000);
        assert!(!matches(pattern.as_bytes(), text.as_bytes()));
    }
}
