//! `crivello.toml`: text becomes types here, once.
//!
//! What lives here: the sections, the order of precedence (defaults, file, environment, `--set`), and
//! messages that show the line and suggest the key that was meant. What does not: what the keys do;
//! each section is the configuration of one crate.
//!
//! **Invariant.** An unknown key is an error wherever it comes from. The commented file that `init`
//! writes (`crivello.toml` beside this one) names every key with its default; a test compares.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::context::Usage;

/// What `init` writes.
pub(crate) const TEMPLATE: &str = include_str!("crivello.toml");
/// How far a misspelt key may be from the one suggested.
const LIKENESS_MIN: f64 = 0.7;

/// A line longer than this is not repeated in a message.
const SHOWN_BYTES_MAX: usize = 400;

/// All settings of a collection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) crawl: crawl::Config,
    pub(crate) analysis: page::AnalysisConfig,
    pub(crate) dedup: neardup::Config,
    pub(crate) rank: graph::PageRankConfig,
    pub(crate) index: index::Config,
    pub(crate) search: query::Config,
    pub(crate) serve: serve::Config,
}

impl Config {
    /// Defaults, then the file if there is one, then the environment, then `overrides`.
    pub(crate) fn load(file: &Path, overrides: &[String]) -> Result<Self> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", file.display()));
            }
        };
        let mut config = Self::parse(&text, &file.display().to_string())?;
        config.find_files(file.parent().unwrap_or(Path::new("")));
        let mut changes = from_environment(&environment())?;
        for assignment in overrides {
            changes.push(from_flag(assignment)?);
        }
        let config = if changes.is_empty() { config } else { config.with(changes)? };
        config.check()?;
        Ok(config)
    }

    /// Files that a configuration in `folder` names lie there unless it says otherwise.
    fn find_files(&mut self, folder: &Path) {
        for path in [&mut self.crawl.tls_roots, &mut self.crawl.cookies_file] {
            if !path.as_os_str().is_empty() {
                *path = folder.join(&path);
            }
        }
    }

    /// Whether every value can be obeyed, as far as reading it does not tell.
    fn check(&self) -> Result<()> {
        let wrong = |section: &str, error: &dyn std::fmt::Display| {
            Usage(format!("the section [{section}] of crivello.toml: {error}"))
        };
        self.crawl.check().map_err(|error| wrong("crawl", &error))?;
        page::Analyzer::build(&self.analysis).map_err(|error| wrong("analysis", &error))?;
        let bounds = [
            ("dedup", "distance_max", f64::from(self.dedup.distance_max), 0.0, 16.0),
            ("rank", "damping", self.rank.damping, 0.0, 0.999),
            ("rank", "epsilon", self.rank.epsilon, 1e-15, 1.0),
        ];
        for (section, key, value, least, most) in bounds {
            if !(least..=most).contains(&value) {
                let message = format!("`{key}` is {value}, and must be from {least} to {most}");
                return Err(wrong(section, &message).into());
            }
        }
        let results = self.serve.results_per_page;
        if !(1..=serve::RESULTS_MAX).contains(&results) {
            let most = serve::RESULTS_MAX;
            let message = format!("`results_per_page` is {results}, and must be from 1 to {most}");
            return Err(wrong("serve", &message).into());
        }
        Ok(())
    }

    /// Reads the text of a file; `name` is for messages.
    pub(crate) fn parse(text: &str, name: &str) -> Result<Self> {
        toml::from_str(text).map_err(|error| Usage(explain(&error, text, name)).into())
    }

    fn with(self, changes: Vec<Change>) -> Result<Self> {
        changes.into_iter().try_fold(self, Self::with_change)
    }

    fn with_change(self, change: Change) -> Result<Self> {
        let mut table = Table::try_from(&self).context("the settings cannot be written as TOML")?;
        let name = format!("{}.{} = {}", change.section, change.key, change.text);
        let section = table.entry(change.section).or_insert_with(|| Table::new().into());
        if let Value::Table(section) = section {
            let is_text = matches!(section.get(&change.key), Some(Value::String(_)));
            section.insert(change.key, value_of(&change.text, is_text));
        }
        // Nobody has seen this text, so no line of it is shown.
        let text = toml::to_string(&table).context("the settings cannot be written as TOML")?;
        toml::from_str(&text).map_err(|error: toml::de::Error| {
            let shown: String = name.chars().take(SHOWN_BYTES_MAX).collect();
            Usage(format!("{shown}: {}", message_of(error.message()))).into()
        })
    }
}

/// One key that is to have another value.
#[derive(Debug, PartialEq)]
struct Change {
    section: String,
    key: String,
    /// As it was written.
    text: String,
}

/// `crawl.delay_ms=500`.
fn from_flag(assignment: &str) -> Result<Change> {
    let wrong = || Usage(format!("--set takes SECTION.KEY=VALUE, not `{assignment}`"));
    let (path, value) = assignment.split_once('=').ok_or_else(wrong)?;
    let (section, key) = path.trim().split_once('.').ok_or_else(wrong)?;
    Ok(Change { section: section.to_owned(), key: key.to_owned(), text: value.trim().to_owned() })
}

/// The variables that are text; what is not cannot be meant for us.
fn environment() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// `CRIVELLO_CRAWL_DELAY_MS=500`; other variables with the prefix are an error.
fn from_environment(variables: &[(String, String)]) -> Result<Vec<Change>> {
    let known = Table::try_from(Config::default()).context("the defaults are not TOML")?;
    let mut changes = Vec::new();
    for (name, value) in variables {
        let Some(rest) = name.strip_prefix("CRIVELLO_") else { continue };
        if FOREIGN.contains(&rest) {
            continue;
        }
        let rest = rest.to_lowercase();
        let section = known.keys().find(|section| rest.starts_with(&format!("{section}_")));
        let Some(section) = section else {
            return Err(
                Usage(format!("the variable {name} names no section of crivello.toml")).into()
            );
        };
        let key = rest[section.len() + 1..].to_owned();
        changes.push(Change { section: section.clone(), key, text: value.clone() });
    }
    Ok(changes)
}

/// Variables that mean something else: a flag of ours, or the tests' tools.
const FOREIGN: [&str; 2] = ["DIR", "SHARED"];

/// A TOML value where it reads as one, otherwise a string; where a string belongs, only quotes are
/// TOML's.
fn value_of(text: &str, is_text: bool) -> Value {
    let read = toml::from_str::<Table>(&format!("value = {text}"));
    let value =
        read.ok().filter(|table| table.len() == 1).and_then(|mut table| table.remove("value"));
    let fits = |value: &Value| !is_text || matches!(value, Value::String(_));
    value.filter(fits).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The message, the line it is about, and the key that was perhaps meant.
fn explain(error: &toml::de::Error, text: &str, name: &str) -> String {
    let mut message = format!("{name}: {}", message_of(error.message()));
    if let Some(span) = error.span() {
        let before = text.get(..span.start).unwrap_or(text);
        let line_number = before.matches('\n').count() + 1;
        let line = text.lines().nth(line_number - 1).unwrap_or_default();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        let gutter = format!("{line_number} | ");
        if line.len() <= SHOWN_BYTES_MAX {
            let _ = write!(message, "\n  {gutter}{line}\n  {:1$}^", "", gutter.len() + column);
        } else {
            let _ = write!(message, "\n  in line {line_number}, column {}", column + 1);
        }
    }
    message
}

/// What is wrong, in words for people: not the list of all keys, but the one that was perhaps meant.
fn message_of(message: &str) -> String {
    let (what, _) = message.split_once(", expected one of").unwrap_or((message, ""));
    match suggestion(message) {
        Some(key) => format!("{what}; did you mean `{key}`?"),
        None => what.replace("expected u64", "expected a whole number that is not negative"),
    }
}

/// The key nearest to the unknown one, out of serde's own list of those it knows.
fn suggestion(message: &str) -> Option<&str> {
    let mut names = message.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    let likeness = |name: &str| strsim::jaro_winkler(unknown, name);
    let best = names.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) >= LIKENESS_MIN).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_the_default_with_every_key_named() {
        assert_eq!(Config::parse(TEMPLATE, "template").expect("the template"), Config::default());
        let table = Table::try_from(Config::default()).expect("TOML");
        for (section, keys) in &table {
            let (_, after) = TEMPLATE.split_once(&format!("[{section}]")).expect(section);
            let body = after.split("\n[").next().expect("a section");
            for key in keys.as_table().expect("a section").keys() {
                let set = |line: &str| line.starts_with(&format!("{key} ="));
                let at = body.lines().position(set).unwrap_or_else(|| panic!("{section}.{key}"));
                let above = body.lines().nth(at - 1).expect("a line above");
                assert!(above.starts_with("# "), "{section}.{key} has no comment above it");
            }
        }
    }

    #[test]
    fn an_unknown_key_shows_its_line_and_the_key_that_was_meant() {
        let text = "[crawl]\nuser_agent = \"x\"\ndelay_sm = 5\n";
        let error = Config::parse(text, "crivello.toml").expect_err("unknown").to_string();
        assert!(error.contains("3 | delay_sm = 5\n      ^"), "{error}");
        assert!(error.contains("did you mean `delay_ms`?"), "{error}");
    }

    #[test]
    fn environment_and_flags_override_the_file() {
        let variables = [("CRIVELLO_CRAWL_DELAY_MS".to_owned(), "7".to_owned())];
        let mut changes = from_environment(&variables).expect("known");
        changes.push(from_flag("serve.title=2026").expect("well formed"));
        let config = Config::default().with(changes).expect("valid");
        assert_eq!(config.crawl.delay_ms, 7);
        assert_eq!(config.serve.title, "2026");
        assert!(from_flag("delay=3").is_err());
        let unknown = [("CRIVELLO_CRAWLER".to_owned(), "7".to_owned())];
        assert!(from_environment(&unknown).is_err());
    }
}
