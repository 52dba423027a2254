//! Names that the program gives, as reports write them.

use std::fmt::{self, Write as _};

/// A name on one line: control characters are escaped, so they neither end the line nor reach a
/// terminal. With a precision, at most that many bytes of it are written, and `…` for the rest.
/// Does not allocate.
pub(crate) struct Name<'a>(pub(crate) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut room = f.precision().unwrap_or(usize::MAX);
        for c in self.0.chars() {
            let escaped = c.is_control().then(|| c.escape_unicode());
            let len = escaped
                .as_ref()
                .map_or(c.len_utf8(), ExactSizeIterator::len);
            if len > room {
                return f.write_char('…');
            }
            room -= len;
            match escaped {
                Some(escaped) => write!(f, "{escaped}")?,
                None => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(Name("conn é").to_string(), "conn é");
        let odd = Name("a\nb\u{1b}[2J\u{7f}\u{9b}");
        assert_eq!(odd.to_string(), "a\\u{a}b\\u{1b}[2J\\u{7f}\\u{9b}");
    }

    #[test]
    fn a_long_name_is_cut_off() {
        let cut = |name: &str| format!("{:.4}", Name(name));
        assert_eq!(cut("abcd"), "abcd");
        assert_eq!(cut("abcde"), "abcd…");
        // Neither a character nor an escape is divided.
        assert_eq!(cut("abcé"), "abc…");
        assert_eq!(cut("ab\n"), "ab…");
    }
}
