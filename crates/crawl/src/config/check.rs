//! Which values of the configuration are valid.
//!
//! What lives here: [`Config::check`] and the [`Range`] of every numeric key. What does not: parsing, which knows
//! types only.
//!
//! **Invariant.** A [`Config`] that passes [`Config::check`] works as written: no value stops every visit, is
//! silently cut to another value, or exceeds what a machine has. A message names the key, its value, and the valid
//! values.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use super::{Config, Order, Recrawl, Weights};
use crate::clock::SystemClock;
use crate::error::CrawlError;
use crate::fetch::{Credentials, Fetcher};
use crate::filter::Filters;
use crate::{guard, rules};

const DAY_MS: i64 = 24 * 3600 * 1000;
const YEAR_S: i64 = 365 * 24 * 3600;
/// The largest number that a file can hold.
const ANY: i64 = i64::MAX;
/// The longest TTL by RFC 2181.
const TTL_S_MAX: i64 = i32::MAX as i64;
/// The shortest time in which a server can be expected to do anything.
const TIMEOUT_MS_MIN: i64 = 10;
/// Maximum number of agents: each of the others has an open file here.
const AGENTS_MAX: i64 = 256;
/// Maximum bytes of a header that identifies the crawler.
const IDENTITY_BYTES_MAX: usize = 1_000;
/// Maximum of capacity times precision of a Bloom sieve, which takes 6 GiB.
const SIEVE_BITS_MAX: u64 = 1 << 35;

/// A numeric key and its valid values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The key, as in the file; in a table, its path.
    pub key: &'static str,
    /// The configured value.
    pub value: i64,
    /// The smallest valid value.
    pub least: i64,
    /// The largest valid value.
    pub most: i64,
}

impl Range {
    fn check(&self) -> Result<(), CrawlError> {
        let Range { key, value, least, most } = *self;
        if (least..=most).contains(&value) {
            return Ok(());
        }
        Err(wrong(key, format!("it is {value}, and must be {self}")))
    }
}

/// Formats the valid values.
impl fmt::Display for Range {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Range { least, most: ANY, .. } => write!(out, "at least {least}"),
            Range { least, most, .. } => write!(out, "from {least} to {most}"),
        }
    }
}

fn wrong(key: &'static str, why: impl Into<String>) -> CrawlError {
    CrawlError::Config { key, why: why.into() }
}

/// Converts to the number type of the file; saturates.
fn number(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(ANY)
}

impl Config {
    /// Returns every numeric key with its valid values. A list has a row for each number, a table the path
    /// `table.key`.
    pub fn ranges(&self) -> Vec<Range> {
        let rows = [
            ("delay_ms", number(self.delay_ms), 0, DAY_MS),
            ("burst_requests", number(self.burst_requests), 0, number(u32::MAX)),
            ("burst_pause_ms", number(self.burst_pause_ms), 0, DAY_MS),
            ("slice_ms", number(self.slice_ms), 0, DAY_MS),
            ("relative_factor", number(self.relative_factor), 0, 1_000),
            ("relative_ms_min", number(self.relative_ms_min), 0, DAY_MS),
            ("relative_ms_max", number(self.relative_ms_max), 0, DAY_MS),
            ("ip_delay_ms", number(self.ip_delay_ms), 0, DAY_MS),
            ("crawl_delay_ms_max", number(self.crawl_delay_ms_max), 0, DAY_MS),
            ("fetchers", number(self.fetchers), 1, 65_536),
            ("parsers", number(self.parsers), 1, 256),
            ("idle_connections_max", number(self.idle_connections_max), 0, 65_536),
            ("bytes_max", number(self.bytes_max), 0, ANY),
            ("time_s_max", number(self.time_s_max), 0, ANY),
            ("depth_max", number(self.depth_max), 0, number(u16::MAX)),
            ("pages_max", number(self.pages_max), 0, ANY),
            ("pages_per_host_max", number(self.pages_per_host_max), 0, ANY),
            ("requests_per_host_max", number(self.requests_per_host_max), 0, ANY),
            ("waiting_per_host_max", number(self.waiting_per_host_max), 1, ANY),
            ("waiting_max", number(self.waiting_max), 1, ANY),
            ("waiting_memory_bytes", number(self.waiting_memory_bytes), 0, 1 << 40),
            ("turn_s_max", number(self.turn_s_max), 0, ANY),
            ("hosts_max", number(self.hosts_max), 1, number(u32::MAX)),
            // URLs, heads and bodies stay well below the limits of the archive.
            ("links_per_page_max", number(self.links_per_page_max), 1, 100_000),
            ("url_bytes_max", number(self.url_bytes_max), 32, 16_384),
            ("path_repeats_max", number(self.path_repeats_max), 1, ANY),
            ("calendar_years", number(self.calendar_years[0]), 0, number(u16::MAX)),
            ("calendar_years", number(self.calendar_years[1]), 0, number(u16::MAX)),
            ("query_parameters_max", number(self.query_parameters_max), 0, ANY),
            ("connect_timeout_ms", number(self.connect_timeout_ms), TIMEOUT_MS_MIN, DAY_MS),
            ("timeout_ms", number(self.timeout_ms), TIMEOUT_MS_MIN, DAY_MS),
            ("body_timeout_ms", number(self.body_timeout_ms), TIMEOUT_MS_MIN, DAY_MS),
            ("body_bytes_max", number(self.body_bytes_max), 1_024, 1 << 27),
            ("decoded_bytes_max", number(self.decoded_bytes_max), 1_024, 1 << 30),
            ("sitemap_bytes_max", number(self.sitemap_bytes_max), 1_024, 1 << 27),
            ("head_bytes_max", number(self.head_bytes_max), 8_192, 1 << 17),
            ("redirects_max", number(self.redirects_max), 0, 20),
            ("retries", number(self.retries), 0, number(u8::MAX)),
            // A backoff is never longer than an hour.
            ("retry_ms", number(self.retry_ms), 0, 3_600_000),
            ("retry_after_s_max", number(self.retry_after_s_max), 0, YEAR_S),
            ("host_failures_max", number(self.host_failures_max), 1, number(u32::MAX)),
            ("set_aside_s", number(self.set_aside_s), 0, YEAR_S),
            ("sieve_buffer_keys", number(self.sieve_buffer_keys), 1, 1 << 28),
            ("sieve_cache_keys", number(self.sieve_cache_keys), 0, 1 << 24),
            ("sieve_capacity", number(self.sieve_capacity), 1, number(SIEVE_BITS_MAX)),
            ("sieve_precision", number(self.sieve_precision), 1, 64),
            ("dns_ttl_s_min", number(self.dns_ttl_s_min), 1, TTL_S_MAX),
            ("dns_ttl_s_max", number(self.dns_ttl_s_max), 1, TTL_S_MAX),
            ("dns_negative_ttl_s_max", number(self.dns_negative_ttl_s_max), 0, TTL_S_MAX),
            ("dns_names_max", number(self.dns_names_max), 0, ANY),
            ("agent", number(self.agent), 0, AGENTS_MAX - 1),
            ("agents", number(self.agents), 1, AGENTS_MAX),
            ("recrawl_min_s", number(self.recrawl_min_s), 0, 10 * YEAR_S),
            ("recrawl_max_s", number(self.recrawl_max_s), 0, 10 * YEAR_S),
            ("archive_file_bytes_max", number(self.archive_file_bytes_max), 1_024, 1 << 40),
            ("gzip_level", number(self.gzip_level), 1, 9),
            ("zstd_level", number(self.zstd_level), 1, 19),
            ("weights.short_url", number(self.weights.short_url), 0, number(u16::MAX)),
            ("weights.off_site", number(self.weights.off_site), 0, number(u16::MAX)),
            ("weights.url_keywords", number(self.weights.url_keywords), 0, number(u16::MAX)),
            ("weights.page_keywords", number(self.weights.page_keywords), 0, number(u16::MAX)),
        ];
        rows.map(|(key, value, least, most)| Range { key, value, least, most }).to_vec()
    }

    /// Checks that every value is valid; the error names the first that is not. Reads no files.
    pub fn check(&self) -> Result<(), CrawlError> {
        self.check_identity()?;
        self.ranges().iter().try_for_each(Range::check)?;
        self.check_pairs()?;
        self.check_names()?;
        self.check_sieve()?;
        self.check_order()?;
        Credentials::check(self)?;
        rules::prefixes(self)?;
        rules::patterns(self)?;
        Filters::compile(self)?;
        if !self.metrics.is_empty() && self.metrics.parse::<SocketAddr>().is_err() {
            let why = "it must be an address and a port, such as `127.0.0.1:9700`";
            return Err(wrong("metrics", why));
        }
        if !self.store && self.recrawl != Recrawl::Never {
            return Err(wrong("recrawl", "it must be \"never\" where `store` is false"));
        }
        Ok(())
    }

    /// Checks that the files that the configuration names can be read.
    pub fn check_files(&self) -> Result<(), CrawlError> {
        Fetcher::new(self, 0, Arc::new(SystemClock::new())).map(|_| ())
    }

    fn check_identity(&self) -> Result<(), CrawlError> {
        if !self.agent_name().starts_with(|first: char| first.is_ascii_alphabetic()) {
            let why = "it must begin with a name of letters, such as `crivello`";
            return Err(wrong("user_agent", why));
        }
        for (key, text) in [("user_agent", &self.user_agent), ("contact", &self.contact)] {
            if text.chars().any(|letter| !(' '..='~').contains(&letter)) {
                let why = "it may hold printable ASCII only, since it is sent as a header";
                return Err(wrong(key, why));
            }
            if text.len() > IDENTITY_BYTES_MAX {
                let why = format!(
                    "it has {} letters, and may have {IDENTITY_BYTES_MAX} at most",
                    text.len()
                );
                return Err(wrong(key, why));
            }
        }
        let is_reachable = self.contact.contains('@') || self.contact.contains("://");
        if !self.contact.is_empty() && !is_reachable {
            let why =
                "nobody is reached by it; write an e-mail address, or a web page with its http";
            return Err(wrong("contact", why));
        }
        Ok(())
    }

    /// Keys that bound each other.
    fn check_pairs(&self) -> Result<(), CrawlError> {
        let pairs = [
            ("relative_ms_min", self.relative_ms_min, "relative_ms_max", self.relative_ms_max),
            ("dns_ttl_s_min", self.dns_ttl_s_min, "dns_ttl_s_max", self.dns_ttl_s_max),
            ("recrawl_min_s", self.recrawl_min_s, "recrawl_max_s", self.recrawl_max_s),
        ];
        for (key, least, other, most) in pairs {
            if least > most {
                let why =
                    format!("it is {least}, and must not be more than `{other}`, which is {most}");
                return Err(wrong(key, why));
            }
        }
        if self.agent >= self.agents {
            let (agent, agents) = (self.agent, self.agents);
            let why = format!("it is {agent}, and must be less than `agents`, which is {agents}");
            return Err(wrong("agent", why));
        }
        let [first, last] = self.calendar_years;
        if first > last {
            let why = format!("the first year, {first}, comes after the last, {last}");
            return Err(wrong("calendar_years", why));
        }
        Ok(())
    }

    /// Names and words that could never match.
    fn check_names(&self) -> Result<(), CrawlError> {
        guard::resolved(self)?;
        if let Some(server) = self.dns_servers.iter().find(|server| server.port() == 0) {
            let why = format!("{server} has no port; the usual one is 53");
            return Err(wrong("dns_servers", why));
        }
        let is_extension = |text: &&String| {
            let text = text.trim_start_matches('.');
            !text.is_empty() && !text.contains(['.', '/']) && !text.contains(char::is_whitespace)
        };
        if let Some(text) = self.skip_extensions.iter().find(|text| !is_extension(text)) {
            let why =
                format!("{text:?} is never what follows the last dot of a path, such as `zip`");
            return Err(wrong("skip_extensions", why));
        }
        if self.keywords.iter().any(|word| word.trim().is_empty()) {
            return Err(wrong("keywords", "one of them is blank, and would be found everywhere"));
        }
        Ok(())
    }

    fn check_sieve(&self) -> Result<(), CrawlError> {
        let (capacity, precision) = (self.sieve_capacity, u64::from(self.sieve_precision));
        if capacity.saturating_mul(precision) > SIEVE_BITS_MAX {
            let most = SIEVE_BITS_MAX / precision.max(1);
            let why = format!(
                "it is {capacity}, and with `sieve_precision` at {precision} it must be from 1 to {most}, \
                 which takes 6 GiB"
            );
            return Err(wrong("sieve_capacity", why));
        }
        if !self.sieve.is_built() {
            let why = sieve::SieveError::NotBuilt { kind: self.sieve.name() };
            return Err(wrong("sieve", why.to_string()));
        }
        Ok(())
    }

    fn check_order(&self) -> Result<(), CrawlError> {
        let Weights { short_url, off_site, url_keywords, page_keywords } = self.weights;
        match self.order {
            Order::DepthFirst => Err(wrong(
                "order",
                "depth-first follows the first link of every page first, and the web has no floor: a \
                 single calendar or search form leads it down for ever, and it never comes back to \
                 the pages that people link to; take \"breadth-first\", or \"priority\" with weights",
            )),
            Order::Priority if short_url == 0 && off_site == 0 => {
                if url_keywords == 0 && page_keywords == 0 {
                    return Err(wrong("weights", "all are 0, so no page comes before another"));
                }
                if self.keywords.is_empty() {
                    let why = "`weights` count them alone, and there are none";
                    return Err(wrong("keywords", why));
                }
                Ok(())
            }
            Order::BreadthFirst | Order::ShallowFirst | Order::Priority => Ok(()),
        }
    }
}
