//! A line split into words, with quotes as Redis reads them.
//!
//! Between double quotes `\n`, `\r`, `\t`, `\b`, `\a` and `\xhh` stand for one byte, and a
//! backslash escapes any other byte; between single quotes only `\'` is an escape. A word ends
//! where its quotes do.

use crate::request::Place;

/// Appends the words of `line` to `words`, and their places to `places`; `None` if quotes are left
/// open, or closed in the middle of a word.
pub(crate) fn split(
    line: &[u8],
    words: &mut Vec<u8>,
    places: &mut Vec<Place>,
) -> Option<()> {
    let mut rest = line.trim_ascii_start();
    while !rest.is_empty() {
        let start = words.len();
        rest = word(rest, words)?;
        places.push(Place::Within(start..words.len()));
        rest = rest.trim_ascii_start();
    }
    Some(())
}

/// Appends the word that `text` begins with; returns what follows it.
fn word<'a>(mut text: &'a [u8], words: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match text {
            [] => return Some(text),
            [b'"', rest @ ..] => return ended(double(rest, words)?),
            [b'\'', rest @ ..] => return ended(single(rest, words)?),
            [byte, ..] if byte.is_ascii_whitespace() => return Some(text),
            [byte, rest @ ..] => {
                words.push(*byte);
                text = rest;
            }
        }
    }
}

/// What follows closing quotes, if that is the end of the word.
fn ended(text: &[u8]) -> Option<&[u8]> {
    let ends = text.first().is_none_or(u8::is_ascii_whitespace);
    ends.then_some(text)
}

fn double<'a>(mut text: &'a [u8], words: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        let (byte, rest) = match text {
            [] => return None,
            [b'"', rest @ ..] => return Some(rest),
            [b'\\', b'x', high, low, rest @ ..]
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                (16 * digit(*high) + digit(*low), rest)
            }
            [b'\\', escaped, rest @ ..] => (meant(*escaped), rest),
            [byte, rest @ ..] => (*byte, rest),
        };
        words.push(byte);
        text = rest;
    }
}

fn single<'a>(mut text: &'a [u8], words: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        let (byte, rest) = match text {
            [] => return None,
            [b'\'', rest @ ..] => return Some(rest),
            [b'\\', b'\'', rest @ ..] => (b'\'', rest),
            [byte, rest @ ..] => (*byte, rest),
        };
        words.push(byte);
        text = rest;
    }
}

/// Returns the meaning of a byte behind a backslash.
fn meant(escaped: u8) -> u8 {
    match escaped {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'a' => 0x07,
        other => other,
    }
}

/// The value of a hexadecimal digit.
fn digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        _ => byte.to_ascii_lowercase() - b'a' + 10,
    }
}
