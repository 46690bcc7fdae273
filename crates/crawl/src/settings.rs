//! What a run was told about the URLs it visits, for those who ask later: `frontier/settings.json`.
//!
//! What lives here: [`Settings`], the values of the keys of `[crawl]` that decide which URLs are visited, written
//! when a run begins. A flag, `--set` or the environment may have given it others than `crivello.toml` has by
//! now. What does not: what the keys mean (`config.rs`); anything that may be secret.
//!
//! **Invariant.** The file is replaced at once, before the first request of its run. No crawl reads it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use durable::replace;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::Config;
use crate::error::CrawlError;

pub(crate) const NAME: &str = "settings.json";

/// The keys that decide whether a URL is visited.
const KEYS: [&str; 20] = [
    "follow",
    "sitemaps",
    "scope",
    "scope_prefixes",
    "scope_patterns",
    "fetch_filter",
    "parse_filter",
    "link_filter",
    "skip_extensions",
    "calendar_years",
    "path_repeats_max",
    "query_parameters_max",
    "url_bytes_max",
    "links_per_page_max",
    "depth_max",
    "redirects_max",
    "sitemap_bytes_max",
    "pages_per_host_max",
    "requests_per_host_max",
    "hosts_max",
];

/// The settings of the last run that began, by key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings(BTreeMap<String, Value>);

impl Settings {
    /// Those of a run with `config`.
    pub fn of(config: &Config) -> Settings {
        let value = serde_json::to_value(config).unwrap_or_default();
        let kept = KEYS.iter().filter_map(|&key| Some((key.to_owned(), value.get(key)?.clone())));
        Settings(kept.collect())
    }

    /// Those of the last run that began in this folder; `None` if there was none, or they cannot be read.
    pub fn read(frontier: &Path) -> Option<Settings> {
        serde_json::from_slice(&fs::read(frontier.join(NAME)).ok()?).ok()
    }

    /// Fails if there are some that cannot be read.
    pub fn check(frontier: &Path) -> Result<(), CrawlError> {
        let path = frontier.join(NAME);
        let is_sound = !path.exists() || Settings::read(frontier).is_some();
        if is_sound { Ok(()) } else { Err(CrawlError::Note { path }) }
    }

    /// Keeps them in place of those of the run before.
    pub(crate) fn write(&self, frontier: &Path) -> Result<(), CrawlError> {
        let path = frontier.join(NAME);
        let text = serde_json::to_string(self).map_err(io::Error::from);
        let written = text.and_then(|text| replace(&path, text + "\n"));
        written.map_err(CrawlError::io(&path))
    }

    /// The keys for which `config` has other values.
    pub fn other_than(&self, config: &Config) -> Vec<&str> {
        let Settings(now) = Settings::of(config);
        let others =
            self.0.iter().filter(|(key, value)| now.get(*key).is_some_and(|now| now != *value));
        others.map(|(key, _)| key.as_str()).collect()
    }

    /// `config` with these in place of its own; `None` if that is no configuration.
    pub fn put_into(&self, config: &Config) -> Option<Config> {
        let mut value = serde_json::to_value(config).ok()?;
        let table = value.as_object_mut()?;
        let known = self.0.iter().filter(|(key, _)| KEYS.contains(&key.as_str()));
        table.extend(known.map(|(key, value)| (key.clone(), value.clone())));
        let config: Config = serde_json::from_value(value).ok()?;
        config.check().is_ok().then_some(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_a_run_are_told_apart_from_those_of_now() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        assert_eq!(Settings::read(dir.path()), None);
        let now = Config { contact: "me@a.test".to_owned(), ..Config::default() };
        let then = Config {
            depth_max: 1,
            fetch_filter: "path = /".to_owned(),
            delay_ms: 7,
            contact: "secret".to_owned(),
            ..Config::default()
        };
        Settings::of(&then).write(dir.path()).expect("a folder");
        let kept = Settings::read(dir.path()).expect("settings");
        assert_eq!(kept.other_than(&now), ["depth_max", "fetch_filter"]);
        let mixed = kept.put_into(&now).expect("a configuration");
        assert_eq!((mixed.depth_max, mixed.fetch_filter.as_str()), (1, "path = /"));
        assert_eq!((mixed.delay_ms, &mixed.contact), (now.delay_ms, &now.contact));
        let text = fs::read_to_string(dir.path().join(NAME)).expect("text");
        assert!(!text.contains("secret"), "{text}");
        assert!(Settings::of(&now).other_than(&now).is_empty());
        assert_eq!(Settings::of(&now).0.len(), KEYS.len(), "every key is one");
        fs::write(dir.path().join(NAME), "{\"depth_max\":").expect("a file");
        assert_eq!(Settings::read(dir.path()), None);
    }
}
