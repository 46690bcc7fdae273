//! The fields of a filter, and where each of them is known.
//!
//! What lives here: [`Point`], [`Facts`] and the fields that name them. What does not: comparisons
//! (`expression.rs`).
//!
//! **Invariant.** A filter that compiled for a point uses only fields that are known there.

use page::Url;

/// The place of a filter in the crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// Before a URL is queued: `fetch_filter`.
    Fetch,
    /// Before a page is parsed for links: `parse_filter`.
    Parse,
    /// Before a page is archived: `store_filter`.
    Store,
    /// Before a link is followed: `link_filter`.
    Link,
}

impl Point {
    /// Returns the key of the configuration.
    pub fn key(self) -> &'static str {
        match self {
            Point::Fetch => "fetch_filter",
            Point::Parse => "parse_filter",
            Point::Store => "store_filter",
            Point::Link => "link_filter",
        }
    }
}

/// The facts that a filter is evaluated on; unknown facts have their default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    /// The URL in question.
    pub url: Option<&'a Url>,
    /// Content type, as sent by the server.
    pub content_type: &'a str,
    /// Language of the page, two letters; empty if unknown.
    pub language: &'a str,
    /// Bytes of the body as sent.
    pub length: u64,
    /// Status of the answer.
    pub status: u16,
    /// Distance in links from the first page of the site.
    pub depth: u32,
    /// Whether the page has `noindex`.
    pub noindex: bool,
    /// Whether the page has `nofollow`.
    pub nofollow: bool,
    /// Whether the same bytes were archived before under another URL.
    pub duplicate: bool,
    /// The page that has the link.
    pub from: Option<&'a Url>,
    /// The text of the link.
    pub anchor: &'a str,
}

/// The name of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Url,
    Scheme,
    Host,
    Path,
    Query,
    Ext,
    Levels,
    Type,
    Lang,
    Length,
    Status,
    Depth,
    Noindex,
    Nofollow,
    Duplicate,
    Offsite,
    From,
    Anchor,
}

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Flag,
}

impl Field {
    pub(super) const ALL: [Field; 18] = [
        Field::Url,
        Field::Scheme,
        Field::Host,
        Field::Path,
        Field::Query,
        Field::Ext,
        Field::Levels,
        Field::Type,
        Field::Lang,
        Field::Length,
        Field::Status,
        Field::Depth,
        Field::Noindex,
        Field::Nofollow,
        Field::Duplicate,
        Field::Offsite,
        Field::From,
        Field::Anchor,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Field::Url => "url",
            Field::Scheme => "scheme",
            Field::Host => "host",
            Field::Path => "path",
            Field::Query => "query",
            Field::Ext => "ext",
            Field::Levels => "levels",
            Field::Type => "type",
            Field::Lang => "lang",
            Field::Length => "length",
            Field::Status => "status",
            Field::Depth => "depth",
            Field::Noindex => "noindex",
            Field::Nofollow => "nofollow",
            Field::Duplicate => "duplicate",
            Field::Offsite => "offsite",
            Field::From => "from",
            Field::Anchor => "anchor",
        }
    }

    pub(super) fn kind(self) -> Kind {
        match self {
            Field::Levels | Field::Length | Field::Status | Field::Depth => Kind::Number,
            Field::Noindex | Field::Nofollow | Field::Duplicate | Field::Offsite => Kind::Flag,
            _ => Kind::Text,
        }
    }

    /// Returns the points where the field is known.
    pub(super) fn points(self) -> &'static [Point] {
        match self {
            Field::Url
            | Field::Scheme
            | Field::Host
            | Field::Path
            | Field::Query
            | Field::Ext
            | Field::Levels => &[Point::Fetch, Point::Parse, Point::Store, Point::Link],
            Field::Depth => &[Point::Parse, Point::Store, Point::Link],
            Field::Type
            | Field::Lang
            | Field::Length
            | Field::Status
            | Field::Noindex
            | Field::Nofollow => &[Point::Parse, Point::Store],
            Field::Duplicate => &[Point::Store],
            Field::Offsite | Field::From | Field::Anchor => &[Point::Link],
        }
    }

    /// Returns whether the field is known only after parsing the page.
    pub(super) fn is_of_page(self) -> bool {
        matches!(self, Field::Lang | Field::Noindex | Field::Nofollow)
    }

    /// Returns whether the field is a property of the link.
    pub(super) fn is_of_link(self) -> bool {
        matches!(self, Field::Depth | Field::Offsite | Field::From | Field::Anchor)
    }

    /// Returns whether `A` and `a` are equal.
    pub(super) fn ignores_case(self) -> bool {
        matches!(self, Field::Scheme | Field::Host | Field::Ext | Field::Type | Field::Lang)
    }

    pub(super) fn text<'a>(self, facts: &Facts<'a>) -> &'a str {
        let url = facts.url;
        match self {
            Field::Url => url.map_or("", Url::as_str),
            Field::Scheme => url.map_or("", Url::scheme),
            Field::Host => url.and_then(Url::host_str).unwrap_or_default(),
            Field::Path => url.map_or("", Url::path),
            Field::Query => url.and_then(Url::query).unwrap_or_default(),
            Field::Ext => url.and_then(|url| extension(url.path())).unwrap_or_default(),
            Field::Type => facts.content_type.split(';').next().unwrap_or_default().trim(),
            Field::Lang => facts.language,
            Field::From => facts.from.map_or("", Url::as_str),
            Field::Anchor => facts.anchor,
            _ => "",
        }
    }

    pub(super) fn number(self, facts: &Facts<'_>) -> u64 {
        match self {
            Field::Levels => facts.url.map_or(0, |url| levels(url.path())),
            Field::Length => facts.length,
            Field::Status => facts.status.into(),
            Field::Depth => facts.depth.into(),
            _ => 0,
        }
    }

    pub(super) fn flag(self, facts: &Facts<'_>) -> bool {
        match self {
            Field::Noindex => facts.noindex,
            Field::Nofollow => facts.nofollow,
            Field::Duplicate => facts.duplicate,
            Field::Offsite => {
                let place = |url: &'_ Url| url.port_or_known_default();
                match (facts.url, facts.from) {
                    (Some(url), Some(from)) => {
                        url.host_str() != from.host_str() || place(url) != place(from)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }
}

/// Returns the extension of the last segment of a path, without its dot.
pub(crate) fn extension(path: &str) -> Option<&str> {
    let (_, name) = path.rsplit_once('/')?;
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty() && extension.len() <= 8).then_some(extension)
}

fn levels(path: &str) -> u64 {
    path.bytes().filter(|&byte| byte == b'/').count() as u64
}
