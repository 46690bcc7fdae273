//! Reads HTML in one pass: title, headings, text, links and metadata.
//!
//! The reader walks over the bytes of a page and never builds a tree. `scan.rs` finds tags and text. `extract.rs`
//! interprets elements. `attributes.rs` holds the known attributes. `entities.rs` reads character references.
//! `refresh.rs` reads the value of a meta refresh. `clean.rs` rewrites a page for a browser.
//!
//! Scripts, styles and layout are ignored, and so is the content of `template`. The crawler runs no scripts, so
//! `noscript` is read as markup. Its links and metas count. Its text does not, because visitors do not see it.
//!
//! **Invariant.** The state is a few counters and bounded buffers, whatever the depth of the page. So time is linear in
//! the length of the page.
//!
//! Reference: <https://html.spec.whatwg.org/multipage/parsing.html>.

mod attributes;
mod clean;
mod elements;
mod entities;
mod extract;
mod refresh;
mod scan;

use crate::content::{Known, Reading};
use crate::resolve::Resolver;
use crate::{Link, Page, PageError};

use extract::{Candidate, Extractor};

pub use clean::Cleaner;

/// The syntax of the markup, by the content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// `<script/>` opens a script.
    Html,
    /// `<script/>` is a complete element.
    Xml,
}

/// Fills `page` with the wanted parts of the markup. Returns the declared language tag, or an empty string.
pub(crate) fn read(
    page: &mut Page,
    markup: &str,
    syntax: Syntax,
    &Reading { url, wanted, known, limits }: &Reading<'_>,
) -> String {
    let mut extractor = Extractor::new(syntax, wanted, limits);
    scan::scan(markup, &mut extractor);
    let found = extractor.finish();

    // A base also applies to links before it, so links are resolved only here.
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

/// The links to valid URLs that are not `known`, and the number of links that are too long.
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

/// The number of different values.
fn distinct<T: Ord>(mut all: Vec<T>) -> u64 {
    all.sort_unstable();
    all.dedup();
    all.len() as u64
}
