//! From an HTTP response to a [`Page`]: selects the format, decodes the charset, and calls the reader of that
//! format.
//!
//! `html/`, `plain.rs` and `markdown.rs` read the formats. The caller has already removed the HTTP content encoding.
//!
//! **Invariant.** No byte beyond [`Limits::body_bytes_max`] is read.

use ::url::Url;

use crate::charset::{self, Charset};
use crate::html::{self, Syntax};
use crate::kind::Kind;
use crate::{Directives, Limits, PageError, binary, language, markdown, plain};

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

/// Reads all parts of the `body` of a response from `url` with this `Content-Type`. The HTTP content encoding must
/// already be removed.
///
/// Without a content type, the name in the URL and the first bytes decide. A binary body gives
/// [`PageError::NotText`], whatever its content type.
pub fn parse(
    url: &Url,
    content_type: Option<&str>,
    body: &[u8],
    limits: &Limits,
) -> Result<Page, PageError> {
    parse_wanted(url, content_type, body, Wanted::ALL, &|_| false, limits)
}

/// Reads the parts of a page that `wanted` names, which may be much faster than [`parse`]. Links to URLs for which
/// `known` returns true are left out early.
///
/// ```
/// use page::{Limits, Url, Wanted, parse_wanted};
///
/// let url = Url::parse("http://example.com/").expect("a URL");
/// let body = b"<title>Sieves</title><a href=/b>fine</a> <a href=/c>coarse</a>";
/// let known = |url: &str| url == "http://example.com/c";
/// let limits = Limits::default();
/// let page = parse_wanted(&url, Some("text/html"), body, Wanted::LINKS, &known, &limits)?;
/// assert_eq!(page.links.len(), 1);
/// assert!(page.title.is_empty() && page.links[0].text.is_empty());
/// # Ok::<(), page::PageError>(())
/// ```
pub fn parse_wanted(
    url: &Url,
    content_type: Option<&str>,
    body: &[u8],
    wanted: Wanted,
    known: Known<'_>,
    limits: &Limits,
) -> Result<Page, PageError> {
    let body = &body[..body.len().min(limits.body_bytes_max)];
    let kind = Kind::of(url, content_type, body)?;
    binary::refuse_magic(body)?;
    let (text, charset) = charset::decode(url, content_type, body, kind.is_html());
    binary::refuse_controls(&text)?;
    let mut page = Page::blank(charset);
    let mut declared = String::new();
    let reading = Reading { url, wanted, known, limits };
    match kind {
        Kind::Html => declared = html::read(&mut page, &text, Syntax::Html, &reading),
        Kind::Xhtml => declared = html::read(&mut page, &text, Syntax::Xml, &reading),
        Kind::Plain if wanted.text => plain::read(&mut page, &text, limits),
        Kind::Plain => {}
        Kind::Markdown => declared = markdown::read(&mut page, &text, &reading),
    }
    if wanted.language {
        page.language = language::identify(&declared, &page.text);
    }
    Ok(page)
}

/// Returns an error if the content type or the first bytes rule out that [`parse`] can read the body. It does not
/// look for foreign characters, which [`parse`] may refuse.
pub fn check(url: &Url, content_type: Option<&str>, body: &[u8]) -> Result<(), PageError> {
    Kind::of(url, content_type, body)?;
    binary::refuse_magic(body)
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
    fn blank(charset: Charset) -> Self {
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
