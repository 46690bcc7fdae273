//! Filters: terms that describe a whole document, so that queries can select documents by them.
//!
//! | term | document |
//! |---|---|
//! | `site::HOST` | of that host, or of a host below that domain (lower case, Punycode) |
//! | `lang::CODE` | in that language |
//! | `type::ENDING` | whose URL has that file name extension; `html` if it has none |
//! | `link::HASH` | with a link to the URL of that hash |
//! | `date::2026`, `date::2026-03`, `date::2026-03-15` | of that year, month or day |
//!
//! The index and the query use this one spelling. Other crates write the terms to the index.
//!
//! A word may hold a colon between two letters (WB6 of UAX #29), but never two colons in a row. So no word on a page
//! equals a filter.
//!
//! **Invariant.** The spelling never changes, because existing indexes contain it.

use ::url::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::Day;

/// Bytes of the longest file name extension.
const ENDING_BYTES_MAX: usize = 10;

/// The kind of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The host, or a domain above it.
    Site,
    /// The language.
    Language,
    /// The file name extension of the URL.
    FileType,
    /// The target of a link.
    Link,
    /// The date.
    Date,
}

impl Filter {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Site, Self::Language, Self::FileType, Self::Link, Self::Date];

    /// The prefix of the terms of this kind.
    pub fn beginning(self) -> &'static str {
        match self {
            Self::Site => "site::",
            Self::Language => "lang::",
            Self::FileType => "type::",
            Self::Link => "link::",
            Self::Date => "date::",
        }
    }

    /// The term of this kind for a value.
    pub fn term(self, value: &str) -> String {
        format!("{}{value}", self.beginning())
    }

    /// The terms of a URL: host, domains above it, and extension. Empty if the URL has no host.
    pub fn of_url(url: &Url) -> Vec<String> {
        // `example.org.` is `example.org` with the dot of the root.
        let Some(host) = url.host_str().map(|host| host.trim_end_matches('.')) else {
            return Vec::new();
        };
        let mut terms = vec![Self::Site.term(host)];
        let mut above = host.split_once('.').filter(|_| url.domain().is_some());
        while let Some((_, domain)) = above {
            terms.push(Self::Site.term(domain));
            above = domain.split_once('.');
        }
        let ending = ending(url).unwrap_or_else(|| "html".to_owned());
        if matches!(ending.as_str(), "htm" | "xhtml" | "shtml") {
            terms.push(Self::FileType.term("html"));
        }
        terms.push(Self::FileType.term(&ending));
        terms
    }

    /// The term of a link to a normalised URL.
    pub fn of_link(target: &str) -> String {
        format!("{}{:016x}", Self::Link.beginning(), xxh3_64(target.as_bytes()))
    }

    /// The terms of a day: for its year, its month and the day.
    pub fn of_day(day: Day) -> [String; 3] {
        [Self::of_year(day), Self::of_month(day), Self::of_single_day(day)]
    }

    /// The term of the year of a day.
    pub fn of_year(day: Day) -> String {
        Self::Date.term(&format!("{:04}", day.year()))
    }

    /// The term of the month of a day.
    pub fn of_month(day: Day) -> String {
        Self::Date.term(&format!("{:04}-{:02}", day.year(), day.month()))
    }

    /// The term of a single day.
    pub fn of_single_day(day: Day) -> String {
        Self::Date.term(&format!("{:04}-{:02}-{:02}", day.year(), day.month(), day.day()))
    }
}

/// The file name extension of a URL, in lower case.
fn ending(url: &Url) -> Option<String> {
    let (_, name) = url.path().rsplit_once('/')?;
    let (stem, ending) = name.rsplit_once('.')?;
    file_type(ending).filter(|_| !stem.is_empty())
}

/// The extension in lower case. `None` unless it has 1 to 10 ASCII letters and digits.
pub fn file_type(ending: &str) -> Option<String> {
    let is_ending = (1..=ENDING_BYTES_MAX).contains(&ending.len())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_ending.then(|| ending.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_terms_of_its_hosts_and_extension() {
        for (url, expected) in [
            (
                "https://www.example.org/a/b.PDF?x=.y",
                "site::www.example.org site::example.org site::org type::pdf",
            ),
            ("http://example.org./", "site::example.org site::org type::html"),
            ("http://127.0.0.1/v1.2/notes", "site::127.0.0.1 type::html"),
            ("http://a.test/x.htm", "site::a.test site::test type::html type::htm"),
            ("http://a.test/.profile", "site::a.test site::test type::html"),
            ("http://a.test/x.not-an-ending", "site::a.test site::test type::html"),
            ("urn:crivello:7.txt", ""),
        ] {
            let terms = Filter::of_url(&Url::parse(url).expect("a URL"));
            assert_eq!(terms.join(" "), expected, "{url}");
        }
    }

    #[test]
    fn the_terms_of_links_and_days_are_stable() {
        assert_eq!(Filter::of_link("http://example.org/"), "link::b73dc5b066f53581");
        let day = Day::of_second(1_773_532_800).expect("a day");
        assert_eq!(Filter::of_day(day), ["date::2026", "date::2026-03", "date::2026-03-15"]);
    }
}
