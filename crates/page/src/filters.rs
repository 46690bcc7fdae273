//! Filters: terms of a document that say what it is as a whole, to choose documents by.
//!
//! | term | document |
//! |---|---|
//! | `site::HOST` | of that host; and of each domain above it (lower case, Punycode) |
//! | `lang::CODE` | in that language |
//! | `type::ENDING` | whose address ends so; `html` if it has no ending |
//! | `link::HASH` | with a link to the URL of that hash |
//! | `date::2026`, `date::2026-03`, `date::2026-03-15` | of that day |
//!
//! What lives here: the spelling of these terms, for whoever builds an index and whoever asks it. What does not: where
//! they are put.
//!
//! A word may hold a colon between two letters (WB6 of UAX #29), but never two in a row, so nothing on a page can pass
//! for a filter.
//!
//! **Invariant.** What is spelt here is part of every index: a change of it makes filters of old indexes find nothing.

use ::url::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::Day;

/// Longest ending of a file name.
const ENDING_BYTES_MAX: usize = 10;

/// Which kind of filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// By host.
    Site,
    /// By language.
    Language,
    /// By the ending of the address.
    FileType,
    /// By what is linked to.
    Link,
    /// By date.
    Date,
}

impl Filter {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Site, Self::Language, Self::FileType, Self::Link, Self::Date];

    /// What its terms begin with.
    pub fn beginning(self) -> &'static str {
        match self {
            Self::Site => "site::",
            Self::Language => "lang::",
            Self::FileType => "type::",
            Self::Link => "link::",
            Self::Date => "date::",
        }
    }

    /// The term of a value.
    pub fn term(self, value: &str) -> String {
        format!("{}{value}", self.beginning())
    }

    /// The terms of an address: hosts and ending. None if it has no host.
    pub fn of_url(url: &Url) -> Vec<String> {
        // `example.org.` is `example.org`, said with the dot of the root.
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

    /// The terms of a day: year, month, day.
    pub fn of_day(day: Day) -> [String; 3] {
        [Self::of_year(day), Self::of_month(day), Self::of_single_day(day)]
    }

    /// The term of all days of the same year.
    pub fn of_year(day: Day) -> String {
        Self::Date.term(&format!("{:04}", day.year()))
    }

    /// The term of all days of the same month.
    pub fn of_month(day: Day) -> String {
        Self::Date.term(&format!("{:04}-{:02}", day.year(), day.month()))
    }

    /// The term of this one day.
    pub fn of_single_day(day: Day) -> String {
        Self::Date.term(&format!("{:04}-{:02}-{:02}", day.year(), day.month(), day.day()))
    }
}

/// The ending of the last name in the path of an address, in lower case.
fn ending(url: &Url) -> Option<String> {
    let (_, name) = url.path().rsplit_once('/')?;
    let (stem, ending) = name.rsplit_once('.')?;
    file_type(ending).filter(|_| !stem.is_empty())
}

/// An ending of file names as filters have it; `None` if it is none.
pub fn file_type(ending: &str) -> Option<String> {
    let is_ending = (1..=ENDING_BYTES_MAX).contains(&ending.len())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_ending.then(|| ending.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_the_terms_of_its_hosts_and_its_ending() {
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
    fn the_spelling_of_links_and_days_does_not_change() {
        assert_eq!(Filter::of_link("http://example.org/"), "link::b73dc5b066f53581");
        let day = Day::of_second(1_773_532_800).expect("a day");
        assert_eq!(Filter::of_day(day), ["date::2026", "date::2026-03", "date::2026-03-15"]);
    }
}
