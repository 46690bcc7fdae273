//! HTML in one pass: title, headings, text, links, and what the head says.
//!
//! What lives here: a walk over the tokens of a page that never builds a tree. `emitter.rs`
//! collects tags and hands text through, `extract.rs` knows what elements mean, `attributes.rs`
//! holds the few attributes that count, `refresh.rs` reads the value of a meta refresh.
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
mod emitter;
mod extract;
mod refresh;

use ::url::Url;
use html5gum::Tokenizer;

use crate::url::normalise;
use crate::{Limits, Link, Page};

use emitter::TagEmitter;
use extract::{Candidate, Extractor};

/// How the markup was labelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// `<script/>` opens a script.
    Html,
    /// `<script/>` is a whole element.
    Xml,
}

/// Fills `page` from markup found at `url`; returns the language tag it declares, or nothing.
pub(crate) fn read(
    page: &mut Page,
    url: &Url,
    markup: &str,
    syntax: Syntax,
    limits: &Limits,
) -> String {
    let mut extractor = Extractor::new(syntax, limits);
    let Ok(()) =
        Tokenizer::new_with_emitter(markup, TagEmitter::new(&mut extractor, limits)).finish();
    let found = extractor.finish();

    // A base counts for the links before it, too, so they are resolved only now.
    let resolve = |raw: &str, base: &Url| normalise(raw, Some(base), limits).ok();
    let base = found.base.and_then(|raw| resolve(&raw, url)).unwrap_or_else(|| url.clone());
    let link = |Candidate { href, text, nofollow }: Candidate| {
        Some(Link { url: resolve(&href, &base)?, text: text.finish(), nofollow })
    };
    page.links = found.candidates.into_iter().filter_map(link).collect();
    page.canonical = found.canonical.and_then(|raw| resolve(&raw, &base));
    page.refresh = found.refresh.and_then(|raw| resolve(&raw, &base));
    page.title = found.title;
    page.headings = found.headings;
    page.text = found.text;
    page.description = found.description;
    page.robots = found.robots;
    found.language
}
