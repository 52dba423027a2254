//! The links and the places of a page of HTML.

use std::collections::HashSet;

use html5gum::Tokenizer;
use html5gum::emitters::default::{DefaultEmitter, StartTag, Token};
use url::Url;

/// A page.
#[derive(Debug, Default)]
pub(crate) struct Page {
    /// Its links, with fragments; at most [`LINKS`].
    pub(crate) links: HashSet<Url>,
    /// Links that are no URL, with the reason.
    pub(crate) wrong: Vec<(String, String)>,
    /// The places in it that a fragment can name.
    pub(crate) places: HashSet<String>,
    /// It has more links or places than are read, or more text.
    pub(crate) is_cut: bool,
}

/// The elements and their attributes that refer to what a browser loads or goes to. `srcset` and
/// `meta` are not among them.
const REFERENCES: &[(&str, &str)] = &[
    ("a", "href"),
    ("area", "href"),
    ("audio", "src"),
    ("embed", "src"),
    ("frame", "src"),
    ("iframe", "src"),
    ("img", "src"),
    ("input", "src"),
    ("link", "href"),
    ("object", "data"),
    ("script", "src"),
    ("source", "src"),
    ("track", "src"),
    ("video", "poster"),
    ("video", "src"),
];

/// The kinds of `link` that name an origin, which need not have a page.
const ORIGINS: [&str; 2] = ["dns-prefetch", "preconnect"];

/// How many links, and how many places, of a page are read. Arbitrary.
const LINKS: usize = 10_000;

impl Page {
    /// Reads the text of the page at `url`.
    pub(crate) fn read(url: &Url, html: &[u8]) -> Page {
        let mut page = Page::default();
        let mut references = HashSet::new();
        let mut base = None;
        page.read_part(html, true, &mut base, &mut references);
        let base = base.and_then(|base| url.join(&base).ok());
        let base = base.unwrap_or_else(|| url.clone());
        for reference in references {
            page.add(&base, &reference);
        }
        page
    }

    /// Reads a part of a page: its places, its references, and the first base of the page.
    fn read_part(
        &mut self,
        html: &[u8],
        is_whole: bool,
        base: &mut Option<String>,
        references: &mut HashSet<String>,
    ) {
        let mut emitter = DefaultEmitter::default();
        // The text of a script is no HTML.
        emitter.naively_switch_states(true);
        let mut is_noscript = false;
        for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
            match token {
                Token::StartTag(tag) => {
                    is_noscript = *tag.name == b"noscript"[..];
                    self.read_tag(&tag, base, references);
                }
                // Without scripts this is HTML. There is none inside of another.
                Token::String(text) if is_noscript && is_whole => {
                    self.read_part(&text, false, base, references);
                }
                _ => is_noscript = false,
            }
        }
    }

    fn read_tag(
        &mut self,
        tag: &StartTag<()>,
        base: &mut Option<String>,
        references: &mut HashSet<String>,
    ) {
        let name = String::from_utf8_lossy(&tag.name);
        let places = [attribute(tag, "id"), attribute(tag, "name")];
        let named = if name == "a" { 2 } else { 1 };
        for place in places.into_iter().take(named).flatten() {
            add(&mut self.places, place, &mut self.is_cut);
        }
        if name == "base" && base.is_none() {
            *base = attribute(tag, "href");
        }
        if name == "link" && names_an_origin(tag) {
            return;
        }
        for (element, which) in REFERENCES {
            if *element == name
                && let Some(link) = attribute(tag, which)
            {
                add(references, link, &mut self.is_cut);
            }
        }
    }

    fn add(&mut self, base: &Url, link: &str) {
        match base.join(link.trim()) {
            // Addresses of mail and the like cannot be checked.
            Ok(url) if matches!(url.scheme(), "http" | "https") => {
                self.links.insert(url);
            }
            Ok(_) => {}
            Err(error) => self.wrong.push((link.to_owned(), error.to_string())),
        }
    }
}

/// Adds to a set, up to [`LINKS`]; else it is cut.
fn add(to: &mut HashSet<String>, text: String, is_cut: &mut bool) {
    if to.len() < LINKS {
        to.insert(text);
    } else if !to.contains(&text) {
        *is_cut = true;
    }
}

/// Returns true if a `link` has no other relation than [`ORIGINS`].
fn names_an_origin(tag: &StartTag<()>) -> bool {
    let relations = attribute(tag, "rel").unwrap_or_default();
    let mut relations = relations.split_ascii_whitespace().peekable();
    let is_origin =
        |it: &str| ORIGINS.iter().any(|origin| it.eq_ignore_ascii_case(origin));
    relations.peek().is_some() && relations.all(is_origin)
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).into_owned())
}
