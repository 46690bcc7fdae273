//! HTML in one pass: title, headings, text, links, and what the head says.
//!
//! What lives here: a walk over the bytes of a page that never builds a tree. `scan.rs` finds tags
//! and text, `extract.rs` knows what elements mean, `attributes.rs` holds the few attributes that
//! count, `entities.rs` reads character references, `refresh.rs` the value of a meta refresh.
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
mod elements;
mod entities;
mod extract;
mod refresh;
mod scan;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use ::url::Url;

use crate::resolve::{Resolver, without_fragment};
use crate::{Limits, Link, Page, Wanted};

use extract::{Candidate, Extractor};

/// How the markup was labelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// `<script/>` opens a script.
    Html,
    /// `<script/>` is a whole element.
    Xml,
}

/// Fills `page` with what is `wanted` of markup found at `url`; returns the language tag it declares,
/// or nothing.
pub(crate) fn read(
    page: &mut Page,
    url: &Url,
    markup: &str,
    syntax: Syntax,
    wanted: Wanted,
    limits: &Limits,
) -> String {
    let mut extractor = Extractor::new(syntax, wanted, limits);
    scan::scan(markup, &mut extractor);
    let found = extractor.finish();

    // A base counts for the links before it, too, so they are resolved only now.
    let base = found.base.and_then(|raw| Resolver::new(url, limits).resolve(&raw));
    let resolver = Resolver::new(base.as_ref().unwrap_or(url), limits);
    page.links = links(found.candidates, &resolver, wanted);
    page.canonical = found.canonical.and_then(|raw| resolver.resolve(&raw));
    page.refresh = found.refresh.and_then(|raw| resolver.resolve(&raw));
    page.title = found.title;
    page.headings = found.headings;
    page.text = found.text;
    page.description = found.description;
    page.robots = found.robots;
    found.language
}

/// The links that lead somewhere; if their words are not wanted, of those written alike the first.
fn links(mut candidates: Vec<Candidate<'_>>, resolver: &Resolver<'_>, wanted: Wanted) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::with_capacity(candidates.len());
    // Which link was the first of this spelling, if it leads anywhere.
    let mut firsts: HashMap<(&str, bool), Option<usize>> = HashMap::with_capacity(candidates.len());
    for candidate in &mut candidates {
        let Candidate { href, text, nofollow } = candidate;
        let url = match firsts.entry((without_fragment(href), *nofollow)) {
            Entry::Occupied(_) if !wanted.text => None,
            Entry::Occupied(first) => first.get().map(|first| links[first].url.clone()),
            Entry::Vacant(first) => {
                let url = resolver.resolve(href);
                first.insert(url.is_some().then_some(links.len()));
                url
            }
        };
        let text = std::mem::take(text).finish();
        links.extend(url.map(|url| Link { url, text, nofollow: *nofollow }));
    }
    links
}
