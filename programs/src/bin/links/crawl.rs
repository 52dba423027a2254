//! Which URLs are to be checked, and which links are broken.

use std::collections::{HashSet, VecDeque};

use anyhow::ensure;
use indexmap::IndexMap;
use percent_encoding::percent_decode_str;
use pirn::channel::bounded;
use url::{Origin, Url};

use crate::check::{Checker, Found};
use crate::page::Page;

/// How many redirections of a link are followed. Arbitrary.
const REDIRECTS: usize = 10;

/// The state of a crawl. Its memory grows with the number of links.
#[derive(Debug)]
pub(crate) struct Crawl {
    /// How many URLs may be checked.
    most: usize,
    /// There were more.
    is_cut: bool,
    /// The pages with this origin are read.
    site: Origin,
    /// All URLs, without fragments, by number; and the outcome for each, once it is known.
    urls: IndexMap<Url, Checked>,
    /// The numbers of those to be checked.
    waiting: VecDeque<usize>,
    /// The links of the pages.
    links: Vec<Link>,
    /// For each link that is no URL a line: the page, the link, and the reason.
    wrong: Vec<String>,
    pages: usize,
}

/// A URL.
#[derive(Debug, Default)]
struct Checked {
    /// How many redirections have led to it, on the shortest way.
    hops: usize,
    outcome: Option<Outcome>,
}

#[derive(Debug)]
enum Outcome {
    /// A page of the site, with its places.
    Page(HashSet<String>),
    /// A redirection to another URL.
    Redirect {
        to: usize,
    },
    /// A redirection that is not followed: too many have led to it.
    TooFar(Url),
    /// Anything else that is there.
    Other,
    Broken(String),
}

/// A link from a page to a URL, by their numbers.
#[derive(Debug)]
struct Link {
    page: usize,
    to: usize,
    fragment: Option<Box<str>>,
}

impl Crawl {
    /// Returns a crawl that begins at a page and checks at most so many URLs.
    pub(crate) fn new(first: Url, most: usize) -> Crawl {
        let mut crawl = Crawl {
            most,
            is_cut: false,
            site: first.origin(),
            urls: IndexMap::new(),
            waiting: VecDeque::new(),
            links: Vec::new(),
            wrong: Vec::new(),
            pages: 0,
        };
        crawl.add(first, 0);
        crawl
    }

    /// Checks all URLs that can be reached, by this number of fibers.
    ///
    /// # Errors
    /// If there are more than may be checked, or the caller is interrupted.
    pub(crate) fn run(
        &mut self,
        checker: &Checker,
        at_once: usize,
    ) -> anyhow::Result<()> {
        pirn::scope(|s| {
            // Dropped at the end of this closure, which ends the fibers.
            let (jobs, to_check) = bounded::<(usize, Url, bool)>(at_once);
            let (checked, results) = bounded(at_once);
            for _ in 0..at_once {
                let (to_check, checked) = (to_check.clone(), checked.clone());
                s.spawn(move || {
                    for (number, url, is_of_site) in to_check {
                        let found = checker.check(&url, is_of_site);
                        // The crawl receives all results.
                        let _ = checked.send((number, found));
                    }
                });
            }
            drop((to_check, checked));
            let mut running = 0;
            while running > 0 || !self.waiting.is_empty() {
                while running < at_once
                    && let Some(number) = self.waiting.pop_front()
                {
                    let url = self.url(number).clone();
                    let is_of_site = url.origin() == self.site;
                    jobs.send((number, url, is_of_site))?;
                    running += 1;
                }
                let (number, found) = results.recv()?;
                running -= 1;
                self.record(number, found);
            }
            ensure!(!self.is_cut, "stopped after {} URLs, the limit", self.most);
            Ok(())
        })
    }

    /// Records the outcome for a URL, and adds those that it leads to.
    fn record(&mut self, number: usize, found: anyhow::Result<Found>) {
        let outcome = match found {
            Ok(Found::Page(page)) => self.read(number, page),
            Ok(Found::Redirect(target)) => {
                if self.pages == 0 && self.urls.len() == number + 1 {
                    // Where the first URL leads to is the site.
                    self.site = target.origin();
                }
                self.follow(number, target)
            }
            Ok(Found::Other) => Outcome::Other,
            Err(error) => Outcome::Broken(format!("{error:#}")),
        };
        self.urls[number].outcome = Some(outcome);
    }

    /// Adds the target of a redirection.
    fn follow(&mut self, number: usize, target: Url) -> Outcome {
        let hops = self.urls[number].hops + 1;
        if hops > REDIRECTS {
            return Outcome::TooFar(target);
        }
        let to = self.add(target, hops);
        to.map_or(Outcome::Other, |to| Outcome::Redirect { to })
    }

    /// Adds the links of a page.
    fn read(&mut self, number: usize, page: Page) -> Outcome {
        self.pages += 1;
        if page.is_cut {
            let url = self.url(number);
            self.wrong
                .push(format!("{url}: too long, so a part was not checked"));
        }
        for (link, why) in page.wrong {
            self.wrong
                .push(format!("{}: {link:?}: {why}", self.url(number)));
        }
        for link in page.links {
            let fragment = link.fragment().map(Box::from);
            if let Some(to) = self.add(link, 0) {
                let page = number;
                self.links.push(Link { page, to, fragment });
            }
        }
        Outcome::Page(page.places)
    }

    /// Returns the number of a URL, which is checked if it is new. `None` if it is one too many.
    fn add(&mut self, mut url: Url, hops: usize) -> Option<usize> {
        url.set_fragment(None);
        if let Some(number) = self.urls.get_index_of(&url) {
            self.shorten(number, hops);
            return Some(number);
        }
        if self.urls.len() == self.most {
            self.is_cut = true;
            return None;
        }
        let checked = Checked {
            hops,
            outcome: None,
        };
        let number = self.urls.insert_full(url, checked).0;
        self.waiting.push_back(number);
        Some(number)
    }

    /// Records that so many redirections lead to a known URL, if they are fewer than before, and
    /// what follows from it for those that it redirects to.
    fn shorten(&mut self, mut number: usize, mut hops: usize) {
        while hops < self.urls[number].hops {
            self.urls[number].hops = hops;
            match &self.urls[number].outcome {
                Some(Outcome::Redirect { to }) => number = *to,
                Some(Outcome::TooFar(target)) => {
                    let target = target.clone();
                    let outcome = self.follow(number, target);
                    self.urls[number].outcome = Some(outcome);
                    return;
                }
                _ => return,
            }
            hops += 1;
        }
    }

    fn url(&self, number: usize) -> &Url {
        self.urls.get_index(number).expect("a number of a URL").0
    }

    /// Returns a line for each broken link: the page, the link, and the reason.
    pub(crate) fn broken(&self) -> Vec<String> {
        let mut broken = self.wrong.clone();
        for link in &self.links {
            let fragment = link.fragment.as_deref();
            if let Some(why) = self.why_broken(link.to, fragment) {
                let (page, to) = (self.url(link.page), self.url(link.to));
                let hash = if fragment.is_some() { "#" } else { "" };
                let fragment = fragment.unwrap_or_default();
                broken.push(format!("{page}: {to}{hash}{fragment}: {why}"));
            }
        }
        if self.pages == 0 {
            // Only the first URL, and where it leads to, has been checked.
            let why = self.why_broken(0, None);
            let why = why.as_deref().unwrap_or("no page of HTML was read");
            broken.push(format!("{}: {why}", self.url(0)));
        }
        broken.sort();
        broken
    }

    /// Returns why a link is broken, if it is.
    fn why_broken(&self, mut to: usize, fragment: Option<&str>) -> Option<String> {
        for _ in 0..=REDIRECTS {
            match self.urls[to].outcome.as_ref()? {
                Outcome::Redirect { to: next } => to = *next,
                Outcome::TooFar(_) => return Some(too_many()),
                Outcome::Broken(why) => return Some(why.clone()),
                Outcome::Page(places) => return lacks(places, fragment?),
                Outcome::Other => return None,
            }
        }
        Some(too_many())
    }

    /// Returns the numbers of checked URLs and of pages among them.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.urls.len(), self.pages)
    }
}

fn too_many() -> String {
    format!("more than {REDIRECTS} redirections")
}

/// Returns a complaint if a page with these places has not the one of this fragment.
fn lacks(places: &HashSet<String>, fragment: &str) -> Option<String> {
    // What follows is a text to be searched.
    let place = fragment.split(":~:").next().unwrap_or_default();
    // A browser tries the fragment as it is, and percent-decoded.
    let decoded = percent_decode_str(place).decode_utf8_lossy();
    let is_there = place.is_empty()
        || place.eq_ignore_ascii_case("top")
        || places.contains(place)
        || places.contains(&*decoded);
    (!is_there).then(|| format!("the page has no place #{place}"))
}
