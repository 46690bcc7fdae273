//! From an answer to a [`Page`]: which format it is, which charset, and on to the reader of that
//! format.
//!
//! What does not live here: any format (`html/`, `plain.rs`, `markdown.rs`); HTTP. The body has been
//! content-decoded already.
//!
//! **Invariant.** No byte beyond [`Limits::body_bytes_max`] is looked at.

use ::url::Url;

use crate::charset::{self, Charset};
use crate::html::{self, Syntax};
use crate::kind::Kind;
use crate::{Directives, Limits, PageError, binary, language, markdown, plain};

/// What a page says, in text.
#[derive(Clone, Debug)]
pub struct Page {
    /// The title; empty if it has none.
    pub title: String,
    /// The headings in order, without their levels.
    pub headings: Vec<String>,
    /// The text of the body, headings included, the title not; blocks separated by `\n`.
    pub text: String,
    /// Whether there is more of it than [`Limits::text_bytes_max`].
    pub text_is_cut: bool,
    /// What the page says of itself in `<meta name=description>`.
    pub description: String,
    /// The links in order, normalised; the same URL may come several times.
    pub links: Vec<Link>,
    /// How many others, each counted once, are longer than [`Limits::url_bytes_max`]; those that say `rel=nofollow` are
    /// left out.
    pub links_too_long: u64,
    /// The URL that the page names as its own.
    pub canonical: Option<Url>,
    /// Where the page sends its visitor by `<meta http-equiv=refresh>`.
    pub refresh: Option<Url>,
    /// The language, ISO 639-1 where there is a code of two letters; empty if unknown.
    pub language: String,
    /// What `<meta name=robots>` and `<meta name=crivello>` forbid; the HTTP header is the
    /// caller's to add.
    pub robots: Directives,
    /// How the bytes were read.
    pub charset: Charset,
}

/// A link as the page makes it: `a`, `area`, `frame` or `iframe`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub url: Url,
    /// Its words; the alternative text of images in it included.
    pub text: String,
    /// The link itself says `rel=nofollow`; the page may say so for all, see [`Page::robots`].
    pub nofollow: bool,
}

/// What is wanted of a page beside its links, its robots directives, its base, canonical URL and
/// refresh, which are always read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Title, headings, text, description and the words of the links. Without it those are empty, and links
    /// written alike count as one where the page has more than [`Limits::links_max`].
    pub text: bool,
    /// The language, told by the text where that is wanted and by what is declared otherwise.
    pub language: bool,
}

impl Wanted {
    /// Links and directives only: what a crawler needs.
    pub const LINKS: Self = Self { text: false, language: false };
    /// All of them.
    pub const ALL: Self = Self { text: true, language: true };
}

/// Reads all of the `body` of an answer, already content-decoded, that came from `url` with this
/// `Content-Type`.
///
/// Without a content type the name in the URL and the first bytes decide. Whatever the label, a
/// body that is plainly binary is [`PageError::NotText`].
pub fn parse(
    url: &Url,
    content_type: Option<&str>,
    body: &[u8],
    limits: &Limits,
) -> Result<Page, PageError> {
    parse_wanted(url, content_type, body, Wanted::ALL, &|_| false, limits)
}

/// As [`parse`], but only what is wanted, which may be much faster. Links to URLs that are `known` are
/// left out, before they cost anything.
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

/// Whether a body can be read at all, by its label and its first bytes. What [`parse`] refuses for a character
/// farther on is not noticed.
pub fn check(url: &Url, content_type: Option<&str>, body: &[u8]) -> Result<(), PageError> {
    Kind::of(url, content_type, body)?;
    binary::refuse_magic(body)
}

/// Whether the URL, in normal form, is one that nobody needs to be told of.
pub type Known<'a> = &'a dyn Fn(&str) -> bool;

/// How a page is read.
pub(crate) struct Reading<'a> {
    /// Where it was found.
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
