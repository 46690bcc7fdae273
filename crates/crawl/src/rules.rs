//! Which URLs the crawl is about (V3): scope, limits, traps.
//!
//! What lives here: [`Rules`], and [`Refusal`], which says why not in words. What does not:
//! robots.txt, politeness, counts of pages: whatever depends on when one asks.
//!
//! **Invariant.** The answer depends on the configuration, the seeds and the URL only, so the crawl
//! while it runs, its resumption and `crivello why` a year later agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use page::Url;

use crate::config::{Config, Scope};

/// Decides about URLs by themselves.
#[derive(Debug, Clone)]
pub struct Rules {
    scope: Scope,
    /// What the scope compares: places or domains of the seeds.
    within: BTreeSet<String>,
    url_bytes_max: usize,
    path_repeats_max: usize,
    query_parameters_max: usize,
    skip_extensions: BTreeSet<String>,
}

/// Why a URL is not for this crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// Its host is not of the scope.
    Scope {
        /// The host.
        host: String,
        /// The scope.
        scope: Scope,
    },
    /// It is too long.
    Length {
        /// Its bytes.
        bytes: usize,
        /// How many are allowed.
        bytes_max: usize,
    },
    /// A segment comes again and again.
    Repetition {
        /// The segment.
        segment: String,
        /// How often.
        times: usize,
    },
    /// Its query string is a filing cabinet.
    Parameters {
        /// How many there are.
        count: usize,
        /// How many are allowed.
        count_max: usize,
    },
    /// It ends like something that is not a page.
    Extension {
        /// The ending.
        extension: String,
    },
    /// It is the robots.txt of its host, which is read as such and not as a page.
    RobotsFile,
}

impl Rules {
    /// The rules of a crawl that begins at `seeds`.
    pub fn new(config: &Config, seeds: &[Url]) -> Rules {
        let within = match config.scope {
            Scope::Host => seeds.iter().map(place).collect(),
            Scope::Domain => seeds.iter().map(domain).collect(),
            Scope::Any => BTreeSet::new(),
        };
        let extensions = config.skip_extensions.iter();
        Rules {
            scope: config.scope,
            within,
            url_bytes_max: config.url_bytes_max,
            path_repeats_max: config.path_repeats_max,
            query_parameters_max: config.query_parameters_max,
            skip_extensions: extensions
                .map(|extension| extension.trim_start_matches('.').to_ascii_lowercase())
                .collect(),
        }
    }

    /// Whether `url` may be a page of this crawl.
    pub fn check(&self, url: &Url) -> Result<(), Refusal> {
        self.check_sitemap(url)?;
        if let Some(extension) = extension(url.path())
            && self.skip_extensions.contains(&extension)
        {
            return Err(Refusal::Extension { extension });
        }
        Ok(())
    }

    /// Whether `url` may be a sitemap of this crawl: as [`Rules::check`], whatever it ends with.
    pub fn check_sitemap(&self, url: &Url) -> Result<(), Refusal> {
        let (bytes, bytes_max) = (url.as_str().len(), self.url_bytes_max);
        if bytes > bytes_max {
            return Err(Refusal::Length { bytes, bytes_max });
        }
        let inside = match self.scope {
            Scope::Host => self.within.contains(&place(url)),
            Scope::Domain => self.within.contains(&domain(url)),
            Scope::Any => true,
        };
        if !inside {
            let host = url.host_str().unwrap_or_default().to_owned();
            return Err(Refusal::Scope { host, scope: self.scope });
        }
        if url.path() == "/robots.txt" && url.query().is_none() {
            return Err(Refusal::RobotsFile);
        }
        self.check_traps(url)
    }

    fn check_traps(&self, url: &Url) -> Result<(), Refusal> {
        let count = url.query().map_or(0, |query| query.split('&').count());
        if count > self.query_parameters_max {
            return Err(Refusal::Parameters { count, count_max: self.query_parameters_max });
        }
        let segments = url.path().split('/').filter(|segment| !segment.is_empty());
        if segments.clone().count() <= self.path_repeats_max {
            return Ok(());
        }
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for segment in segments {
            let times = times.entry(segment).or_default();
            *times += 1;
            if *times > self.path_repeats_max {
                let segment = segment.to_owned();
                return Err(Refusal::Repetition { segment, times: *times });
            }
        }
        Ok(())
    }
}

impl Refusal {
    /// One word for the kind, under which refusals are counted.
    pub fn name(&self) -> &'static str {
        match self {
            Refusal::Scope { .. } => "scope",
            Refusal::Length { .. } => "length",
            Refusal::Repetition { .. } => "repetition",
            Refusal::Parameters { .. } => "parameters",
            Refusal::Extension { .. } => "extension",
            Refusal::RobotsFile => "robots-file",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Scope { host, scope: Scope::Domain } => {
                write!(out, "{host} is not in the domain of a seed (`scope = \"domain\"`)")
            }
            Refusal::Scope { host, .. } => {
                write!(out, "{host} is not the host of a seed (`scope = \"host\"`)")
            }
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
        }
    }
}

/// Host without `www.`, and the port unless it is the usual one: what the scope `host` compares.
fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// The registered domain; the host itself where there is none.
fn domain(url: &Url) -> String {
    let host = || url.host_str().unwrap_or_default().to_owned();
    page::registered_domain(url).unwrap_or_else(host)
}

fn extension(path: &str) -> Option<String> {
    let (_, name) = path.rsplit_once('/')?;
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty() && extension.len() <= 8).then(|| extension.to_ascii_lowercase())
}
