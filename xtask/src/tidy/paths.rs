//! The paths by which a file of the library names other modules.
//!
//! A path begins with `crate`, `self` or `super`; it may be in a `use` line, in code or in a macro.
//! One that begins with `$crate` does not count: the macro's caller names it.

use crate::repo;
use crate::source::{Source, Token};

/// A path, from the root of the library.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
}

/// Returns the path of the module that a file of the library has.
pub(super) fn module(source: &Source) -> Vec<String> {
    let (_, module) = repo::module(&source.path).unwrap_or_default();
    module.into_iter().map(str::to_owned).collect()
}

/// Returns a path from the root that is written as `segments` in `module`.
pub(super) fn absolute(module: &[String], segments: &[&str]) -> Vec<String> {
    let mut path = module.to_vec();
    for segment in segments {
        match *segment {
            "crate" => path.clear(),
            "self" => {}
            "super" => drop(path.pop()),
            name => path.push(name.to_owned()),
        }
    }
    path
}

/// Returns the paths in a file outside its tests. A group in braces is one for each of its names.
pub(super) fn paths(source: &Source) -> Vec<Path> {
    let tokens: Vec<_> = source.code().collect();
    let mut written = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_root = matches!(token.text.as_str(), "crate" | "self" | "super");
        let is_inside = at >= 2 && is_colons(&tokens, at - 2);
        let is_macros = at >= 1 && tokens[at - 1].text == "$";
        if is_root && is_colons(&tokens, at + 1) && !is_inside && !is_macros {
            read(&tokens, at, Vec::new(), &mut written);
        }
    }
    let module = module(source);
    let path = |(segments, line): (Vec<&str>, usize)| Path {
        segments: absolute(&module, &segments),
        line,
    };
    written.into_iter().map(path).collect()
}

fn is_colons(tokens: &[&Token], at: usize) -> bool {
    text(tokens, at) == ":" && text(tokens, at + 1) == ":"
}

/// Returns the text of a token; empty after the last one.
fn text<'a>(tokens: &[&'a Token], at: usize) -> &'a str {
    tokens.get(at).map_or("", |token| token.text.as_str())
}

/// Reads what follows `prefix` from token `at` on; returns the place behind it.
fn read<'a>(
    tokens: &[&'a Token],
    mut at: usize,
    mut prefix: Vec<&'a str>,
    found: &mut Vec<(Vec<&'a str>, usize)>,
) -> usize {
    let line = tokens[at].line;
    loop {
        let name = text(tokens, at);
        if name == "{" {
            at += 1;
            while !matches!(text(tokens, at), "}" | "") {
                let next = read(tokens, at, prefix.clone(), found);
                let goes_on = next > at && text(tokens, next) != ",";
                at = if goes_on { next } else { next + 1 };
            }
            return at + 1;
        }
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            break;
        }
        prefix.push(name);
        at += 1;
        if !is_colons(tokens, at) {
            break;
        }
        at += 2;
    }
    if matches!(text(tokens, at), "as" | "*") {
        at += if text(tokens, at) == "as" { 2 } else { 1 };
    }
    found.push((prefix, line));
    at
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    #[test]
    fn every_form_of_a_path_is_read() {
        let text = "use crate::{a::{b as c, self}, d::*};\nuse super::super::e;\n\
            fn f() { m! { self::g::<u8>(); $crate::h() } }\n#[cfg(test)]\nuse crate::i;\n";
        let tree = Tree::of(&[("crates/pirn/src/x/y.rs", text)]);
        let found = paths(&tree.sources[0]).into_iter();
        let found: Vec<_> = found.map(|path| path.segments.join("::")).collect();
        assert_eq!(found, ["a::b", "a", "d", "e", "x::y::g"]);
    }
}
