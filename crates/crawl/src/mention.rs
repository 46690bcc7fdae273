//! Where a URL was found: whether an archived answer names it, and how.
//!
//! What lives here: [`Mentions`], which reads one record at a time for one URL. What does not: which
//! records there are, and how the answer is told (`crivello why`).
//!
//! **Invariant.** A record is read as the crawl read it, but that nothing is refused: a link out of
//! scope is a mention too.

use archive::{Kind, Record, parse_http};
use page::{Limits, Url};
use serde::Serialize;

use crate::answer::{Answers, Purpose};
use crate::config::{Config, Scope};
use crate::error::CrawlError;
use crate::journal::Entry;
use crate::rules::Rules;

/// How an answer names a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mention {
    /// As a link to be followed.
    Link,
    /// As a link that is not to be followed, by its own word or that of its page.
    Nofollow,
    /// As the place to which it redirects.
    Redirect,
    /// In a sitemap.
    Sitemap,
    /// In a robots.txt, as a sitemap.
    Robots,
}

impl Mention {
    /// Whether a crawl follows it.
    pub fn is_followed(self) -> bool {
        self != Mention::Nofollow
    }
}

/// Reads records for mentions of a URL.
pub struct Mentions {
    answers: Answers,
    limits: Limits,
    decoded_bytes_max: usize,
}

impl Mentions {
    /// A reader with the limits of a crawl, and none of its rules.
    pub fn new(config: &Config) -> Result<Mentions, CrawlError> {
        let open = Config {
            scope: Scope::Any,
            follow: true,
            sitemaps: true,
            url_bytes_max: usize::MAX,
            path_repeats_max: usize::MAX,
            query_parameters_max: usize::MAX,
            skip_extensions: Vec::new(),
            calendar_years: [0, u16::MAX],
            normalise: Vec::new(),
            fetch_filter: String::new(),
            parse_filter: String::new(),
            store_filter: String::new(),
            link_filter: String::new(),
            ..config.clone()
        };
        let limits = Limits {
            body_bytes_max: open.decoded_bytes_max,
            links_max: open.links_per_page_max,
            ..Limits::default()
        };
        let decoded_bytes_max = open.decoded_bytes_max;
        let answers = Answers::new(&open, Rules::new(&open, &[])?, None);
        Ok(Mentions { answers, limits, decoded_bytes_max })
    }

    /// How `record` names the normalised `url`, if it does.
    pub fn find(&self, record: &Record, url: &str) -> Option<Mention> {
        if record.kind != Kind::Response {
            return None;
        }
        let (entry, target) = (Entry::read(record)?, record.target.as_deref()?);
        let http = parse_http(&record.block).ok()?;
        let answered = self.answers.read(entry.purpose, target, &http, record.date_s, entry.depth);
        let harvest = answered.harvest;
        if harvest.redirect.as_deref() == Some(url) {
            return Some(Mention::Redirect);
        }
        if harvest.links.iter().any(|link| link == url) {
            let is_page = entry.purpose == Purpose::Page;
            return Some(if is_page { Mention::Link } else { Mention::Sitemap });
        }
        if harvest.sitemaps.iter().any(|sitemap| sitemap == url) {
            let is_robots = entry.purpose == Purpose::Robots;
            return Some(if is_robots { Mention::Robots } else { Mention::Sitemap });
        }
        if entry.purpose != Purpose::Page || http.status != 200 {
            return None;
        }
        let body = http.decoded_body(self.decoded_bytes_max).ok()?;
        let base = Url::parse(target).ok()?;
        let page = page::parse(&base, http.header("Content-Type"), &body, &self.limits).ok()?;
        let named = page.links.iter().any(|link| link.url.as_str() == url);
        named.then_some(Mention::Nofollow)
    }
}
