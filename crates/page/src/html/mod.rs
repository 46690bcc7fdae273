//! HTML in one pass: title, headings, text, links, and what the head says.
//!
//! What lives here: a walk over the bytes of a page that never builds a tree. `scan.rs` finds tags
//! and text, `extract.rs` knows what elements mean, `attributes.rs` holds the few attributes that
//! count, `entities.rs` reads character references, `refresh.rs` the value of a meta refresh.
//! `clean.rs` writes a page anew for a browser.
//!
//! What does not: scripts, styles, layout. What is in `script` is nothing, and the content of
//! `template` is inert. We run no scripts, so `noscript` is read as markup: its links and metas
//! count; its text, which asks to switch scripts on and which no visitor sees, does not.
//!
//! **Invariant.** State is a handful of counters and bounded buffers whatever the depth of the
//! page, so time is linear in its length.
//!
//! Reference: <https://html.spec.whatwg.org/multipage/parsing.html>.

mod attributes;
mod clean;
mod elements;
mod entities;
mod extract;
mod refresh;
mod scan;

use crate::parse::{Known, Reading};
use crate::resolve::Resolver;
use crate::{Link, Page, PageError};

use extract::{Candidate, Extractor};

pub use clean::Cleaner;

/// How the markup was labelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// `<script/>` opens a script.
    Html,
    /// `<script/>` is a whole element.
    Xml,
}

/// Fills `page` with what is wanted of markup; returns the language tag it declares, or nothing.
pub(crate) fn read(
    page: &mut Page,
    markup: &str,
    syntax: Syntax,
    &Reading { url, wanted, known, limits }: &Reading<'_>,
) -> String {
    let mut extractor = Extractor::new(syntax, wanted, limits);
    scan::scan(markup, &mut extractor);
    let found = extractor.finish();

    // A base counts for the links before it, too, so they are resolved only now.
    let base = found.base.and_then(|raw| Resolver::new(url, limits).resolve(&raw));
    let resolver = Resolver::new(base.as_ref().unwrap_or(url), limits);
    let too_long = distinct(found.too_long);
    (page.links, page.links_too_long) = links(found.candidates, &resolver, known);
    page.links_too_long += too_long;
    page.canonical = found.canonical.and_then(|raw| resolver.resolve(&raw));
    page.refresh = found.refresh.and_then(|raw| resolver.resolve(&raw));
    page.title = found.title;
    page.headings = found.headings;
    page.text = found.text;
    page.text_is_cut = found.text_is_cut;
    page.description = found.description;
    page.robots = found.robots;
    found.language
}

/// The links that lead somewhere, and somewhere unknown; and how many would if they were not too long.
fn links(
    candidates: Vec<Candidate<'_>>,
    resolver: &Resolver<'_>,
    known: Known<'_>,
) -> (Vec<Link>, u64) {
    let (mut spelling, mut too_long) = (String::new(), Vec::new());
    let link = |Candidate { href, text, nofollow }| match resolver.resolve_unknown(
        &href,
        known,
        &mut spelling,
    ) {
        Ok(url) => Some(Link { url: url?, text: text.finish(), nofollow }),
        Err(error) => {
            if matches!(error, PageError::UrlTooLong { .. }) && !nofollow {
                too_long.push(href);
            }
            None
        }
    };
    let links = candidates.into_iter().filter_map(link).collect();
    (links, distinct(too_long))
}

/// How many of these are not the same.
fn distinct<T: Ord>(mut all: Vec<T>) -> u64 {
    all.sort_unstable();
    all.dedup();
    all.len() as u64
}
