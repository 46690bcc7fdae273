//! What elements mean: a small machine that is told of tags and text in order.
//!
//! It keeps no stack of open elements. A heading lasts until the next end of a heading, a link
//! until the next `<a>` or `</a>`, a template until its end: what browsers do too, up to pages so
//! broken that nobody relies on them. What does not live here: URLs; they stay as written until the
//! base of the page is known (`mod.rs`).
//!
//! **Invariant.** What is found keeps to [`Limits`] at every moment, whatever follows.

use html5gum::State;

use crate::flow::{Flow, Gap};
use crate::{Directives, Limits};

use super::Syntax;
use super::attributes::{Attribute, Attributes};
use super::elements::{self, Raw};
use super::refresh;

/// Names in `<meta name=…>` that speak to us: all robots, and our own.
const ROBOTS: [&str; 2] = ["robots", "crivello"];

/// A link before the base of the page is known.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) href: String,
    pub(super) text: Flow,
    pub(super) nofollow: bool,
}

/// Everything found on a page, URLs as written.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) title: String,
    pub(super) headings: Vec<String>,
    pub(super) text: String,
    pub(super) description: String,
    pub(super) candidates: Vec<Candidate>,
    pub(super) base: Option<String>,
    pub(super) canonical: Option<String>,
    pub(super) refresh: Option<String>,
    pub(super) language: String,
    pub(super) robots: Directives,
}

/// The machine; more than a dozen fields with `found`, since a page is in many things at once.
#[derive(Debug)]
pub(super) struct Extractor {
    limits: Limits,
    syntax: Syntax,
    found: Found,
    title: Flow,
    text: Flow,
    /// The heading that is open.
    heading: Option<Flow>,
    /// Which of the candidates is open, so that text belongs to it.
    link: Option<usize>,
    in_noscript: bool,
    /// Open templates; what is in one is not on the page.
    templates: u32,
    /// Open `svg` and `math`, where a title is not the page's.
    foreigners: u32,
    /// Where characters go; [`Raw::Shown`] but inside elements without markup.
    raw: Raw,
}

impl Extractor {
    pub(super) fn new(syntax: Syntax, limits: &Limits) -> Self {
        Self {
            limits: *limits,
            syntax,
            found: Found::default(),
            title: Flow::new(limits.title_bytes_max),
            text: Flow::new(limits.text_bytes_max),
            heading: None,
            link: None,
            in_noscript: false,
            templates: 0,
            foreigners: 0,
            raw: Raw::Shown,
        }
    }

    pub(super) fn finish(mut self) -> Found {
        self.end_heading();
        self.found.title = self.title.finish();
        self.found.text = self.text.finish();
        self.found
    }

    pub(super) fn is_in_foreign_content(&self) -> bool {
        self.foreigners > 0
    }

    pub(super) fn text(&mut self, text: &[u8]) {
        if self.templates > 0 {
            return;
        }
        match self.raw {
            Raw::Skipped => {}
            Raw::Title => self.title.push(text),
            Raw::Shown => {
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
        }
    }

    /// Returns how the tokenizer shall take the content of the element, if not as markup.
    pub(super) fn start_tag(
        &mut self,
        name: &[u8],
        attributes: &Attributes,
        is_self_closing: bool,
    ) -> Option<State> {
        let is_whole =
            is_self_closing && (self.syntax == Syntax::Xml || self.is_in_foreign_content());
        if self.templates == 0 {
            self.separate(elements::gap(name));
            self.open(name, attributes);
        }
        if is_whole {
            self.end_tag(name);
            return None;
        }
        match name {
            b"template" => self.templates = self.templates.saturating_add(1),
            b"svg" | b"math" => self.foreigners = self.foreigners.saturating_add(1),
            b"noscript" => self.in_noscript = true,
            _ => {}
        }
        let (state, raw) = elements::raw(name)?;
        let is_second_title = raw == Raw::Title && (!self.title.is_empty() || self.foreigners > 0);
        self.raw = if is_second_title { Raw::Skipped } else { raw };
        Some(state)
    }

    pub(super) fn end_tag(&mut self, name: &[u8]) {
        self.raw = Raw::Shown;
        match name {
            b"template" => self.templates = self.templates.saturating_sub(1),
            b"svg" | b"math" => self.foreigners = self.foreigners.saturating_sub(1),
            b"noscript" => self.in_noscript = false,
            _ => {}
        }
        if self.templates > 0 {
            return;
        }
        if name == b"a" {
            self.link = None;
        }
        if elements::is_heading(name) {
            self.end_heading();
        }
        self.separate(elements::gap(name));
    }

    /// What the element adds by itself, apart from the text in it.
    fn open(&mut self, name: &[u8], attributes: &Attributes) {
        match name {
            b"a" => {
                let href = attributes.whole(Attribute::Href);
                let href = href.or_else(|| attributes.whole(Attribute::XlinkHref));
                self.link = self.add_link(href, attributes);
            }
            b"area" => {
                let link = self.add_link(attributes.whole(Attribute::Href), attributes);
                self.add_alternative_text(link, attributes);
            }
            b"frame" | b"iframe" => {
                self.add_link(attributes.whole(Attribute::Src), attributes);
            }
            b"img" => self.add_alternative_text(self.link, attributes),
            b"html" | b"body" if self.found.language.is_empty() => {
                let tag = attributes.text(Attribute::Lang).or(attributes.text(Attribute::XmlLang));
                tag.unwrap_or_default().clone_into(&mut self.found.language);
            }
            b"base" if self.found.base.is_none() => {
                self.found.base = attributes.whole(Attribute::Href).map(str::to_owned);
            }
            b"link"
                if self.found.canonical.is_none()
                    && attributes.has_word(Attribute::Rel, "canonical") =>
            {
                self.found.canonical = attributes.whole(Attribute::Href).map(str::to_owned);
            }
            b"meta" => self.meta(attributes),
            _ if elements::is_heading(name) => {
                self.end_heading();
                self.heading = Some(Flow::new(self.limits.heading_bytes_max));
            }
            _ => {}
        }
    }

    fn meta(&mut self, attributes: &Attributes) {
        let Some(content) = attributes.text(Attribute::Content) else { return };
        if ROBOTS.iter().any(|name| attributes.is(Attribute::Name, name)) {
            self.found.robots = self.found.robots.union(Directives::from_meta(content));
        } else if attributes.is(Attribute::Name, "description") {
            if self.found.description.is_empty() {
                let mut flow = Flow::new(self.limits.description_bytes_max);
                flow.push(content.as_bytes());
                self.found.description = flow.finish();
            }
        } else if attributes.is(Attribute::HttpEquiv, "content-language") {
            if self.found.language.is_empty() {
                content.clone_into(&mut self.found.language);
            }
        } else if attributes.is(Attribute::HttpEquiv, "refresh")
            && self.found.refresh.is_none()
            && !self.in_noscript
        {
            let content = attributes.whole(Attribute::Content);
            self.found.refresh = content.and_then(refresh::target).map(str::to_owned);
        }
    }

    /// Remembers a link and says which it is, if it may lead somewhere on the web and there are
    /// not enough yet.
    fn add_link(&mut self, href: Option<&str>, attributes: &Attributes) -> Option<usize> {
        let href = href?.trim_ascii();
        // Without a base, an empty reference or a mere fragment leads to the page itself.
        let is_elsewhere = self.found.base.is_some() || !(href.is_empty() || href.starts_with('#'));
        let link = self.found.candidates.len();
        if link >= self.limits.links_max || !is_elsewhere || !may_be_web(href) {
            return None;
        }
        self.found.candidates.push(Candidate {
            href: href.to_owned(),
            text: Flow::new(self.limits.link_text_bytes_max),
            nofollow: attributes.has_word(Attribute::Rel, "nofollow"),
        });
        Some(link)
    }

    /// Gives a link the words of an image.
    fn add_alternative_text(&mut self, link: Option<usize>, attributes: &Attributes) {
        let text = attributes.text(Attribute::Alt).unwrap_or_default();
        if let Some(link) = link {
            let flow = &mut self.found.candidates[link].text;
            flow.separate(Gap::Space);
            flow.push(text.as_bytes());
            flow.separate(Gap::Space);
        }
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

/// False for references that clearly lead off the web, such as `mailto:`; they do not count
/// against the limit on links.
fn may_be_web(href: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let is_scheme_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    match href.split_once(':') {
        Some((scheme, _))
            if scheme.starts_with(is_letter) && scheme.chars().all(is_scheme_char) =>
        {
            scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
        }
        _ => true,
    }
}
