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

use crate::answer::{Answers, Links, Purpose};
use crate::config::{Config, Scope};
use crate::error::CrawlError;
use crate::journal::{Entry, read_unstored};
use crate::normalisation::Normalisation;
use crate::outcome::Harvest;
use crate::rules::Rules;

/// How an answer names a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mention {
    /// As a link to be followed.
    Link,
    /// As a link that is not to be followed, by its own word or that of its page.
    Nofollow,
    /// As a link that stands after more links of the page than the crawl reads.
    Beyond,
    /// As a link that `parse_filter` or `link_filter` keeps from being followed.
    Filtered,
    /// As the place to which it redirects.
    Redirect,
    /// In a sitemap.
    Sitemap,
    /// In an index of sitemaps, as a sitemap.
    Index,
    /// In a robots.txt, as a sitemap.
    Robots,
}

impl Mention {
    /// Whether a crawl with this configuration follows it.
    pub fn is_followed(self, config: &Config) -> bool {
        match self {
            Mention::Nofollow | Mention::Beyond | Mention::Filtered => false,
            Mention::Link => config.follow,
            Mention::Robots => config.follow && config.sitemaps,
            Mention::Redirect | Mention::Sitemap | Mention::Index => true,
        }
    }

    /// Whether it names a sitemap, and not a page.
    pub fn is_of_sitemap(self) -> bool {
        matches!(self, Mention::Index | Mention::Robots)
    }
}

/// Reads records for mentions of a URL.
pub struct Mentions {
    answers: Answers,
    /// Reads with the filters of links, if there are some.
    filtered: Option<Answers>,
    limits: Limits,
    decoded_bytes_max: usize,
    links_per_page_max: usize,
    normalise: Vec<Normalisation>,
}

impl Mentions {
    /// A reader with the limits of a crawl and its filters of links, and none of its rules.
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
            links_max: usize::MAX,
            ..Limits::default()
        };
        let (parse_filter, link_filter) = (config.parse_filter.clone(), config.link_filter.clone());
        let has_filters = !parse_filter.is_empty() || !link_filter.is_empty();
        let strict = Config { parse_filter, link_filter, ..open.clone() };
        let reader = |config: &Config| {
            Ok::<_, CrawlError>(Answers::new(config, Rules::new(config, &[])?, None))
        };
        Ok(Mentions {
            answers: reader(&open)?,
            filtered: has_filters.then(|| reader(&strict)).transpose()?,
            limits,
            decoded_bytes_max: config.decoded_bytes_max,
            links_per_page_max: config.links_per_page_max,
            normalise: config.normalise.clone(),
        })
    }

    /// Whether a link is one to `url`, as it stands or as the crawl visits it.
    fn is_to(&self, link: &str, url: &str) -> bool {
        let visits = |link| Normalisation::apply(&self.normalise, link).as_str() == url;
        link == url
            || Normalisation::may_change(&self.normalise, link)
                && Url::parse(link).is_ok_and(visits)
    }

    /// How `record` names the normalised `url`, if it does.
    pub fn find(&self, record: &Record, url: &str) -> Option<Mention> {
        let (entry, target) = (Entry::read(record)?, record.target.as_deref()?);
        if let Some(unstored) = read_unstored(record) {
            return self.find_in(unstored.harvest, entry.purpose, url);
        }
        if record.kind != Kind::Response {
            return None;
        }
        let http = parse_http(&record.block).ok()?;
        let read = |answers: &Answers| {
            let Entry { purpose, depth, .. } = entry;
            let answered = answers.read(purpose, target, &http, record.date_s, depth, Links::All);
            self.find_in(answered.harvest, purpose, url)
        };
        let mut found = read(&self.answers);
        if found == Some(Mention::Link)
            && self.filtered.as_ref().is_some_and(|filtered| read(filtered).is_none())
        {
            found = Some(Mention::Filtered);
        }
        if found.is_some() || entry.purpose != Purpose::Page || http.status != 200 {
            return found;
        }
        let body = http.decoded_body(self.decoded_bytes_max).ok()?;
        let base = Url::parse(target).ok()?;
        let page = page::parse(&base, http.header("Content-Type"), &body, &self.limits).ok()?;
        let at = page.links.iter().position(|link| self.is_to(link.url.as_str(), url))?;
        Some(if at < self.links_per_page_max { Mention::Nofollow } else { Mention::Beyond })
    }

    /// How what an answer leads to names `url`.
    fn find_in(&self, harvest: Harvest, purpose: Purpose, url: &str) -> Option<Mention> {
        if harvest.redirect.is_some_and(|link| self.is_to(&link, url)) {
            return Some(Mention::Redirect);
        }
        if harvest.links.iter().any(|link| self.is_to(link, url)) {
            return Some(if purpose == Purpose::Page { Mention::Link } else { Mention::Sitemap });
        }
        let is_sitemap = harvest.sitemaps.iter().any(|sitemap| sitemap == url);
        let is_robots = purpose == Purpose::Robots;
        is_sitemap.then_some(if is_robots { Mention::Robots } else { Mention::Index })
    }
}
