//! Which URLs belong to the crawl: scope, limits, traps.
//!
//! What lives here: [`Rules`], and [`Refusal`], which describes why a URL does not belong. What does not: checks
//! that depend on the state of the crawl: robots.txt, politeness, page counts.
//!
//! **Invariant.** The result depends only on the configuration, the seeds and the URL. So a running crawl, its
//! resumption and `crivello why` agree.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use page::{Url, upper_case_escapes};
use regex::{RegexSet, RegexSetBuilder};

use crate::config::{Config, Scope};
use crate::error::CrawlError;
use crate::filter::{Facts, Filter, Filters, extension};
use crate::normalisation::{self, Normalisation};
use crate::trap;

/// Maximum bytes of the compiled patterns of a scope.
const PATTERN_BYTES_MAX: usize = 1 << 22;

/// The counter of URLs that are too long, including those that are not parsed to their end.
pub(crate) const LENGTH: &str = "length";

/// Decides about single URLs.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Whether only the filters refuse URLs.
    is_open: bool,
    scope: Scope,
    /// The places or domains of the seeds, by scope.
    within: BTreeSet<String>,
    /// The prefixes of scope `prefix`.
    prefixes: Vec<String>,
    /// The patterns of scope `pattern`.
    patterns: RegexSet,
    normalise: Vec<Normalisation>,
    url_bytes_max: usize,
    path_repeats_max: usize,
    query_parameters_max: usize,
    calendar_years: [u16; 2],
    skip_extensions: BTreeSet<String>,
    filters: Arc<Filters>,
}

/// Why a URL does not belong to this crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Its host is out of scope.
    Scope {
        /// The host.
        host: String,
        /// The scope.
        scope: Scope,
    },
    /// Its host is that of a seed, but its port is not.
    Port {
        /// The host.
        host: String,
        /// Its port; `None` for the default port.
        port: Option<u16>,
        /// A port that the host has in a seed.
        of_seed: Option<u16>,
    },
    /// It is too long.
    Length {
        /// Its length in bytes.
        bytes: usize,
        /// The maximum.
        bytes_max: usize,
    },
    /// A segment occurs too often.
    Repetition {
        /// The segment.
        segment: String,
        /// How often.
        times: usize,
    },
    /// Its query string has too many parameters.
    Parameters {
        /// Their number.
        count: usize,
        /// The maximum.
        count_max: usize,
    },
    /// Its extension is not that of a page.
    Extension {
        /// The extension.
        extension: String,
    },
    /// It is the robots.txt of its host, which is fetched as such and not as a page.
    RobotsFile,
    /// It has a date far from now.
    Calendar {
        /// The year.
        year: u16,
        /// The first and the last year that are allowed.
        years: [u16; 2],
    },
    /// Its path has a session id.
    Session,
    /// `fetch_filter` refuses it.
    FetchFilter {
        /// The filter.
        filter: String,
    },
    /// `link_filter` refuses it.
    LinkFilter {
        /// The filter.
        filter: String,
    },
}

impl Rules {
    /// Creates the rules of a crawl that begins at `seeds`.
    pub fn new(config: &Config, seeds: &[Url]) -> Result<Rules, CrawlError> {
        let within = match config.scope {
            Scope::Host => seeds.iter().map(place).collect(),
            Scope::Domain => seeds.iter().map(domain).collect(),
            Scope::Prefix | Scope::Pattern | Scope::Any => BTreeSet::new(),
        };
        let mut prefixes = prefixes(config)?;
        if prefixes.is_empty() {
            prefixes.extend(seeds.iter().map(folder));
        }
        let extensions = config.skip_extensions.iter();
        Ok(Rules {
            is_open: false,
            scope: config.scope,
            within,
            prefixes,
            patterns: patterns(config)?,
            normalise: config.normalise.clone(),
            calendar_years: config.calendar_years,
            filters: Arc::new(Filters::compile(config)?),
            url_bytes_max: config.url_bytes_max,
            path_repeats_max: config.path_repeats_max,
            query_parameters_max: config.query_parameters_max,
            skip_extensions: extensions
                .map(|extension| extension.trim_start_matches('.').to_ascii_lowercase())
                .collect(),
        })
    }

    /// Creates rules for reading answers without crawling: the filters and the normalisation of `config`, nothing
    /// else.
    pub(crate) fn open(config: &Config) -> Result<Rules, CrawlError> {
        let skip_extensions = BTreeSet::new();
        Ok(Rules { is_open: true, skip_extensions, ..Rules::new(config, &[])? })
    }

    /// Normalises `url` by the configured rules.
    pub fn normalise(&self, url: Url) -> Url {
        Normalisation::apply(&self.normalise, url)
    }

    /// Normalises the target of a redirect.
    pub(crate) fn normalise_redirect(&self, from: &Url, target: Url) -> Url {
        Normalisation::apply_to_redirect(&self.normalise, from, target)
    }

    pub(crate) fn filters(&self) -> &Filters {
        &self.filters
    }

    /// Checks that `url` may be a page of this crawl.
    pub fn check(&self, url: &Url) -> Result<(), Refusal> {
        self.check_sitemap(url)?;
        if let Some(extension) = extension(url.path()).map(str::to_ascii_lowercase)
            && self.skip_extensions.contains(&extension)
        {
            return Err(Refusal::Extension { extension });
        }
        let facts = Facts { url: Some(url), ..Facts::default() };
        match self.filters.fetch.as_ref().filter(|filter| !filter.accepts(&facts)) {
            Some(filter) => Err(Refusal::FetchFilter { filter: filter.to_string() }),
            None => Ok(()),
        }
    }

    /// Checks that links to `url` may be followed, as far as that depends on the URL alone.
    pub fn check_links_to(&self, url: &Url) -> Result<(), Refusal> {
        if self.filters.link.as_ref().is_some_and(Filter::needs_link) {
            return Ok(());
        }
        self.check_link(&Facts { url: Some(url), ..Facts::default() })
    }

    /// Checks that `link_filter` accepts a link with these facts.
    pub(crate) fn check_link(&self, facts: &Facts<'_>) -> Result<(), Refusal> {
        let refuses = |filter: &&Filter| !filter.accepts(facts);
        match self.filters.link.as_ref().filter(refuses) {
            Some(filter) => Err(Refusal::LinkFilter { filter: filter.to_string() }),
            None => Ok(()),
        }
    }

    /// Checks that `url` may be a sitemap of this crawl: like [`Rules::check`], but with any extension.
    pub fn check_sitemap(&self, url: &Url) -> Result<(), Refusal> {
        if self.is_open {
            return Ok(());
        }
        let (bytes, bytes_max) = (url.as_str().len(), self.url_bytes_max);
        if bytes > bytes_max {
            return Err(Refusal::Length { bytes, bytes_max });
        }
        let inside = match self.scope {
            Scope::Host => self.within.contains(&place(url)),
            Scope::Domain => self.within.contains(&domain(url)),
            Scope::Prefix => self.prefixes.iter().any(|prefix| url.as_str().starts_with(prefix)),
            Scope::Pattern => self.patterns.is_match(url.as_str()),
            Scope::Any => true,
        };
        if !inside {
            return Err(self.refuse_place(url));
        }
        if url.path() == "/robots.txt" && url.query().is_none() {
            return Err(Refusal::RobotsFile);
        }
        self.check_traps(url)
    }

    /// Returns why `url` is out of scope; scope `host` compares ports, too.
    fn refuse_place(&self, url: &Url) -> Refusal {
        let host = url.host_str().unwrap_or_default().to_owned();
        let name = host.strip_prefix("www.").unwrap_or(&host);
        let with_port = format!("{name}:");
        let of_seed = self.within.range(with_port.clone()..).next();
        let of_seed = of_seed.and_then(|place| place.strip_prefix(&with_port)?.parse().ok());
        let is_host =
            self.scope == Scope::Host && (of_seed.is_some() || self.within.contains(name));
        if is_host {
            let of_seed = of_seed.filter(|_| !self.within.contains(name));
            return Refusal::Port { host, port: url.port(), of_seed };
        }
        Refusal::Scope { host, scope: self.scope }
    }

    fn check_traps(&self, url: &Url) -> Result<(), Refusal> {
        let count = url.query().map_or(0, |query| query.split('&').count());
        if count > self.query_parameters_max {
            return Err(Refusal::Parameters { count, count_max: self.query_parameters_max });
        }
        if let Some((segment, times)) = trap::repetition(url, self.path_repeats_max) {
            return Err(Refusal::Repetition { segment: segment.to_owned(), times });
        }
        if let Some(year) = trap::year_beyond(url, self.calendar_years) {
            return Err(Refusal::Calendar { year, years: self.calendar_years });
        }
        if normalisation::session_in_path(url) {
            return Err(Refusal::Session);
        }
        Ok(())
    }
}

impl Refusal {
    /// Returns the name under which refusals are counted.
    pub fn name(&self) -> &'static str {
        match self {
            Refusal::Scope { .. } | Refusal::Port { .. } => "scope",
            Refusal::Length { .. } => LENGTH,
            Refusal::Repetition { .. } => "repetition",
            Refusal::Parameters { .. } => "parameters",
            Refusal::Extension { .. } => "extension",
            Refusal::RobotsFile => "robots-file",
            Refusal::Calendar { .. } => "calendar",
            Refusal::Session => "session",
            Refusal::FetchFilter { .. } => "fetch-filter",
            Refusal::LinkFilter { .. } => "link-filter",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Scope { host, scope: Scope::Domain } => {
                write!(out, "{host} is not in the domain of a seed (`scope = \"domain\"`)")
            }
            Refusal::Scope { scope: Scope::Prefix, .. } => out
                .write_str("it does not begin as a seed's folder or one of `scope_prefixes` does"),
            Refusal::Scope { scope: Scope::Pattern, .. } => {
                out.write_str("it matches none of `scope_patterns`")
            }
            Refusal::Scope { host, .. } => {
                write!(out, "{host} is not the host of a seed (`scope = \"host\"`)")
            }
            Refusal::Port { host, port, of_seed } => write!(
                out,
                "a seed has the host {host}, but {}, and this is {}: `scope = \"host\"` goes by both",
                port_text(*of_seed),
                port_text(*port)
            ),
            Refusal::Length { bytes, bytes_max } => {
                write!(out, "it has {bytes} bytes, and `url_bytes_max` is {bytes_max}")
            }
            Refusal::Repetition { segment, times } => write!(
                out,
                "the segment {segment:?} comes {times} times or more, which looks like a trap \
                 (`path_repeats_max`)"
            ),
            Refusal::Parameters { count, count_max } => write!(
                out,
                "its query has {count} parameters, and `query_parameters_max` is {count_max}"
            ),
            Refusal::Extension { extension } => {
                write!(out, "it ends with .{extension}, which is in `skip_extensions`")
            }
            Refusal::RobotsFile => out.write_str("it is a robots.txt, which is not a page"),
            Refusal::Calendar { year, years: [first, last] } => write!(
                out,
                "it speaks of the year {year}, and `calendar_years` ends a calendar at {first} and \
                 {last}"
            ),
            Refusal::Session => out.write_str(
                "its path carries a session id, which looks like a trap; with \"session-ids\" in \
                 `normalise` it would be visited without",
            ),
            Refusal::FetchFilter { filter } => {
                write!(out, "`fetch_filter` does not hold: {filter}")
            }
            Refusal::LinkFilter { filter } => write!(out, "`link_filter` does not hold: {filter}"),
        }
    }
}

/// Formats `at port 8080`.
fn port_text(port: Option<u16>) -> String {
    port.map_or_else(|| "at the usual port".to_owned(), |port| format!("at port {port}"))
}

/// Returns the host without `www.`, with its port unless it is the default: the basis of scope `host`.
fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// Returns the registered domain, or else the host.
fn domain(url: &Url) -> String {
    let host = || url.host_str().unwrap_or_default().to_owned();
    page::registered_domain(url).unwrap_or_else(host)
}

/// Returns a URL up to the last slash of its path: the basis of scope `prefix`.
fn folder(url: &Url) -> String {
    let mut folder = url.clone();
    folder.set_query(None);
    let end = folder.path().rfind('/').map_or(0, |at| at + 1);
    let path = folder.path()[..end].to_owned();
    folder.set_path(&path);
    folder.into()
}

/// Returns the configured prefixes, spelt as URLs are.
pub(crate) fn prefixes(config: &Config) -> Result<Vec<String>, CrawlError> {
    let spelt = |prefix: &String| {
        let wrong = |why: String| CrawlError::Config { key: "scope_prefixes", why };
        let url = Url::parse(prefix).map_err(|error| wrong(format!("{prefix:?}: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong(format!("{prefix:?} begins neither with http:// nor https://")));
        }
        Ok(upper_case_escapes(url.as_str()).into_owned())
    };
    config.scope_prefixes.iter().map(spelt).collect()
}

/// Compiles the configured patterns; without any, the set matches nothing.
pub(crate) fn patterns(config: &Config) -> Result<RegexSet, CrawlError> {
    let wrong = |why: String| CrawlError::Config { key: "scope_patterns", why };
    if config.scope == Scope::Pattern && config.scope_patterns.is_empty() {
        return Err(wrong("`scope = \"pattern\"` needs at least one".to_owned()));
    }
    RegexSetBuilder::new(&config.scope_patterns)
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|error| wrong(error.to_string()))
}
