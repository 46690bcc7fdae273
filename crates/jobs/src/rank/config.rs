//! The section `[rank]` of crivello.toml.
//!
//! What lives here: the settings of `PageRank`, and the pages of each topic. What does not: the weight of the ranks
//! (crate `query`).
//!
//! **Invariant.** The pages and sites of a topic that passes [`RankConfig::check`] are valid addresses.

use std::collections::BTreeMap;

use collection::{Directory, Vector};
use graph::{DeadEnds, NodeId, PageRankConfig, Solver};
use page::{Filter, Limits, Url, normalise};
use serde::{Deserialize, Serialize};

/// How ranks are computed. [`PageRankConfig`] explains the first five fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RankConfig {
    /// Probability of following a link.
    pub damping: f64,
    /// Treatment of the rank of pages without links.
    pub dead_ends: DeadEnds,
    /// How the equations are solved.
    pub solver: Solver,
    /// Stop when the error bound is at most this.
    pub epsilon: f64,
    /// Maximum number of iterations.
    pub iterations_max: u32,
    /// The pages of each topic, by its name.
    pub topics: BTreeMap<String, Topic>,
}

/// The start pages of a topic. Its ranks flow from them along the links.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Topic {
    /// Their addresses.
    pub pages: Vec<String>,
    /// Hosts whose pages all belong to the topic, subdomains included.
    pub sites: Vec<String>,
}

impl Default for RankConfig {
    fn default() -> Self {
        let PageRankConfig { damping, dead_ends, solver, epsilon, iterations_max } =
            PageRankConfig::default();
        Self { damping, dead_ends, solver, epsilon, iterations_max, topics: BTreeMap::new() }
    }
}

impl RankConfig {
    /// How `PageRank` is computed.
    pub(crate) fn pagerank(&self) -> PageRankConfig {
        let &Self { damping, dead_ends, solver, epsilon, iterations_max, .. } = self;
        PageRankConfig { damping, epsilon, iterations_max, dead_ends, solver }
    }

    /// Checks the topics. Returns the reason if one is not valid.
    pub fn check(&self) -> Result<(), String> {
        for (name, topic) in &self.topics {
            let wrong = |why: String| format!("topic `{name}`: {why}");
            Vector::check_name(name).map_err(wrong)?;
            if topic.pages.is_empty() && topic.sites.is_empty() {
                return Err(wrong("it names neither `pages` nor `sites`".to_owned()));
            }
            if let Some(page) = topic.pages.iter().find(|page| address(page).is_none()) {
                return Err(wrong(format!(
                    "{page:?} is no web address, such as https://example.org/"
                )));
            }
            if let Some(site) = topic.sites.iter().find(|site| host(site).is_none()) {
                return Err(wrong(format!("{site:?} is no host, such as example.org")));
            }
        }
        Ok(())
    }
}

impl Topic {
    /// The settings that the topic's vector depends on, in lossless `Debug` format.
    pub(super) fn settings(&self, config: &RankConfig) -> String {
        format!("{:?} {self:?}", config.pagerank())
    }

    /// The nodes of the topic, ascending, and the configured pages and sites that the directory lacks.
    pub(super) fn nodes(&self, directory: &Directory) -> (Vec<NodeId>, Vec<String>) {
        let places = directory.resolver();
        let mut missing = Vec::new();
        let mut nodes = Vec::new();
        for page in &self.pages {
            match address(page).and_then(|page| places.get(page.as_str()).copied()) {
                Some(place) => nodes.push(NodeId(place)),
                None => missing.push(page.clone()),
            }
        }
        let sites: Vec<(&String, Option<String>)> =
            self.sites.iter().map(|site| (site, host(site))).collect();
        let mut is_there = vec![false; sites.len()];
        let entries = if sites.is_empty() { &[] } else { directory.entries() };
        for (place, entry) in (0..).zip(entries) {
            let Ok(url) = Url::parse(&entry.url) else { continue };
            let terms = Filter::of_url(&url);
            for ((_, term), is_there) in sites.iter().zip(&mut is_there) {
                if term.as_ref().is_some_and(|term| terms.contains(term)) {
                    *is_there = true;
                    nodes.push(NodeId(place));
                }
            }
        }
        let absent = sites.iter().zip(is_there).filter(|(_, is_there)| !is_there);
        missing.extend(absent.map(|((site, _), _)| (*site).clone()));
        nodes.sort_unstable();
        nodes.dedup();
        (nodes, missing)
    }
}

/// An address as the directory spells it.
pub(super) fn address(text: &str) -> Option<String> {
    normalise(text, None, &Limits::default()).ok().map(String::from)
}

/// The filter term of a host and its subdomains.
fn host(text: &str) -> Option<String> {
    let has_port = text.contains(':') && !text.ends_with(']');
    if has_port || text.contains(['/', '@', '?', '#', '\\']) {
        return None;
    }
    let url = normalise(&format!("http://{text}/"), None, &Limits::default()).ok()?;
    url.host_str().map(|host| Filter::Site.term(host.trim_end_matches('.')))
}
