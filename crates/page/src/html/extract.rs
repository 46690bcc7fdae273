//! Interprets elements: a small state machine that receives tags and text in order.
//!
//! It keeps no stack of open elements. A heading lasts until the next end tag of a heading. A link lasts until the next
//! `<a>` or `</a>`, and a template until its end tag. Browsers do the same, except on badly broken pages. URLs stay as
//! written, because the base of the page is not known yet. `mod.rs` resolves them.
//!
//! **Invariant.** The results observe [`Limits`] at every moment, whatever follows.

use std::borrow::Cow;
use std::collections::HashSet;

use memchr::memchr;

use crate::flow::{Flow, Gap};
use crate::resolve::without_fragment;
use crate::{Directives, Limits, Wanted};

use super::Syntax;
use super::attributes::{Attribute, Attributes};
use super::elements::{Element, Raw};
use super::entities::{self, Place};
use super::refresh;

/// Names in `<meta name=…>` that carry directives: for all robots, and for this crawler.
const ROBOTS: [&str; 2] = ["robots", "crivello"];

/// The place of character references in a text, if it may contain any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum References {
    None,
    In(Place),
}

/// A link that is not resolved yet.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub(super) href: Cow<'a, str>,
    pub(super) text: Flow,
    pub(super) nofollow: bool,
}

/// All results of one page, with URLs as written.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    pub(super) title: String,
    pub(super) headings: Vec<String>,
    pub(super) text: String,
    pub(super) text_is_cut: bool,
    pub(super) description: String,
    pub(super) candidates: Vec<Candidate<'a>>,
    /// Links whose attribute value exceeds its limit, as written.
    pub(super) too_long: Vec<&'a str>,
    pub(super) base: Option<Cow<'a, str>>,
    pub(super) canonical: Option<Cow<'a, str>>,
    pub(super) refresh: Option<String>,
    pub(super) language: String,
    pub(super) robots: Directives,
}

/// The state machine. It has many fields, because a page can be inside several elements at once.
#[derive(Debug)]
pub(super) struct Extractor<'a> {
    limits: Limits,
    syntax: Syntax,
    wants_text: bool,
    found: Found<'a>,
    title: Flow,
    text: Flow,
    /// The open heading.
    heading: Option<Flow>,
    /// The index of the open candidate, which receives the text.
    link: Option<usize>,
    in_noscript: bool,
    /// The number of open templates. Their content is not part of the page.
    templates: u32,
    /// The number of open `svg` and `math` elements. A title inside them is not the title of the page.
    foreigners: u32,
    /// Whether the last deduplication kept more than half of the links, so that another one would not pay.
    is_crowded: bool,
}

impl<'a> Extractor<'a> {
    pub(super) fn new(syntax: Syntax, wanted: Wanted, limits: &Limits) -> Self {
        Self {
            limits: *limits,
            syntax,
            wants_text: wanted.text,
            found: Found::default(),
            title: Flow::new(limits.title_bytes_max),
            text: Flow::new(limits.text_bytes_max),
            heading: None,
            link: None,
            in_noscript: false,
            templates: 0,
            foreigners: 0,
            is_crowded: false,
        }
    }

    pub(super) fn finish(mut self) -> Found<'a> {
        self.end_heading();
        self.found.title = self.title.finish();
        self.found.text_is_cut = self.text.is_cut();
        self.found.text = self.text.finish();
        self.found
    }

    pub(super) fn is_in_foreign_content(&self) -> bool {
        self.foreigners > 0
    }

    /// Returns whether the extractor uses text.
    pub(super) fn wants_text(&self) -> bool {
        self.wants_text
    }

    /// Returns whether the extractor uses the attributes of this element here.
    pub(super) fn reads_attributes(&self, element: Element) -> bool {
        use Element as E;
        let may_count = match element {
            E::A
            | E::Area
            | E::Base
            | E::Body
            | E::Frame
            | E::Html
            | E::Link
            | E::Meta
            | E::Raw(Raw::Iframe) => true,
            E::Img => self.link.is_some(),
            _ => false,
        };
        may_count && self.templates == 0
    }

    /// Empty attributes, which the scanner fills.
    pub(super) fn no_attributes(&self) -> Attributes<'a> {
        Attributes::new(self.limits.url_bytes_max.max(self.limits.description_bytes_max))
    }

    pub(super) fn text(&mut self, text: &str, references: References) {
        if self.templates > 0 || !self.wants_text {
            return;
        }
        match references {
            References::In(place) if memchr(b'&', text.as_bytes()).is_some() => {
                entities::each_piece(text, place, |piece| self.shown(piece));
            }
            _ => self.shown(text),
        }
    }

    /// The content of an element without markup.
    pub(super) fn raw_text(&mut self, raw: Raw, text: &str) {
        let is_first_title = self.title.is_empty() && self.foreigners == 0;
        let is_read = match raw {
            Raw::Title => is_first_title,
            Raw::Xmp | Raw::Plaintext => true,
            _ => false,
        };
        if !is_read || self.templates > 0 || !self.wants_text {
            return;
        }
        let text = match memchr(0, text.as_bytes()) {
            Some(_) => Cow::Owned(text.replace('\0', "\u{fffd}")),
            None => Cow::Borrowed(text),
        };
        if raw == Raw::Title {
            entities::each_piece(&text, Place::Text, |piece| self.title.push(piece));
        } else {
            self.shown(&text);
        }
    }

    fn shown(&mut self, text: &str) {
        if !self.in_noscript {
            self.text.push(text);
            if let Some(heading) = &mut self.heading {
                heading.push(text);
            }
        }
        if let Some(link) = self.link {
            self.found.candidates[link].text.push(text);
        }
    }

    /// Opens an element. Returns the kind of its content if that is not markup.
    pub(super) fn start_tag(&mut self, element: Element, is_self_closing: bool) -> Option<Raw> {
        let is_whole =
            is_self_closing && (self.syntax == Syntax::Xml || self.is_in_foreign_content());
        if is_whole {
            self.end_tag(element);
            return None;
        }
        match element {
            Element::Template => self.templates = self.templates.saturating_add(1),
            Element::Foreign => self.foreigners = self.foreigners.saturating_add(1),
            Element::Noscript => self.in_noscript = true,
            Element::Raw(raw) => return Some(raw),
            _ => {}
        }
        None
    }

    pub(super) fn end_tag(&mut self, element: Element) {
        match element {
            Element::Template => self.templates = self.templates.saturating_sub(1),
            Element::Foreign => self.foreigners = self.foreigners.saturating_sub(1),
            Element::Noscript => self.in_noscript = false,
            _ => {}
        }
        if self.templates > 0 || !self.wants_text {
            return;
        }
        match element {
            Element::A => self.link = None,
            Element::Heading => self.end_heading(),
            _ => {}
        }
        self.separate(element.gap());
    }

    /// Handles the start of an element by its name alone.
    pub(super) fn begin(&mut self, element: Element) {
        if self.templates > 0 || !self.wants_text {
            return;
        }
        self.separate(element.gap());
        if element == Element::Heading {
            self.end_heading();
            self.heading = Some(Flow::new(self.limits.heading_bytes_max));
        }
    }

    /// Handles the attributes of an element.
    pub(super) fn open(&mut self, element: Element, attributes: &Attributes<'a>) {
        match element {
            Element::A => {
                let href = self.href(Attribute::Href, attributes);
                let href = href.or_else(|| self.href(Attribute::XlinkHref, attributes));
                self.link = self.add_link(href, attributes).filter(|_| self.wants_text);
            }
            Element::Area => {
                let href = self.href(Attribute::Href, attributes);
                let link = self.add_link(href, attributes);
                self.add_alternative_text(link, attributes);
            }
            Element::Frame | Element::Raw(Raw::Iframe) => {
                let src = self.href(Attribute::Src, attributes);
                self.add_link(src, attributes);
            }
            Element::Img => self.add_alternative_text(self.link, attributes),
            Element::Html | Element::Body if self.found.language.is_empty() => {
                let tag = attributes.text(Attribute::Lang);
                let tag = tag.or_else(|| attributes.text(Attribute::XmlLang));
                self.found.language = tag.unwrap_or_default().into_owned();
            }
            Element::Base if self.found.base.is_none() => {
                self.found.base = attributes.whole(Attribute::Href);
            }
            Element::Link
                if self.found.canonical.is_none()
                    && attributes.has_word(Attribute::Rel, "canonical") =>
            {
                self.found.canonical = attributes.whole(Attribute::Href);
            }
            Element::Meta => self.meta(attributes),
            _ => {}
        }
    }

    fn meta(&mut self, attributes: &Attributes<'a>) {
        let Some(content) = attributes.text(Attribute::Content) else { return };
        if ROBOTS.iter().any(|name| attributes.is(Attribute::Name, name)) {
            self.found.robots = self.found.robots.union(Directives::from_meta(&content));
        } else if attributes.is(Attribute::Name, "description") {
            if self.found.description.is_empty() && self.wants_text {
                let mut flow = Flow::new(self.limits.description_bytes_max);
                flow.push(&content);
                self.found.description = flow.finish();
            }
        } else if attributes.is(Attribute::HttpEquiv, "content-language") {
            if self.found.language.is_empty() {
                self.found.language = content.into_owned();
            }
        } else if attributes.is(Attribute::HttpEquiv, "refresh")
            && self.found.refresh.is_none()
            && !self.in_noscript
        {
            let content = attributes.whole(Attribute::Content).unwrap_or_default();
            self.found.refresh = refresh::target(&content).map(str::to_owned);
        }
    }

    /// The reference of a link. A link that is too long is counted.
    fn href(&mut self, attribute: Attribute, attributes: &Attributes<'a>) -> Option<Cow<'a, str>> {
        let href = attributes.whole(attribute);
        if href.is_none()
            && let Some(raw) = attributes.raw(attribute)
            && may_be_web(raw.trim_ascii_start())
            && !attributes.has_word(Attribute::Rel, "nofollow")
            && self.found.too_long.len() < self.limits.links_max
        {
            self.found.too_long.push(raw);
        }
        href
    }

    /// Keeps a link and returns its index. `None` if the link is not http or https, leads to the page itself, or
    /// exceeds the limit.
    fn add_link(
        &mut self,
        href: Option<Cow<'a, str>>,
        attributes: &Attributes<'a>,
    ) -> Option<usize> {
        let href = match href? {
            Cow::Borrowed(href) => Cow::Borrowed(href.trim_ascii()),
            Cow::Owned(href) => Cow::Owned(href.trim_ascii().to_owned()),
        };
        // Without a base, an empty reference or a fragment alone leads to the page itself.
        let is_elsewhere = self.found.base.is_some() || !(href.is_empty() || href.starts_with('#'));
        if !is_elsewhere || !may_be_web(&href) || !self.has_room_for_link() {
            return None;
        }
        let link = self.found.candidates.len();
        self.found.candidates.push(Candidate {
            href,
            text: Flow::new(self.limits.link_text_bytes_max),
            nofollow: attributes.has_word(Attribute::Rel, "nofollow"),
        });
        Some(link)
    }

    /// Returns whether one more link may be kept. If link text is not wanted, links with equal spelling count once.
    /// The duplicates are removed only when the limit is reached.
    fn has_room_for_link(&mut self) -> bool {
        let links_max = self.limits.links_max;
        let candidates = &mut self.found.candidates;
        if candidates.len() >= links_max && !self.wants_text && !self.is_crowded {
            let mut seen: HashSet<(Box<str>, bool)> = HashSet::with_capacity(links_max);
            candidates.retain(|Candidate { href, nofollow, .. }| {
                seen.insert((without_fragment(href).into(), *nofollow))
            });
            // Deduplicates again only if this pass removed at least half of the links.
            self.is_crowded = candidates.len() > links_max / 2;
        }
        candidates.len() < links_max
    }

    /// Adds the alternative text of an image to a link.
    fn add_alternative_text(&mut self, link: Option<usize>, attributes: &Attributes<'a>) {
        let Some(link) = link.filter(|_| self.wants_text) else { return };
        let text = attributes.text(Attribute::Alt).unwrap_or_default();
        let flow = &mut self.found.candidates[link].text;
        flow.separate(Gap::Space);
        flow.push(&text);
        flow.separate(Gap::Space);
    }

    fn separate(&mut self, gap: Gap) {
        if gap == Gap::None {
            return;
        }
        self.text.separate(gap);
        if let Some(heading) = &mut self.heading {
            heading.separate(Gap::Space);
        }
        if let Some(link) = self.link {
            self.found.candidates[link].text.separate(Gap::Space);
        }
    }

    fn end_heading(&mut self) {
        let Some(heading) = self.heading.take() else { return };
        if !heading.is_empty() && self.found.headings.len() < self.limits.headings_max {
            self.found.headings.push(heading.finish());
        }
    }
}

/// Returns whether a reference may lead to an http or https URL. Others, such as `mailto:`, do not count
/// against the limit on links.
fn may_be_web(href: &str) -> bool {
    let is_scheme_byte =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    if !href.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return true;
    }
    match href.as_bytes().iter().position(|byte| !is_scheme_byte(byte)) {
        Some(end) if href.as_bytes()[end] == b':' => {
            let scheme = &href[..end];
            scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
        }
        _ => true,
    }
}
