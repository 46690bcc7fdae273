//! The meaning of an answer to the crawl: links, redirects, robots rules, waits.
//!
//! What lives here: [`Answers`], which turns an HTTP answer into what the frontier needs. `answer/head.rs`
//! interprets its head, `answer/urls.rs` collects the URLs that it leads to, `answer/store.rs` decides whether it
//! is archived. What does not: fetching it, writing it, and acting on it.
//!
//! **Invariant.** The result depends only on the configuration, the seeds and the answer. A live answer and its
//! record in the archive give the same result. The only exception: links that the sieve already knows may be left
//! out.

mod head;
mod store;
mod urls;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use archive::HttpResponse;
use page::{Directives, Limits, Url, Wanted, parse_normal};
use sieve::{Recent, signature};

use crate::clock::Moment;
use crate::config::Config;
use crate::error::CrawlError;
use crate::filter::{Facts, Filter, Filters};
use crate::order::{VisitOrder, visit_order};
use crate::outcome::{Answered, Harvest};
use crate::robots::{self, Robots};
use crate::rules::Rules;
use crate::sitemap::{self, Sitemap};

use head::answered;
pub use head::{Purpose, is_temporary, keeps_previous};
pub(crate) use head::{is_from_answer, is_redirect, retry_after_ms};
pub use urls::URLS_BYTES_MAX;
pub(crate) use urls::{SITEMAP_BROKEN, SITEMAP_CUT};

/// The links of a page that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// All links: for answers that are archived, or read from the archive.
    All,
    /// Links that the sieve is not known to have.
    Unknown,
}

pub(crate) struct Answers {
    rules: Rules,
    limits: Limits,
    agent: String,
    follow: bool,
    sitemaps: bool,
    decoded_bytes_max: usize,
    sitemap_bytes_max: usize,
    urls_bytes_max: usize,
    /// Whether a filter or the order needs more of a page than its links.
    wants_text: bool,
    order: Box<dyn VisitOrder>,
    /// The URLs that the sieve was offered recently.
    recent: Option<Arc<Recent>>,
    /// Signatures of the bodies archived so far, if a filter uses `duplicate`.
    bodies: Option<Mutex<BTreeSet<u64>>>,
}

/// The page that an answer holds, and what the crawl knows of it.
struct Context<'a> {
    url: &'a Url,
    http: &'a HttpResponse<'a>,
    depth: u16,
    links: Links,
}

impl<'a> Context<'a> {
    /// Returns the facts that are known before the page is parsed.
    fn facts(&self) -> Facts<'a> {
        Facts {
            url: Some(self.url),
            content_type: self.http.header("Content-Type").unwrap_or_default(),
            length: self.http.body.len() as u64,
            status: self.http.status,
            depth: self.depth.into(),
            ..Facts::default()
        }
    }
}

impl Answers {
    /// Creates a reader for a sieve with this cache in front.
    pub(crate) fn new(config: &Config, rules: Rules, recent: Option<Arc<Recent>>) -> Answers {
        let limits = Limits {
            body_bytes_max: config.decoded_bytes_max,
            url_bytes_max: config.url_bytes_max,
            links_max: config.links_per_page_max,
            ..Limits::default()
        };
        let asks = |filter: &Filter| filter.needs_duplicates();
        let bodies = rules.filters().store.as_ref().is_some_and(asks).then(Mutex::default);
        let order = visit_order(config);
        Answers {
            bodies,
            wants_text: wants_text(rules.filters(), &*order),
            order,
            recent,
            rules,
            limits,
            agent: config.agent_name().to_owned(),
            follow: config.follow,
            sitemaps: config.sitemaps && config.follow,
            decoded_bytes_max: config.decoded_bytes_max,
            sitemap_bytes_max: config.sitemap_bytes_max,
            urls_bytes_max: URLS_BYTES_MAX,
        }
    }

    /// Parses pages as thoroughly as a crawl with `config` does, since this decides which links count towards a
    /// limit.
    pub(crate) fn reading_as(self, config: &Config) -> Result<Answers, CrawlError> {
        let wants_text = wants_text(&Filters::compile(config)?, &*visit_order(config));
        Ok(Answers { wants_text, ..self })
    }

    /// Sets the maximum number of links of a page, and of bytes of URLs that an answer leads to.
    pub(crate) fn reading(self, links_max: usize, urls_bytes_max: usize) -> Answers {
        let limits = Limits { links_max, ..self.limits };
        Answers { limits, urls_bytes_max, ..self }
    }

    /// Interprets an answer that came from `url` at `date`.
    pub(crate) fn read(
        &self,
        purpose: Purpose,
        url: &str,
        http: &HttpResponse<'_>,
        date: Moment,
        depth: u16,
        links: Links,
    ) -> Answered {
        let mut answered = answered(http, date);
        if let Some(url) = parse_normal(url) {
            let context = Context { url: &url, http, depth, links };
            self.read_into(purpose, &context, &mut answered.harvest);
        }
        answered
    }

    /// Returns whether the answer to a sitemap request is a page of this crawl. A site may name any URL as a
    /// sitemap.
    pub(crate) fn is_page_after_all(&self, url: &str, http: &HttpResponse<'_>) -> bool {
        let Some(url) = parse_normal(url).filter(|_| http.status == 200) else { return false };
        let body = http.decoded_body(sitemap::HEAD_BYTES);
        !body.is_ok_and(|body| Sitemap::is_in(&body))
            && self.rules.normalise(url.clone()) == url
            && self.rules.check(&url).is_ok()
    }

    fn read_into(
        &self,
        purpose: Purpose,
        context: &Context<'_>,
        out: &mut Harvest,
    ) -> Option<ReadPage> {
        match context.http.status {
            200 => return self.harvest(purpose, context, out),
            201..=299 if purpose == Purpose::Robots => {
                self.harvest(purpose, context, out);
            }
            status if is_redirect(status) => {
                self.redirect(purpose, context.url, context.http, out);
            }
            _ => {}
        }
        None
    }

    /// Parses a robots.txt; one that cannot be decoded (`None`) forbids everything.
    pub(crate) fn robots(&self, body: Option<&[u8]>) -> Robots {
        body.map_or_else(Robots::forbid_all, |body| Robots::parse(body, &self.agent))
    }

    /// Collects what an answer leads to; returns the page if it was parsed.
    fn harvest(
        &self,
        purpose: Purpose,
        context: &Context<'_>,
        out: &mut Harvest,
    ) -> Option<ReadPage> {
        let &Context { url, http, .. } = context;
        match purpose {
            Purpose::Robots => {
                let robots = self.robots(robots::text(http).as_deref());
                if self.sitemaps {
                    self.keep_sitemaps(url, robots.sitemaps(), out);
                }
                out.robots = Some(robots);
            }
            Purpose::Sitemap => {
                let body = http.decoded_body(self.sitemap_bytes_max + 1).ok()?;
                // A body as long as the limit was cut off.
                let is_cut = http.body.len() >= self.sitemap_bytes_max;
                self.sitemap(url, &body, is_cut, out);
            }
            Purpose::Page if !self.follow && !self.store_needs_page() => {
                let body = http.decoded_body(sitemap::HEAD_BYTES).ok();
                let content_type = http.header("Content-Type");
                if body.is_none_or(|body| page::check(url, content_type, &body).is_err()) {
                    count(UNREADABLE, out);
                }
            }
            Purpose::Page => {
                // A body in an unsupported coding cannot be parsed.
                let Ok(body) = http.decoded_body(self.decoded_bytes_max) else {
                    count(UNREADABLE, out);
                    return None;
                };
                return self.page(context, &body, out);
            }
        }
        None
    }

    /// Returns whether a URL was offered to the sieve. No further checks are needed then.
    fn was_offered(&self, url: &str) -> bool {
        self.recent.as_ref().is_some_and(|recent| recent.has(signature(url.as_bytes())))
    }

    /// Parses a page for its links, unless its filter refuses it.
    fn page(&self, context: &Context<'_>, body: &[u8], out: &mut Harvest) -> Option<ReadPage> {
        let filter = self.rules.filters().parse.as_ref();
        let is_late = filter.is_some_and(Filter::needs_page);
        let mut is_refused = filter.is_some_and(|f| !is_late && !f.accepts(&context.facts()));
        if is_refused && !self.store_needs_page() {
            count(PARSE_FILTER, out);
            return None;
        }
        let content_type = context.http.header("Content-Type");
        let wanted = if self.wants_text { Wanted::ALL } else { Wanted::LINKS };
        let seen = Cell::new(0);
        let known = |url: &str| {
            let is_known = context.links == Links::Unknown && self.was_offered(url);
            seen.set(seen.get() + u64::from(is_known));
            is_known
        };
        let page =
            page::parse_wanted(context.url, content_type, body, wanted, &known, &self.limits);
        if let Some(recent) = &self.recent {
            recent.count_hits(seen.get());
        }
        let Ok(page) = page else {
            count(UNREADABLE, out);
            if !is_refused && self.sitemaps && content_type.is_some_and(is_xml) {
                self.sitemap(context.url, body, body.len() >= self.decoded_bytes_max, out);
            }
            return None;
        };
        let tags = Directives::from_headers(&context.http.headers, &self.agent);
        let directives = page.robots.union(tags);
        let read = ReadPage { language: page.language.clone(), directives };
        if is_late {
            let facts = ReadPage::facts(Some(&read), context.facts());
            is_refused = filter.is_some_and(|filter| !filter.accepts(&facts));
        }
        if is_refused {
            count(PARSE_FILTER, out);
        } else if self.follow && !directives.nofollow {
            self.links(context, page, out);
        }
        Some(read)
    }
}

/// The counter of pages that `parse_filter` refuses.
const PARSE_FILTER: &str = "parse-filter";
/// The counter of pages whose type or coding is not supported.
const UNREADABLE: &str = "unreadable";

/// Increments a counter of refusals.
fn count(what: &'static str, out: &mut Harvest) {
    *out.refused.entry(what.into()).or_default() += 1;
}

/// Returns whether the order or a filter needs more of a page than its links.
fn wants_text(filters: &Filters, order: &dyn VisitOrder) -> bool {
    let mut of_page = [&filters.parse, &filters.store].into_iter().flatten();
    order.reads_text() || filters.link.is_some() || of_page.any(Filter::needs_page)
}

fn is_xml(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.ends_with("/xml") || essence.ends_with("+xml")
}

/// The result of parsing a page.
struct ReadPage {
    language: String,
    directives: Directives,
}

impl ReadPage {
    /// Adds the facts of the page to `facts` if it was parsed.
    fn facts<'a>(page: Option<&'a ReadPage>, facts: Facts<'a>) -> Facts<'a> {
        page.map_or(facts, |page| Facts {
            language: &page.language,
            noindex: page.directives.noindex,
            nofollow: page.directives.nofollow,
            ..facts
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Order, Weights};

    fn answers(config: &Config) -> Answers {
        let seeds = ["http://a/".parse().expect("a URL")];
        Answers::new(config, Rules::new(config, &seeds).expect("rules"), None)
    }

    fn read(answers: &Answers, url: &str, body: &str) -> Answered {
        let headers = vec![("Content-Type".to_owned(), "text/html".to_owned())];
        let http = HttpResponse { status: 200, headers, body: body.as_bytes(), body_offset: 0 };
        answers.judge(url, &http, Moment::default(), 0)
    }

    #[test]
    fn the_same_bytes_under_a_second_url_are_a_duplicate() {
        let config = Config { store_filter: "not duplicate".to_owned(), ..Config::default() };
        let answers = answers(&config);
        let unstored = [("/1", "one"), ("/2", "two"), ("/3", "one"), ("/4", "two")]
            .map(|(path, body)| read(&answers, &format!("http://a{path}"), body).is_unstored);
        assert_eq!(unstored, [false, false, true, true]);
    }

    /// Links that are short in the page may be long URLs because of a long base; what a page leads to must fit
    /// into a record.
    #[test]
    fn the_bytes_of_found_links_are_bounded() {
        let record_bytes_max = archive::Limits::default().block_bytes_max;
        assert!((URLS_BYTES_MAX as u64) < record_bytes_max / 2);
        let answers = Answers { urls_bytes_max: 100, ..answers(&Config::default()) };
        let links = (0..20).map(|number| format!("<a href={number}>x</a>")).collect::<Vec<_>>();
        let body = format!("<base href=http://a/{}/>{}", "b".repeat(20), links.concat());
        let harvest = read(&answers, "http://a/", &body).harvest;
        assert_eq!((harvest.links.len(), harvest.refused.get("urls-bytes")), (3, Some(&17)));
    }

    #[test]
    fn similarity_is_computed_only_if_weighted() {
        let weights = Weights { page_keywords: 1, ..Weights::default() };
        let keywords = vec!["sieve".to_owned()];
        let mut config = Config { order: Order::Priority, weights, keywords, ..Config::default() };
        let near =
            |config: &Config| read(&answers(config), "http://a/", "<p>Sieve, sieve!").harvest;
        assert!((near(&config).similarity - 1.0).abs() < 1e-6);
        config.weights.page_keywords = 0;
        assert!(near(&config).similarity == 0.0);
    }

    #[test]
    fn links_are_normalised_and_redirects_may_undo_it() {
        let answers = answers(&Config::default());
        let body =
            "<a href='/x?sid=1'>x</a><a href='/x?sid=2'>x</a><a href='/x?utm_source=3'>x</a>";
        assert_eq!(read(&answers, "http://a/", body).harvest.links, ["http://a/x"]);
        let moved = |from: &str, to: &str| {
            let headers = vec![("Location".to_owned(), to.to_owned())];
            let http = HttpResponse { status: 302, headers, body: b"", body_offset: 0 };
            {
                let date = Moment::default();
                answers.read(Purpose::Page, from, &http, date, 0, Links::All).harvest.redirect
            }
        };
        assert_eq!(moved("http://a/x", "/x?sid=1").as_deref(), Some("http://a/x?sid=1"));
        assert_eq!(moved("http://a/x", "/y?sid=1").as_deref(), Some("http://a/y"));
    }
}
