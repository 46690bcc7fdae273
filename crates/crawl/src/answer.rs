//! What an answer means to the crawl: links, redirects, robots rules, waits.
//!
//! What lives here: [`Answers`], which turns an HTTP answer into what the frontier needs to know of it.
//! What does not: fetching it, archiving it, and what follows.
//!
//! **Invariant.** The result depends on the configuration, the seeds and the answer only: a parser
//! thread that has just got it and the replay of the archive a year later agree.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use archive::HttpResponse;
use page::{Directives, Limits, Url, Wanted, normalise};

use crate::config::{Config, agent_name};
use crate::outcome::{Answered, Harvest};
use crate::robots::{self, Robots};
use crate::rules::{Refusal, Rules};
use crate::site::Site;
use crate::sitemap::Sitemap;

/// What an answer was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Page,
    Robots,
    Sitemap,
}

/// Reads answers.
pub(crate) struct Answers {
    rules: Rules,
    limits: Limits,
    agent: String,
    follow: bool,
    sitemaps: bool,
    decoded_bytes_max: usize,
}

impl Answers {
    pub(crate) fn new(config: &Config, rules: Rules) -> Answers {
        let limits = Limits {
            body_bytes_max: config.decoded_bytes_max,
            url_bytes_max: config.url_bytes_max,
            links_max: config.links_per_page_max,
            ..Limits::default()
        };
        Answers {
            rules,
            limits,
            agent: config.agent_name().to_owned(),
            follow: config.follow,
            sitemaps: config.sitemaps && config.follow,
            decoded_bytes_max: config.decoded_bytes_max,
        }
    }

    /// What follows from an answer that came from `url` at `date_s`.
    pub(crate) fn read(
        &self,
        purpose: Purpose,
        url: &str,
        http: &HttpResponse<'_>,
        date_s: i64,
    ) -> Answered {
        let mut harvest = Harvest::default();
        if let Ok(url) = Url::parse(url) {
            match http.status {
                200 => self.harvest(purpose, &url, http, &mut harvest),
                201..=299 if purpose == Purpose::Robots => {
                    self.harvest(purpose, &url, http, &mut harvest);
                }
                status if is_redirect(status) => self.redirect(purpose, &url, http, &mut harvest),
                _ => {}
            }
        }
        Answered {
            status: http.status,
            bytes: u64::try_from(http.body.len()).unwrap_or(u64::MAX),
            retry_after_ms: http.header("Retry-After").and_then(|value| wait_ms(value, date_s)),
            harvest,
            ..Answered::default()
        }
    }

    /// The rules in a robots.txt; one that cannot be decoded (`None`) forbids everything.
    pub(crate) fn robots(&self, body: Option<&[u8]>) -> Robots {
        body.map_or_else(Robots::forbid_all, |body| Robots::parse(body, &self.agent))
    }

    fn harvest(&self, purpose: Purpose, url: &Url, http: &HttpResponse<'_>, out: &mut Harvest) {
        let Ok(body) = http.decoded_body(self.decoded_bytes_max) else {
            // A coding that nobody asked for: there is nothing to read, and rules may stand in it.
            out.robots = (purpose == Purpose::Robots).then(|| self.robots(None));
            return;
        };
        match purpose {
            Purpose::Robots => {
                let robots = self.robots(Some(&body));
                if self.sitemaps {
                    self.keep_sitemaps(url, robots.sitemaps(), out);
                }
                out.robots = Some(robots);
            }
            Purpose::Sitemap => self.sitemap(url, &body, out),
            Purpose::Page if !self.follow => {}
            Purpose::Page => {
                let content_type = http.header("Content-Type");
                match page::parse_wanted(url, content_type, &body, Wanted::LINKS, &self.limits) {
                    Ok(page) => self.links(http, page, out),
                    Err(_) if self.sitemaps && content_type.is_some_and(is_xml) => {
                        self.sitemap(url, &body, out);
                    }
                    Err(_) => {}
                }
            }
        }
    }

    fn links(&self, http: &HttpResponse<'_>, page: page::Page, out: &mut Harvest) {
        let tags =
            http.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("X-Robots-Tag"));
        let directives = tags.fold(page.robots, |all, (_, value)| {
            all.union(Directives::from_header(value, &self.agent))
        });
        if directives.nofollow {
            return;
        }
        let links = page.links.into_iter().filter(|link| !link.nofollow).map(|link| link.url);
        let mut seen = BTreeSet::new();
        for url in links.chain(page.refresh) {
            if !seen.contains(url.as_str()) {
                let verdict = self.rules.check(&url);
                seen.insert(String::from(url.as_str()));
                keep(verdict, url, &mut out.links, &mut out.refused);
            }
        }
    }

    fn sitemap(&self, base: &Url, body: &[u8], out: &mut Harvest) {
        let sitemap = Sitemap::parse(body, self.decoded_bytes_max);
        if sitemap.is_index {
            return self.keep_sitemaps(base, &sitemap.urls, out);
        }
        for raw in &sitemap.urls {
            if let Ok(url) = normalise(raw, Some(base), &self.limits) {
                keep(self.rules.check(&url), url, &mut out.links, &mut out.refused);
            }
        }
    }

    fn keep_sitemaps(&self, base: &Url, urls: &[String], out: &mut Harvest) {
        for raw in urls {
            if let Ok(url) = normalise(raw, Some(base), &self.limits) {
                keep(self.rules.check_sitemap(&url), url, &mut out.sitemaps, &mut out.refused);
            }
        }
    }

    fn redirect(&self, purpose: Purpose, url: &Url, http: &HttpResponse<'_>, out: &mut Harvest) {
        let Some(target) = http.header("Location") else { return };
        let Ok(target) = normalise(target, Some(url), &self.limits) else { return };
        let verdict = match purpose {
            Purpose::Page => self.rules.check(&target),
            Purpose::Sitemap => self.rules.check_sitemap(&target),
            // Whose robots.txt it is was decided when it was asked for.
            Purpose::Robots => Ok(()),
        };
        match verdict {
            Ok(()) => out.redirect = Some(target.into()),
            Err(refusal) => *out.refused.entry(refusal.name().into()).or_default() += 1,
        }
    }
}

fn keep(
    verdict: Result<(), Refusal>,
    url: Url,
    kept: &mut Vec<String>,
    refused: &mut BTreeMap<Cow<'static, str>, u64>,
) {
    match verdict {
        Ok(()) => kept.push(url.into()),
        Err(refusal) => *refused.entry(refusal.name().into()).or_default() += 1,
    }
}

/// Whether a status says that the answer is elsewhere.
pub(crate) fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

fn is_xml(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.ends_with("/xml") || essence.ends_with("+xml")
}

/// What Retry-After asks for: seconds, or a date.
fn wait_ms(value: &str, now_s: i64) -> Option<u64> {
    if let Ok(seconds) = value.trim().parse::<u64>() {
        return Some(seconds.saturating_mul(1000));
    }
    let date = httpdate::parse_http_date(value.trim()).ok()?;
    let date_s = date.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs();
    Some(date_s.saturating_sub(u64::try_from(now_s).ok()?).saturating_mul(1000))
}

/// What a robots.txt says about a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RobotsSaying {
    /// Whether it may be fetched.
    pub allowed: bool,
    /// Why, in words.
    pub why: String,
}

/// What the robots.txt in `record` says to `user_agent` about `url`; `None` if the record is no
/// answer.
pub fn explain_robots(
    record: &archive::Record,
    url: &Url,
    user_agent: &str,
) -> Option<RobotsSaying> {
    let say = |allowed, why: String| Some(RobotsSaying { allowed, why });
    let http = archive::parse_http(&record.block).ok()?;
    match http.status {
        200..=299 => {}
        500..=599 | 429 => {
            let why = format!("robots.txt answered {}, so nothing is allowed", http.status);
            return say(false, why);
        }
        status => {
            return say(true, format!("robots.txt answered {status}, so everything is allowed"));
        }
    }
    let Ok(body) = http.decoded_body(robots::BYTES_MAX) else {
        return say(false, "robots.txt cannot be decoded, so nothing is allowed".to_owned());
    };
    let (_, path) = Site::split(url.as_str())?;
    let verdict = Robots::parse(&body, agent_name(user_agent)).allows(path);
    let why = match (verdict.allowed, verdict.line) {
        (true, Some(line)) => format!("allowed by line {line}"),
        (false, Some(line)) => format!("forbidden by line {line}"),
        (_, None) => "no line speaks of it, so it is allowed".to_owned(),
    };
    say(verdict.allowed, why)
}
