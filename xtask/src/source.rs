//! A Rust file for the checks: its tokens, its comments and its items.
//!
//! Owns the separation of code and comments, and finding test code inside a file. The grammar is
//! that of `proc_macro2`, which splits a file into tokens, and of `syn`, which parses them. What
//! lies between two tokens is a comment.

use std::collections::BTreeSet;
use std::ops::Range;
use std::str::FromStr as _;

use proc_macro2::{Span, TokenStream, TokenTree};

use crate::repo::File;

/// A token of code. A bracket is one, and so is each half of `::`.
#[derive(Debug)]
pub(crate) struct Token {
    /// As in the file; a string has its quotes.
    pub(crate) text: String,
    /// From 1.
    pub(crate) line: usize,
    /// A string may have several.
    last_line: usize,
    /// Inside an item under `#[cfg(test)]`.
    pub(crate) test: bool,
    bytes: Range<usize>,
}

/// One line of a comment.
#[derive(Debug)]
pub(crate) struct Comment {
    /// From 1.
    pub(crate) line: usize,
    /// With its mark (`// …`, `/// …`, `//! …`), without the indentation.
    pub(crate) text: String,
    /// No code is before it on its line.
    pub(crate) alone: bool,
}

/// A parsed file.
pub(crate) struct Source {
    /// Path from the root, with forward slashes.
    pub(crate) path: String,
    /// Those of doc comments are left out.
    pub(crate) tokens: Vec<Token>,
    pub(crate) comments: Vec<Comment>,
    pub(crate) items: Vec<syn::Item>,
}

impl Source {
    /// Parses a file.
    ///
    /// # Errors
    /// When it is not Rust.
    pub(crate) fn new(file: &File) -> Result<Source, String> {
        let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", file.path);
        let stream = TokenStream::from_str(&file.text).map_err(|e| failed(&e))?;
        let mut tokens = Vec::new();
        flatten(stream.clone(), &file.text, &mut tokens);
        mark_tests(&mut tokens);
        Ok(Source {
            path: file.path.clone(),
            comments: comments(&file.text, &tokens),
            tokens,
            items: syn::parse2::<syn::File>(stream)
                .map_err(|e| failed(&e))?
                .items,
        })
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

    /// Returns the code outside tests.
    pub(crate) fn code(&self) -> impl Iterator<Item = &Token> {
        let test_file = self.is_test_file();
        let tokens = self.tokens.iter();
        tokens.filter(move |token| !test_file && !token.test)
    }

    /// Returns the number of lines with code outside tests.
    pub(crate) fn code_lines(&self) -> usize {
        lines(self.code())
    }

    /// Returns the number of lines with code, tests included.
    pub(crate) fn all_code_lines(&self) -> usize {
        lines(self.tokens.iter())
    }
}

fn lines<'a>(tokens: impl Iterator<Item = &'a Token>) -> usize {
    let lines = tokens.flat_map(|token| token.line..=token.last_line);
    lines.collect::<BTreeSet<_>>().len()
}

/// Appends the tokens of a stream, those of groups included, except doc comments: all tokens of one
/// have the place of the comment.
fn flatten(stream: TokenStream, text: &str, tokens: &mut Vec<Token>) {
    for tree in stream {
        let first = match &tree {
            TokenTree::Group(group) => token(group.span_open(), text),
            tree => token(tree.span(), text),
        };
        let place = &text[first.bytes.start..];
        if place.starts_with("//") || place.starts_with("/*") {
            continue;
        }
        tokens.push(first);
        if let TokenTree::Group(group) = tree {
            flatten(group.stream(), text, tokens);
            tokens.push(token(group.span_close(), text));
        }
    }
}

fn token(span: Span, text: &str) -> Token {
    let (bytes, line) = (span.byte_range(), span.start().line);
    let text = text[bytes.clone()].to_owned();
    Token {
        last_line: line + text.matches('\n').count(),
        text,
        line,
        test: false,
        bytes,
    }
}

/// Returns all text between the tokens, line by line, without empty lines.
fn comments(text: &str, tokens: &[Token]) -> Vec<Comment> {
    let end = text.len()..text.len();
    let code = tokens.iter().map(|token| token.bytes.clone()).chain([end]);
    let mut found = Vec::new();
    let (mut from, mut line) = (0, 1);
    for bytes in code {
        for (down, part) in text[from..bytes.start].split('\n').enumerate() {
            if !part.trim().is_empty() {
                found.push(Comment {
                    line: line + down,
                    text: part.trim().to_owned(),
                    alone: down > 0 || from == 0,
                });
            }
        }
        line += text[from..bytes.end].matches('\n').count();
        from = bytes.end;
    }
    found
}

/// Marks the tokens of every item under `#[cfg(test)]` or `#[cfg(all(test, …))]`.
fn mark_tests(tokens: &mut [Token]) {
    const ALONE: &[&str] = &["#", "[", "cfg", "(", "test", ")"];
    const FIRST: &[&str] = &["#", "[", "cfg", "(", "all", "(", "test"];
    let mut at = 0;
    while at < tokens.len() {
        let begins = |with: &[&str]| {
            let here = tokens[at..].iter().map(|token| token.text.as_str());
            here.take(with.len()).eq(with.iter().copied())
        };
        if !begins(ALONE) && !begins(FIRST) {
            at += 1;
            continue;
        }
        let end = item_end(tokens, at);
        for token in &mut tokens[at..=end] {
            token.test = true;
        }
        at = end + 1;
    }
}

/// Returns the last token of the item with attributes from token `from`: the `;` outside all
/// brackets, the brace that closes its body, or the last one of the block around it.
fn item_end(tokens: &[Token], from: usize) -> usize {
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            ";" if depth == 0 => return at,
            _ => {}
        }
        if depth < 0 {
            return at - 1;
        }
        if depth == 0 && token.text == "}" {
            return at;
        }
    }
    tokens.len() - 1
}

/// Returns true for characters of a Rust identifier.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        let path = "crates/pirn/src/x.rs".into();
        let text = text.into();
        Source::new(&File { path, text }).unwrap()
    }

    fn comments(text: &str) -> Vec<(usize, String, bool)> {
        let comments = source(text).comments.into_iter();
        comments.map(|c| (c.line, c.text, c.alone)).collect()
    }

    #[test]
    fn comments_are_apart_from_code() {
        let found = comments(
            "//! a\n\n/// b\nfn f() { g(\"// no\", '\"', r#\"/* \"no\"#); // c\n}\n/* d\n e */\n",
        );
        let expected = [
            (1, "//! a", true),
            (3, "/// b", true),
            (4, "// c", false),
            (6, "/* d", true),
            (7, "e */", true),
        ];
        assert_eq!(
            found,
            expected.map(|(l, text, alone)| (l, text.to_owned(), alone))
        );
    }

    #[test]
    fn finds_test_items() {
        let s =
            source("fn a() {}\n#[cfg(test)]\nmod tests {\n fn b() { }\n}\nfn c() {}\n");
        assert_eq!((s.code_lines(), s.all_code_lines()), (2, 6));
        let s = source("#[cfg(test)]\nmod tests;\nfn c() {}\n");
        assert_eq!(s.code_lines(), 1);
        let s =
            source("struct A {\n b: u8,\n #[cfg(all(test, c))]\n d: u8,\n}\nfn e() {}\n");
        assert_eq!(s.code_lines(), 4);
    }
}
