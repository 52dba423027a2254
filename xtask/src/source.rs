//! A Rust file for the checks: line by line, code separate from comments.
//!
//! Owns the distinction of code, strings and comments, and finding test code inside a file. It is a
//! scanner, not a parser: it knows comments (nested), strings (raw and byte), characters and
//! lifetimes, and braces.

use crate::repo::File;

/// One line of a file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    /// Without comments; the contents of strings are blanked.
    pub(crate) code: String,
    /// Without comments, strings kept.
    pub(crate) text: String,
    /// The comments on this line, with their marks (`// …`, `/// …`, `//! …`).
    pub(crate) comment: String,
    /// Inside an item under `#[cfg(test)]`.
    pub(crate) test: bool,
}

/// A scanned file.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// Path from the root, with forward slashes.
    pub(crate) path: String,
    pub(crate) lines: Vec<Line>,
}

impl Source {
    /// Scans a file.
    pub(crate) fn new(file: &File) -> Source {
        let mut lines = scan(&file.text);
        mark_tests(&mut lines);
        Source {
            path: file.path.clone(),
            lines,
        }
    }

    /// Returns true for files with only tests, benches or examples.
    pub(crate) fn is_test_file(&self) -> bool {
        let mut parts = self.path.split('/');
        parts.any(|part| {
            matches!(
                part,
                "tests" | "benches" | "examples" | "tests.rs" | "fuzz_targets"
            )
        })
    }

    /// Returns the code outside tests, with numbered lines (from 1).
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &Line)> {
        let test_file = self.is_test_file();
        self.lines
            .iter()
            .enumerate()
            .filter(move |(_, line)| !test_file && !line.test)
            .map(|(at, line)| (at + 1, line))
    }

    /// Returns the number of lines with code outside tests.
    pub(crate) fn code_lines(&self) -> usize {
        self.code()
            .filter(|(_, line)| !line.code.trim().is_empty())
            .count()
    }
}

/// The state of the scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Code,
    LineComment,
    /// Nesting depth.
    BlockComment(u32),
    Text,
    /// The number of `#` that close it.
    RawText(usize),
}

fn scan(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut line = Line::default();
    let mut at = At::Code;
    let chars: Vec<char> = text.chars().collect();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        if c == '\n' {
            lines.push(std::mem::take(&mut line));
            if at == At::LineComment {
                at = At::Code;
            }
            i += 1;
            continue;
        }
        let (next, took) = step(at, &chars[i..], &mut line);
        at = next;
        i += took;
    }
    if !text.ends_with('\n') && !text.is_empty() {
        lines.push(line);
    }
    lines
}

/// Consumes the characters of one token; returns the scanner's new state, and the number of
/// characters. Never crosses a line end.
fn step(at: At, rest: &[char], line: &mut Line) -> (At, usize) {
    let two = |a, b| rest[0] == a && rest.get(1) == Some(&b);
    match at {
        At::Code => code_step(rest, line),
        At::LineComment => {
            line.comment.push(rest[0]);
            (At::LineComment, 1)
        }
        At::BlockComment(depth) => {
            if two('*', '/') {
                line.comment.push_str("*/");
                return (
                    if depth == 1 {
                        At::Code
                    } else {
                        At::BlockComment(depth - 1)
                    },
                    2,
                );
            }
            if two('/', '*') {
                line.comment.push_str("/*");
                return (At::BlockComment(depth + 1), 2);
            }
            line.comment.push(rest[0]);
            (at, 1)
        }
        At::Text => {
            if rest[0] == '\\' && rest.len() > 1 && rest[1] != '\n' {
                line.text.extend(&rest[..2]);
                return (at, 2);
            }
            line.text.push(rest[0]);
            if rest[0] == '"' {
                line.code.push('"');
                return (At::Code, 1);
            }
            (at, 1)
        }
        At::RawText(hashes) => {
            let closes = rest[0] == '"'
                && rest.len() > hashes
                && rest[1..=hashes].iter().all(|c| *c == '#');
            if closes {
                line.code.push('"');
                line.text.push('"');
                return (At::Code, 1 + hashes);
            }
            line.text.push(rest[0]);
            (at, 1)
        }
    }
}

fn code_step(rest: &[char], line: &mut Line) -> (At, usize) {
    let after = |n: usize| rest.get(n).copied().unwrap_or(' ');
    let in_word = line.code.chars().next_back().is_some_and(is_word);
    match rest[0] {
        '/' if after(1) == '/' => {
            line.comment.push_str("//");
            (At::LineComment, 2)
        }
        '/' if after(1) == '*' => {
            line.comment.push_str("/*");
            (At::BlockComment(1), 2)
        }
        '"' => {
            line.code.push('"');
            line.text.push('"');
            (At::Text, 1)
        }
        'r' if !in_word && matches!(after(1), '"' | '#') => raw_step(rest, line),
        'b' if !in_word && after(1) == 'r' && matches!(after(2), '"' | '#') => {
            let (at, took) = raw_step(&rest[1..], line);
            (at, took + 1)
        }
        '\'' => character_step(rest, line),
        c => {
            line.code.push(c);
            line.text.push(c);
            (At::Code, 1)
        }
    }
}

/// `r"…"`, `r#"…"#`, or a raw identifier.
fn raw_step(rest: &[char], line: &mut Line) -> (At, usize) {
    let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
    if rest.get(1 + hashes) == Some(&'"') {
        line.code.push('"');
        line.text.push('"');
        return (At::RawText(hashes), 2 + hashes);
    }
    line.code.push(rest[0]);
    line.text.push(rest[0]);
    (At::Code, 1)
}

/// `'x'`, `'\n'`, `'\u{1F980}'`, or the tick of a lifetime.
fn character_step(rest: &[char], line: &mut Line) -> (At, usize) {
    let end = match (rest.get(1), rest.get(2)) {
        (Some('\\'), Some(_)) => rest
            .iter()
            .skip(3)
            .take_while(|c| **c != '\n')
            .position(|c| *c == '\'')
            .map(|n| n + 3),
        (Some(_), Some('\'')) => Some(2),
        _ => None,
    };
    match end {
        Some(end) => {
            line.code.push_str("' '");
            line.text.extend(&rest[..=end]);
            (At::Code, end + 1)
        }
        None => {
            line.code.push('\'');
            line.text.push('\'');
            (At::Code, 1)
        }
    }
}

/// Marks the lines of every item under `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn mark_tests(lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let code = lines[at].code.trim_start();
        if !(code.starts_with("#[cfg(test)]") || code.starts_with("#[cfg(all(test")) {
            at += 1;
            continue;
        }
        let end = item_end(lines, at);
        for line in &mut lines[at..=end] {
            line.test = true;
        }
        at = end + 1;
    }
}

/// Returns the last line of the item with attributes from line `from`: the one with the `;` outside
/// all brackets, or the brace that closes its body.
fn item_end(lines: &[Line], from: usize) -> usize {
    let mut depth = 0_i32;
    let mut body = false;
    for (at, line) in lines.iter().enumerate().skip(from) {
        for c in line.code.chars() {
            match c {
                '{' => {
                    body |= depth == 0;
                    depth += 1;
                }
                '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth -= 1,
                ';' if depth == 0 => return at,
                _ => {}
            }
            if c == '}' && body && depth == 0 {
                return at;
            }
        }
    }
    lines.len() - 1
}

/// Returns true for characters of a Rust identifier.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::new(&File {
            path: "crates/pirn/src/x.rs".into(),
            text: text.into(),
        })
    }

    #[test]
    fn tells_code_from_comments_and_strings() {
        let s = source("let a = \"b // c\"; // d\n/* e\n f */ g('\"', 'h')\n");
        assert_eq!(s.lines[0].code, "let a = \"\"; ");
        assert_eq!(s.lines[0].text, "let a = \"b // c\"; ");
        assert_eq!(s.lines[0].comment, "// d");
        assert_eq!(s.lines[1].code, "");
        assert_eq!(s.lines[2].code, " g(' ', ' ')");
    }

    #[test]
    fn knows_raw_strings_and_lifetimes() {
        let s = source("r#\"a \" // b\"# + c::<'d>(br\"e\")\n'\\'' f '\\u{41}' r#type\n");
        assert_eq!(s.lines[0].code, "\"\" + c::<'d>(\"\")");
        assert_eq!(s.lines[0].comment, "");
        assert_eq!(s.lines[1].code, "' ' f ' ' r#type");
    }

    #[test]
    fn comments_nest() {
        let s = source("/* a /* b */ c */ d\n");
        assert_eq!(s.lines[0].code, " d");
    }

    #[test]
    fn finds_test_items() {
        let s = source(
            "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { }\n}\nfn c() {}\n",
        );
        let tests: Vec<_> = s.lines.iter().map(|l| l.test).collect();
        assert_eq!(tests, [false, true, true, true, true, false]);
        assert_eq!(s.code_lines(), 2);
    }

    #[test]
    fn a_test_module_elsewhere_is_one_line() {
        let s = source("#[cfg(test)]\nmod tests;\nfn c() {}\n");
        let tests: Vec<_> = s.lines.iter().map(|l| l.test).collect();
        assert_eq!(tests, [true, true, false]);
    }
}
