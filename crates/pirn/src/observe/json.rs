//! JSON output: escaped strings, and objects of one line.

use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};

/// A string, formatted as JSON.
pub(super) struct Text<'a>(pub(super) &'a str);

/// An object on one line.
pub(super) struct Line(String);

impl Line {
    /// Returns an object with `kind` as its first field.
    pub(super) fn of(kind: &str) -> Line {
        Line("{".to_owned()).text("kind", kind)
    }

    /// Adds a string field.
    pub(super) fn text(self, name: &str, text: &str) -> Line {
        self.raw(name, Text(text))
    }

    /// Adds a string field; omits it if there is no value.
    pub(super) fn some_text(self, name: &str, text: Option<impl Display>) -> Line {
        match text {
            Some(text) => self.text(name, &text.to_string()),
            None => self,
        }
    }

    /// Adds a field that is a number, a boolean, or JSON already.
    pub(super) fn raw(mut self, name: &str, value: impl Display) -> Line {
        let comma = if self.0.len() > 1 { "," } else { "" };
        // Writing to memory does not fail.
        let _ = write!(self.0, "{comma}{}:{value}", Text(name));
        self
    }

    /// Adds a field that is an object of numbers.
    pub(super) fn numbers(
        self,
        name: &str,
        numbers: impl IntoIterator<Item = (&'static str, u64)>,
    ) -> Line {
        let mut object = Line("{".to_owned());
        for (name, number) in numbers {
            object = object.raw(name, number);
        }
        self.raw(name, object.0 + "}")
    }

    /// Adds a field that is a list of strings.
    pub(super) fn texts(self, name: &str, texts: &[String]) -> Line {
        let texts: Vec<_> = texts.iter().map(|text| Text(text).to_string()).collect();
        self.raw(name, format_args!("[{}]", texts.join(",")))
    }

    /// Writes the line.
    ///
    /// # Errors
    /// Errors of `out`.
    pub(super) fn end(mut self, out: &mut dyn Write) -> io::Result<()> {
        self.0.push_str("}\n");
        out.write_all(self.0.as_bytes())
    }
}

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
                c => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}

#[cfg(test)]
mod tests {
    use super::Line;

    /// `tests/it/inspect.rs` parses such lines.
    #[test]
    fn lines_are_json() {
        let odd = "a \"b\\\" \n\t\u{0}\u{1b}[31m é 纤";
        let line = Line::of("fiber")
            .text("name", odd)
            .some_text("reason", None::<&str>)
            .some_text("state", Some('x'))
            .raw("worker", 3)
            .numbers("counters", [("spawned", u64::MAX), ("ended", 0)])
            .numbers("none", [])
            .texts("frames", &["\"".to_owned(), String::new()]);
        let mut written = Vec::new();
        line.end(&mut written).unwrap();
        let expected = concat!(
            r#"{"kind":"fiber","name":"a \"b\\\" \u000a\u0009\u0000\u001b[31m é 纤","#,
            r#""state":"x","worker":3,"counters":{"spawned":18446744073709551615,"#,
            r#""ended":0},"none":{},"frames":["\"",""]}"#,
            "\n"
        );
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }
}
