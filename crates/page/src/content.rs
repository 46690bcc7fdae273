//! The content of a page, and the parameters of reading it.
//!
//! What lives here: [`Page`], which `html/`, `plain.rs` and `markdown.rs` fill. What does not: the choice of the format
//! (`parse.rs`).

use ::url::Url;

use crate::charset::Charset;
use crate::{Directives, Limits};

/// The content of a page, as text.
#[derive(Clone, Debug)]
pub struct Page {
    /// The title. Empty if the page has no title.
    pub title: String,
    /// The headings in order, without their levels.
    pub headings: Vec<String>,
    /// The text of the body, with headings and without the title. Blocks are separated by `\n`.
    pub text: String,
    /// Whether the text was cut at [`Limits::text_bytes_max`].
    pub text_is_cut: bool,
    /// The content of `<meta name=description>`.
    pub description: String,
    /// The links in order, normalised. A URL may occur several times.
    pub links: Vec<Link>,
    /// The number of different links that are longer than [`Limits::url_bytes_max`]. Links with `rel=nofollow` are not
    /// counted.
    pub links_too_long: u64,
    /// The canonical URL that the page declares.
    pub canonical: Option<Url>,
    /// The target of `<meta http-equiv=refresh>`.
    pub refresh: Option<Url>,
    /// The language: the ISO 639-1 code if one exists, else three letters. Empty if unknown.
    pub language: String,
    /// The directives of `<meta name=robots>` and `<meta name=crivello>`. The caller adds those of the HTTP header.
    pub robots: Directives,
    /// The charset by which the bytes were decoded.
    pub charset: Charset,
}

/// A link of the page, from `a`, `area`, `frame` or `iframe`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The target.
    pub url: Url,
    /// The text of the link, with the alternative text of images in it.
    pub text: String,
    /// Whether the link has `rel=nofollow`. [`Page::robots`] may apply to all links of the page.
    pub nofollow: bool,
}

/// The optional parts of a page. Links, robots directives, base, canonical URL and refresh are always read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Title, headings, text, description and the text of the links. Without it these are empty. If the page then has
    /// more than [`Limits::links_max`] links, links with equal spelling count once.
    pub text: bool,
    /// The language, by the text if that is read, else by the declaration of the page.
    pub language: bool,
}

impl Wanted {
    /// Links and directives only, for a crawler.
    pub const LINKS: Self = Self { text: false, language: false };
    /// All parts.
    pub const ALL: Self = Self { text: true, language: true };
}

/// Returns whether the caller already knows a normalised URL, so that links to it can be left out.
pub type Known<'a> = &'a dyn Fn(&str) -> bool;

/// The parameters of reading a page.
pub(crate) struct Reading<'a> {
    /// The URL of the page.
    pub(crate) url: &'a Url,
    pub(crate) wanted: Wanted,
    pub(crate) known: Known<'a>,
    pub(crate) limits: &'a Limits,
}

impl Page {
    pub(crate) fn blank(charset: Charset) -> Self {
        Self {
            title: String::new(),
            headings: Vec::new(),
            text: String::new(),
            text_is_cut: false,
            description: String::new(),
            links: Vec::new(),
            links_too_long: 0,
            canonical: None,
            refresh: None,
            language: String::new(),
            robots: Directives::default(),
            charset,
        }
    }
}
