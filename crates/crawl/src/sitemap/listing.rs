//! The addresses in an XML document: a sitemap, an index of sitemaps, or a feed.
//!
//! What lives here: which elements are entries, addresses and dates in each of the formats, and their order. What
//! does not: the markup (`xml.rs`), and plain text (`sitemap.rs`).
//!
//! **Invariant.** At most [`URLS_MAX`] addresses come out, those changed last first, and only whole ones: an
//! element without an end tag has none. A document whose root element has no end tag was truncated.
//!
//! Reference: sitemaps.org, protocol 0.9; RSS 2.0 and 1.0; Atom 1.0 (RFC 4287) and 0.3.

use super::xml::{Scanner, Tag, Value};
use super::{Sitemap, URLS_MAX, is_absolute};

/// Returns whether a document has a known format, by its root element.
pub(super) fn is_listing(text: &str) -> bool {
    Scanner::new(text).next_tag().is_some_and(|tag| Format::of(tag).is_some())
}

/// The format of a document, by its root element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// A sitemap.
    List,
    /// An index of sitemaps.
    Index,
    Rss,
    Atom,
}

/// The role of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Entry,
    Address,
    /// The permanent identifier of an entry, which may be its address.
    Guid,
    Date,
    /// Addresses in it do not belong to the entry.
    Foreign,
}

impl Format {
    fn of(root: Tag<'_>) -> Option<Format> {
        match root.name {
            "urlset" => Some(Format::List),
            "sitemapindex" => Some(Format::Index),
            "rss" | "RDF" => Some(Format::Rss),
            "feed" => Some(Format::Atom),
            _ => None,
        }
    }

    /// Returns the role of elements of this name, in the namespace of the root.
    fn role(self, name: &str) -> Option<Role> {
        let (entry, address, dates): (_, _, &[_]) = match self {
            Format::List => ("url", "loc", &["lastmod"]),
            Format::Index => ("sitemap", "loc", &["lastmod"]),
            Format::Rss => ("item", "link", &["pubDate"]),
            Format::Atom => ("entry", "link", &["updated", "modified"]),
        };
        match name {
            _ if name == entry => Some(Role::Entry),
            _ if name == address => Some(Role::Address),
            "source" if self == Format::Atom => Some(Role::Foreign),
            "guid" if self == Format::Rss => Some(Role::Guid),
            _ => dates.contains(&name).then_some(Role::Date),
        }
    }

    /// Returns whether an address counts only inside an entry: a feed also has its own address.
    fn is_feed(self) -> bool {
        matches!(self, Format::Rss | Format::Atom)
    }
}

/// Reads the addresses in the namespace of the root; those of images and videos are in other namespaces.
pub(super) fn read(text: &str, is_cut: bool) -> Sitemap {
    let mut scanner = Scanner::new(text);
    let Some((root, format)) = scanner.next_tag().and_then(|root| Some((root, Format::of(root)?)))
    else {
        return Sitemap { is_cut, ..Sitemap::default() };
    };
    // In RSS 1.0 only the root is of another namespace.
    let prefix = if root.name == "RDF" { "" } else { root.prefix };
    let mut listing = Listing::new(format);
    let (mut is_ended, mut has_room) = (root.is_empty(), true);
    while has_room && let Some(tag) = scanner.next_tag() {
        is_ended |= tag.is_end && (tag.prefix, tag.name) == (root.prefix, root.name);
        let Some(role) = format.role(tag.name).filter(|_| tag.prefix == prefix) else { continue };
        has_room = listing.take(role, tag, &mut scanner);
    }
    listing.urls.sort_by_key(|(date, _)| std::cmp::Reverse(*date));
    Sitemap {
        is_index: format == Format::Index,
        urls: listing.urls.into_iter().map(|(_, url)| url).collect(),
        is_cut: is_cut || !has_room || !is_ended,
    }
}

/// The addresses read so far, and the state of the current entry.
struct Listing {
    format: Format,
    /// Each with the day of its last change.
    urls: Vec<(Option<Day>, String)>,
    place: Place,
    /// Whether the entry has an address.
    has_address: bool,
    /// The day of an entry that has no address yet, and the address to use if no other comes.
    date: Option<Day>,
    guid: Option<String>,
}

/// The position in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Outside of entries.
    Outside,
    Entry,
    /// In an entry, inside an element whose addresses are foreign.
    Foreign,
}

impl Listing {
    fn new(format: Format) -> Listing {
        let place = if format.is_feed() { Place::Outside } else { Place::Entry };
        let (urls, has_address, date, guid) = (Vec::new(), false, None, None);
        Listing { format, urls, place, has_address, date, guid }
    }

    /// Handles an element; returns `false` if the maximum of URLs is reached.
    fn take(&mut self, role: Role, tag: Tag<'_>, scanner: &mut Scanner<'_>) -> bool {
        match role {
            Role::Entry => {
                let guid = self.guid.take().filter(|_| tag.is_end && !self.has_address);
                let has_room = guid.is_none_or(|guid| self.push(guid));
                (self.has_address, self.date) = (false, None);
                let is_over = tag.is_end && self.format.is_feed();
                self.place = if is_over { Place::Outside } else { Place::Entry };
                return has_room;
            }
            Role::Foreign if self.place != Place::Outside => {
                self.place = if tag.is_end { Place::Entry } else { Place::Foreign };
            }
            _ if tag.is_end || self.place != Place::Entry => {}
            Role::Date => {
                let day = day(&scanner.value().text);
                match self.urls.last_mut().filter(|_| self.has_address) {
                    Some(last) => last.0 = last.0.or(day),
                    None => self.date = day,
                }
            }
            Role::Address => {
                let url = address(scanner, tag, self.format).and_then(whole);
                return url.is_none_or(|url| self.push(url));
            }
            Role::Guid => {
                let says = scanner.attribute(tag, "isPermaLink");
                let says_no = says.is_some_and(|says| says.text.eq_ignore_ascii_case("false"));
                let is_address = |url: &String| is_absolute(url) && !says_no;
                self.guid = whole(scanner.value()).filter(is_address);
            }
            Role::Foreign => {}
        }
        true
    }

    /// Adds an address; returns `false` if the maximum of URLs is reached.
    fn push(&mut self, url: String) -> bool {
        if self.urls.len() == URLS_MAX {
            return false;
        }
        self.urls.push((self.date.take(), url));
        self.has_address = true;
        true
    }
}

/// Returns the address in a value, if it is complete.
fn whole(value: Value) -> Option<String> {
    let is_whole = value.is_ended && value.is_explained;
    Some(value.text).filter(|text| !text.is_empty() && is_whole)
}

/// Returns the address in an element; in Atom only that of the page, not of comments or images.
fn address(scanner: &mut Scanner<'_>, tag: Tag<'_>, format: Format) -> Option<Value> {
    if format != Format::Atom {
        return Some(scanner.value());
    }
    let rel = scanner.attribute(tag, "rel");
    let is_page = rel.is_none_or(|rel| rel.text.eq_ignore_ascii_case("alternate"));
    scanner.attribute(tag, "href").filter(|_| is_page)
}

/// Year, month and day; a missing month or day is 1.
type Day = (u16, u8, u8);

/// Parses the day of a date in the format of the W3C (`2026`, `2026-11`, `2026-11-15`, `2026-11-15T10:00:00Z`) or
/// of mail (`Sun, 15 Nov 2026 10:00:00 +0100`).
fn day(text: &str) -> Option<Day> {
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).take(4).collect();
    let (year, month, day) = match words[..] {
        [day, month, year, _] if month.parse::<u8>().is_err() && day.parse::<u8>().is_ok() => {
            (year, month_number(month)?, day.parse().ok()?)
        }
        [_, day, month, year] => (year, month_number(month)?, day.parse().ok()?),
        _ => {
            let mut parts = text.split('T').next()?.split('-');
            let year = parts.next()?;
            let mut number = || parts.next().map_or(Some(1), |part| part.parse().ok());
            (year, number()?, number()?)
        }
    };
    let year = Some(year).filter(|year| year.len() == 4)?.parse().ok()?;
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((year, month, day))
}

fn month_number(name: &str) -> Option<u8> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let place = MONTHS.iter().position(|month| name.eq_ignore_ascii_case(month))?;
    u8::try_from(place + 1).ok()
}
