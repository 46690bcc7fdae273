//! From an HTTP response to a [`Page`]: selects the format, decodes the charset, and calls the reader of that
//! format.
//!
//! `html/`, `plain.rs` and `markdown.rs` read the formats. The caller has already removed the HTTP content encoding.
//!
//! **Invariant.** No byte beyond [`Limits::body_bytes_max`] is read.

use ::url::Url;

use crate::charset;
use crate::content::{Known, Page, Reading, Wanted};
use crate::html::{self, Syntax};
use crate::kind::Kind;
use crate::{Limits, PageError, binary, language, markdown, plain};

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
