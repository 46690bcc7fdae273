//! Where a URL was found: whether an archived answer names it, and how.
//!
//! What lives here: [`ReferenceFinder`], which reads one record at a time for one URL. What does not: which records there
//! are, and how the result is printed (`crivello why`).
//!
//! **Invariant.** A record is parsed as the crawl parsed it, except that nothing is refused: a link out of scope
//! is a mention too.

use archive::{HttpResponse, Kind, Record, parse_http};
use page::{Limits, Url};
use serde::Serialize;

use crate::answer::{Answers, Links, Purpose, SITEMAP_BROKEN, SITEMAP_CUT, URLS_BYTES_MAX};
use crate::clock::Moment;
use crate::config::Config;
use crate::error::CrawlError;
use crate::journal::{Entry, read_unstored};
use crate::normalisation::Normalisation;
use crate::outcome::Harvest;
use crate::rules::Rules;

/// How an answer names a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reference {
    /// As a link to follow.
    Link,
    /// As a link that its own `nofollow` or that of its page excludes.
    Nofollow,
    /// As a link beyond `links_per_page_max`.
    Beyond,
    /// As a URL beyond the limit on bytes of URLs of one answer.
    BeyondBytes,
    /// As a link that `parse_filter` or `link_filter` refuses.
    Filtered,
    /// As the target of its redirect.
    Redirect,
    /// In a sitemap, as a page.
    Sitemap,
    /// In an index of sitemaps, as a sitemap.
    Index,
    /// In a robots.txt, as a sitemap.
    Robots,
    /// As the canonical URL of the page.
    Canonical,
}

/// The limit that an answer exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    /// Links: `links_per_page_max`.
    Links,
    /// Bytes of the URLs that it leads to: [`crate::URLS_BYTES_MAX`].
    Bytes,
    /// Bytes or URLs of a sitemap: `sitemap_bytes_max` and [`crate::SITEMAP_URLS_MAX`].
    Sitemap,
    /// No limit: a sitemap is truncated or cannot be decompressed.
    Broken,
}

impl Reference {
    /// Returns whether it names the URL as a sitemap.
    pub fn is_of_sitemap(self) -> bool {
        matches!(self, Reference::Index | Reference::Robots)
    }

    /// Returns whether a crawl with this configuration follows it.
    pub fn is_followed(self, config: &Config) -> bool {
        match self {
            Reference::Nofollow
            | Reference::Beyond
            | Reference::BeyondBytes
            | Reference::Filtered
            | Reference::Canonical => false,
            Reference::Link => config.follow,
            Reference::Robots => config.follow && config.sitemaps,
            Reference::Redirect | Reference::Sitemap | Reference::Index => true,
        }
    }
}

/// Reads records for mentions of a URL.
pub struct ReferenceFinder {
    answers: Answers,
    /// A reader with the filters of links, if there are any.
    filtered: Option<Answers>,
    /// A reader without the limit on the number of links, but with the limit on their bytes.
    uncounted: Answers,
    /// A reader without either limit.
    unlimited: Answers,
    limits: Limits,
    decoded_bytes_max: usize,
    normalise: Vec<Normalisation>,
}

impl ReferenceFinder {
    /// Creates a reader with the limits of a crawl and its filters of links, but without its rules.
    pub fn new(config: &Config) -> Result<ReferenceFinder, CrawlError> {
        let open = Config {
            follow: true,
            sitemaps: true,
            url_bytes_max: usize::MAX,
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
        let read =
            |rules: &Config| Answers::new(rules, Rules::open(rules)?, None).reading_as(config);
        Ok(ReferenceFinder {
            answers: read(&open)?,
            filtered: has_filters.then(|| read(&strict)).transpose()?,
            uncounted: read(&open)?.reading(usize::MAX, URLS_BYTES_MAX),
            unlimited: read(&open)?.reading(usize::MAX, usize::MAX),
            limits,
            decoded_bytes_max: config.decoded_bytes_max,
            normalise: config.normalise.clone(),
        })
    }

    /// Returns whether a link leads to `url`, as written or as normalised.
    fn is_to(&self, link: &str, url: &str) -> bool {
        let visits = |link| Normalisation::apply(&self.normalise, link).as_str() == url;
        link == url
            || Normalisation::may_change(&self.normalise, link)
                && Url::parse(link).is_ok_and(visits)
    }

    /// Returns how `record` names the normalised `url`, if it does.
    pub fn find(&self, record: &Record, url: &str) -> Option<Reference> {
        let (entry, target) = (Entry::read(record)?, record.target.as_deref()?);
        if let Some(unstored) = read_unstored(record) {
            return self.find_in(unstored.harvest, entry.purpose, url);
        }
        if record.kind != Kind::Response {
            return None;
        }
        let http = parse_http(&record.block).ok()?;
        let read = |answers: &Answers| read(answers, &entry, target, &http, record.date_s);
        let find = |answers: &Answers| self.find_in(read(answers), entry.purpose, url);
        let found = match find(&self.answers) {
            Some(Reference::Link)
                if self.filtered.as_ref().is_some_and(|filtered| find(filtered).is_none()) =>
            {
                Some(Reference::Filtered)
            }
            found => found,
        };
        if found.is_some() || http.status != 200 {
            return found;
        }
        if entry.purpose == Purpose::Page {
            let body = http.decoded_body(self.decoded_bytes_max).ok()?;
            let base = Url::parse(target).ok()?;
            let page = page::parse(&base, http.header("Content-Type"), &body, &self.limits).ok()?;
            if !page.links.iter().any(|link| self.is_to(link.url.as_str(), url)) {
                let canonical = page.canonical.filter(|address| self.is_to(address.as_str(), url));
                return canonical.filter(|_| target != url).map(|_| Reference::Canonical);
            }
        }
        // The record names it, but beyond a limit of the crawl.
        if find(&self.uncounted).is_some() {
            return Some(Reference::Beyond);
        }
        if find(&self.unlimited).is_some() {
            return Some(Reference::BeyondBytes);
        }
        (entry.purpose == Purpose::Page).then_some(Reference::Nofollow)
    }

    /// Returns how many URLs the answer in `record` leads to.
    pub fn count(&self, record: &Record) -> usize {
        let (Some(entry), Some(target)) = (Entry::read(record), record.target.as_deref()) else {
            return 0;
        };
        let Ok(http) = parse_http(&record.block) else { return 0 };
        let Harvest { links, sitemaps, .. } =
            read(&self.answers, &entry, target, &http, record.date_s);
        links.len() + sitemaps.len()
    }

    /// Returns the limits that the page in `record` exceeds, so that a crawl does not read all of its URLs.
    pub fn excess(&self, record: &Record) -> Vec<Excess> {
        let (Some(entry), Some(target)) = (Entry::read(record), record.target.as_deref()) else {
            return Vec::new();
        };
        let Ok(http) = parse_http(&record.block) else { return Vec::new() };
        let harvest = |answers| read(answers, &entry, target, &http, record.date_s);
        let refused = harvest(&self.answers).refused;
        let ends = [(SITEMAP_CUT, Excess::Sitemap), (SITEMAP_BROKEN, Excess::Broken)];
        if let Some((_, end)) = ends.into_iter().find(|(name, _)| refused.contains_key(*name)) {
            return vec![end];
        }
        let urls = |answers| {
            let Harvest { links, sitemaps, .. } = harvest(answers);
            links.len() + sitemaps.len()
        };
        let (read, uncounted) = (urls(&self.answers), urls(&self.uncounted));
        let is_more =
            [(Excess::Links, read, uncounted), (Excess::Bytes, uncounted, urls(&self.unlimited))];
        is_more
            .into_iter()
            .filter(|(_, less, more)| less < more)
            .map(|(excess, ..)| excess)
            .collect()
    }

    /// Returns how the parsed answer names `url`.
    fn find_in(&self, harvest: Harvest, purpose: Purpose, url: &str) -> Option<Reference> {
        if harvest.redirect.is_some_and(|link| self.is_to(&link, url)) {
            return Some(Reference::Redirect);
        }
        if harvest.links.iter().any(|link| self.is_to(link, url)) {
            return Some(if purpose == Purpose::Page {
                Reference::Link
            } else {
                Reference::Sitemap
            });
        }
        let is_sitemap = harvest.sitemaps.iter().any(|sitemap| sitemap == url);
        let is_robots = purpose == Purpose::Robots;
        is_sitemap.then_some(if is_robots { Reference::Robots } else { Reference::Index })
    }
}

/// Parses an answer.
fn read(
    answers: &Answers,
    entry: &Entry,
    target: &str,
    http: &HttpResponse<'_>,
    date_s: i64,
) -> Harvest {
    let date = Moment { s: date_s, us: 0 };
    answers.read(entry.purpose, target, http, date, entry.depth, Links::All).harvest
}

#[cfg(test)]
mod tests {
    use archive::Location;

    use super::*;

    /// Returns an answer with that body.
    fn record(purpose: &str, content_type: &str, body: &str) -> Record {
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n{body}");
        Record {
            kind: Kind::Response,
            id: String::new(),
            date_s: 0,
            date_us: 0,
            target: Some("http://a.test/".to_owned()),
            content_type: None,
            headers: vec![("Crivello-Purpose".to_owned(), purpose.to_owned())],
            block: block.into_bytes(),
            location: Location { file: String::new(), offset: 0, length: 0 },
        }
    }

    /// A link that a crawl would refuse counts as a mention.
    #[test]
    fn a_refused_link_counts_as_a_mention() {
        let page = record(
            "page",
            "text/html",
            "<a href='/a;jsessionid=1'>a</a><a href='/b?sid=2'>b</a><a href=/robots.txt>r</a>\
             <a href=/x/x/x/x/x>x</a><a href=/cal/1492/10>c</a><a href=http://b.test/i.png>p</a>\
             <a rel=nofollow href='/n;jsessionid=1'>n</a>",
        );
        let normalise = vec![Normalisation::SessionIds];
        for (normalise, a, b, n) in [
            (normalise, "/a", "/b", "/n"),
            (Vec::new(), "/a;jsessionid=1", "/b?sid=2", "/n;jsessionid=1"),
        ] {
            let mentions =
                ReferenceFinder::new(&Config { normalise, ..Config::default() }).expect("sound");
            for path in [a, b, "/robots.txt", "/x/x/x/x/x", "/cal/1492/10"] {
                let found = mentions.find(&page, &format!("http://a.test{path}"));
                assert_eq!(found, Some(Reference::Link), "{path}");
            }
            assert_eq!(mentions.find(&page, "http://b.test/i.png"), Some(Reference::Link));
            let found = mentions.find(&page, &format!("http://a.test{n}"));
            assert_eq!(found, Some(Reference::Nofollow), "{n}");
        }
    }

    #[test]
    fn too_many_links_and_bytes_are_reported_separately() {
        let config = Config { links_per_page_max: 3, ..Config::default() };
        let mut mentions = ReferenceFinder::new(&config).expect("it is sound");
        // Four URLs of sixteen bytes.
        mentions.answers = mentions.answers.reading(3, 64);
        mentions.uncounted = mentions.uncounted.reading(usize::MAX, 64);
        let links: Vec<String> = (1..=9).map(|n| format!("<a href=/{n}>x</a>")).collect();
        let page = record("page", "text/html", &links.concat());
        for (n, how) in [(3, Reference::Link), (4, Reference::Beyond), (5, Reference::BeyondBytes)]
        {
            assert_eq!(mentions.find(&page, &format!("http://a.test/{n}")), Some(how), "{n}");
        }
        assert_eq!(mentions.excess(&page), [Excess::Links, Excess::Bytes]);
        let few = record("page", "text/html", "<a href=/1>x</a>");
        assert_eq!(mentions.excess(&few), []);
        let urls: Vec<String> = (1..=9).map(|n| format!("<url><loc>/{n}</loc></url>")).collect();
        let sitemap = record("sitemap", "text/xml", &format!("<urlset>{}</urlset>", urls.concat()));
        for (n, how) in [(4, Reference::Sitemap), (5, Reference::BeyondBytes)] {
            assert_eq!(mentions.find(&sitemap, &format!("http://a.test/{n}")), Some(how), "{n}");
        }
    }
}
