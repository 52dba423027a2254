//! Untrusted text: names and source locations chosen by the inspected program.
//!
//! All text of an answer is of this type. Terminal commands, and characters that would move the
//! text around them, are replaced by `\u{1b}` and so on when the text is read. So none of them
//! reaches a terminal.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Deserializer};

/// Text without control characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text(String);

impl Text {
    /// Returns `text`, with harmful characters escaped.
    #[must_use]
    pub fn clean(text: &str) -> Text {
        let mut clean = String::with_capacity(text.len());
        for c in text.chars() {
            if is_harmful(c) {
                clean.extend(c.escape_unicode());
            } else {
                clean.push(c);
            }
        }
        Text(clean)
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
        String::deserialize(from).map(|text| Text::clean(&text))
    }
}

/// Returns true for control characters, line separators, characters that change the direction of
/// text, and invisible ones.
fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let cleaned = Text::clean("a\u{1b}[31m\u{7}\r\n\u{9b}2J\u{202e}b\u{200b}\u{7f}");
        let said = r"a\u{1b}[31m\u{7}\u{d}\u{a}\u{9b}2J\u{202e}b\u{200b}\u{7f}";
        assert_eq!(&*cleaned, said);
        let every = (0..=0x0001_0000).filter_map(char::from_u32);
        let cleaned = Text::clean(&every.collect::<String>());
        assert!(!cleaned.chars().any(char::is_control));
    }

    #[test]
    fn ordinary_text_stays() {
        for text in ["", "plain", "纤程 é 👍", r"back\slash", "e\u{301}"] {
            assert_eq!(&*Text::clean(text), text);
        }
        let read: Text = serde_json::from_str(r#""a\u001b""#).expect("JSON");
        assert_eq!(&*read, r"a\u{1b}");
    }
}
