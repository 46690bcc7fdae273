//! `crivello.toml`: text becomes types here, once.
//!
//! What lives here: the sections, the order of precedence (defaults, file, environment, `--set`), and the source of an
//! invalid value. What does not: the meaning of the keys (each section is the configuration of one crate), messages of
//! the TOML parser (`config/message.rs`), passwords (`config/secrets.rs`).
//!
//! **Invariant.** An unknown key is an error, from every source. A message names the source, but no value of a key that
//! may hold a password. The template that `init` writes (`crivello.toml` beside this file) has every key with its
//! default; a test compares.

mod message;
mod secrets;

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result};
use crawl::CrawlError;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::context::Usage;

pub(crate) use secrets::write_private;

use message::{block_of, explain, in_words, is_secret, line_of, listed, shortened, show};

/// The file that `init` writes.
pub(crate) const TEMPLATE: &str = include_str!("crivello.toml");

/// All settings of a collection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) crawl: crawl::Config,
    pub(crate) analysis: page::AnalysisConfig,
    pub(crate) dedup: jobs::FoldConfig,
    pub(crate) rank: jobs::RankConfig,
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
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                return Err(Usage(format!("{} is not UTF-8", file.display())).into());
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", file.display()));
            }
        };
        let name = file.display().to_string();
        let mut written = Self::parse(&text, &name)?;
        written.find_files(file.parent().unwrap_or(Path::new("")));
        let changes = changes(overrides)?;
        let mut config = written.clone().with(&changes)?;
        // The bounds of the index are tightest for the `b` of the search.
        config.index.slope = index::Slope::of(config.search.b);
        let Err(fault) = config.check() else { return Ok(config) };
        let is_written = written.check().is_err();
        Err(Usage(blame(&fault, &changes, is_written, &text, &name)).into())
    }

    /// Checks that the files it names can be read. `file` and `overrides` are the sources it was loaded from.
    pub(crate) fn check_files(&self, file: &Path, overrides: &[String]) -> Result<()> {
        let Err(error) = self.crawl.check_files() else { return Ok(()) };
        if !matches!(error, CrawlError::Config { .. } | CrawlError::Auth { .. }) {
            return Err(error.into());
        }
        let fault = Fault::from(error);
        let changes = changes(overrides)?;
        let text = fs::read_to_string(file).unwrap_or_default();
        Err(Usage(blame(&fault, &changes, true, &text, &file.display().to_string())).into())
    }

    /// Makes the paths of files relative to `folder`.
    fn find_files(&mut self, folder: &Path) {
        for path in [&mut self.crawl.tls_roots, &mut self.crawl.cookies_file] {
            if !path.as_os_str().is_empty() {
                *path = folder.join(&path);
            }
        }
    }

    /// Checks the values that have a valid type.
    fn check(&self) -> Result<(), Fault> {
        self.crawl.check()?;
        for bound in self.bounds() {
            let Bound { section, key, value, least, most } = bound;
            if !(least..=most).contains(&value) {
                let why = format!("it is {value}, and must be {bound}");
                return Err(Fault { section, key, entry: None, why });
            }
        }
        self.rank.check().map_err(|why| Fault {
            section: "rank",
            key: "topics",
            entry: None,
            why,
        })?;
        page::Analyzer::build(&self.analysis).map_err(|error| Fault {
            section: "analysis",
            key: "stemmer",
            entry: None,
            why: error.to_string(),
        })?;
        if let Some(host) = self.serve.invalid_host() {
            let why = format!(
                "{host:?} is not a host; write a name or an address without scheme and port, such as \
                 \"search.example.org\""
            );
            return Err(Fault { section: "serve", key: "hosts", entry: None, why });
        }
        Ok(())
    }

    /// The numbers of all sections but `[crawl]`, with their bounds. A number in a table has a key with a dot.
    #[expect(clippy::cast_precision_loss, reason = "what is beyond 2^53 is out of bounds")]
    pub(crate) fn bounds(&self) -> Vec<Bound> {
        let Config { analysis, dedup, rank, index, serve, .. } = self;
        let (term_least, term_most) =
            (page::TERM_BYTES_LEAST as f64, page::TERM_BYTES_LIMIT as f64);
        let memory_bytes = index.memory_bytes as f64;
        let (results, results_max) = (serve.results_per_page as f64, serve::RESULTS_MAX as f64);
        let of_search = self.search.ranges();
        let of_search =
            of_search.map(|(key, value, least, most)| ("search", key, value, least, most));
        [
            ("analysis", "term_bytes_max", analysis.term_bytes_max as f64, term_least, term_most),
            ("dedup", "distance_max", f64::from(dedup.distance_max), 0.0, 16.0),
            ("rank", "damping", rank.damping, 0.0, 0.999),
            ("rank", "epsilon", rank.epsilon, 1e-15, 1.0),
            ("rank", "iterations_max", rank.iterations_max.into(), 1.0, 1_000_000.0),
            ("index", "threads", index.threads as f64, 0.0, 1024.0),
            ("index", "memory_bytes", memory_bytes, f64::from(16 << 20), (1_u64 << 40) as f64),
            ("serve", "results_per_page", results, 1.0, results_max),
        ]
        .into_iter()
        .chain(of_search)
        .map(|(section, key, value, least, most)| Bound { section, key, value, least, most })
        .collect()
    }

    /// The words that a key or the items of its list may have; none if any text is valid.
    pub(crate) fn choices(section: &str, key: &str) -> Vec<String> {
        if (section, key) == ("analysis", "stemmer") {
            return page::stemmers().map(str::to_owned).collect();
        }
        // The error of the parser for an unknown word lists the known ones.
        let words = match Self::default().with_word(section, key, "?") {
            Ok(_) => Vec::new(),
            Err(error) => listed(error.message()).into_iter().map(str::to_owned).collect(),
        };
        let is_refused = |word: &String| match Self::default().with_word(section, key, word) {
            Ok(config) => config.check().is_err_and(|fault| fault.key == key),
            Err(_) => true,
        };
        words.into_iter().filter(|word| !is_refused(word)).collect()
    }

    /// Sets a key, or the only item of its list, to a word.
    fn with_word(self, section: &str, key: &str, word: &str) -> Result<Self, toml::de::Error> {
        let mut table = Table::try_from(&self).unwrap_or_default();
        let value = table.get_mut(section).and_then(|section| section.get_mut(key));
        match value {
            Some(value @ Value::String(_)) => *value = word.into(),
            Some(Value::Array(items)) => *items = vec![word.into()],
            _ => {}
        }
        table.try_into()
    }

    /// Reads the text of a file; `name` is for messages.
    pub(crate) fn parse(text: &str, name: &str) -> Result<Self> {
        let wrong = |error: &toml::de::Error| Usage(explain(error, text, name));
        let config: Self = toml::from_str(text).map_err(|error| wrong(&error))?;
        let table: Table = toml::from_str(text).map_err(|error| wrong(&error))?;
        config.check_tables(&table).map_err(|why| Usage(format!("{name}: {why}")))?;
        Ok(config)
    }

    fn with(self, changes: &[Change]) -> Result<Self> {
        changes.iter().try_fold(self, Self::with_change)
    }

    fn with_change(self, change: &Change) -> Result<Self> {
        let mut table = Table::try_from(&self).context("the settings cannot be written as TOML")?;
        let section = table.entry(&change.section).or_insert_with(|| Table::new().into());
        if let Value::Table(section) = section {
            let is_text = matches!(section.get(&change.key), Some(Value::String(_)));
            section.insert(change.key.clone(), value_of(&change.text, is_text));
        }
        let wrong = |why: &str| Usage(format!("{change}: {why}"));
        let is_secret = is_secret(&change.path());
        // The user has not written this text, so the message shows no line of it.
        let text = toml::to_string(&table).context("the settings cannot be written as TOML")?;
        let config: Self = toml::from_str(&text).map_err(|error: toml::de::Error| {
            let range = range_of(&change.section, &change.key);
            wrong(&in_words(error.message(), range.as_deref(), is_secret))
        })?;
        config.check_tables(&table).map_err(|why| wrong(&why))?;
        Ok(config)
    }

    /// Checks that every table was written as a table. The parser would read a list as the values of the keys in order.
    fn check_tables(&self, written: &Table) -> Result<(), String> {
        let read = Table::try_from(self).map_err(|error| error.to_string())?;
        let list =
            written.iter().find_map(|(key, value)| list_for_table(key, value, read.get(key)?));
        list.map_or(Ok(()), |path| {
            Err(format!("`{path}` is a list, and must be a table, such as {{ key = \"value\" }}"))
        })
    }
}

/// The path of a list that was read as a table.
fn list_for_table(path: &str, written: &Value, read: &Value) -> Option<String> {
    match (written, read) {
        (Value::Array(_), Value::Table(_)) => Some(path.to_owned()),
        (Value::Table(written), Value::Table(read)) => written.iter().find_map(|(key, value)| {
            list_for_table(&format!("{path}.{key}"), value, read.get(key)?)
        }),
        (Value::Array(written), Value::Array(read)) => {
            written.iter().zip(read).find_map(|(written, read)| list_for_table(path, written, read))
        }
        _ => None,
    }
}

/// A number and its bounds.
pub(crate) struct Bound {
    pub(crate) section: &'static str,
    pub(crate) key: &'static str,
    value: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl fmt::Display for Bound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "from {} to {}", self.least, self.most)
    }
}

/// A value that is not valid.
struct Fault {
    section: &'static str,
    key: &'static str,
    /// The number of the block, from 1.
    entry: Option<usize>,
    why: String,
}

impl From<CrawlError> for Fault {
    fn from(error: CrawlError) -> Fault {
        let (key, entry, why) = match error {
            CrawlError::Config { key, why } => (key, None, why),
            CrawlError::Auth { number, why } => {
                ("auth", Some(number), format!("entry {number}: {why}"))
            }
            other => ("", None, format!("{other:#}")),
        };
        Fault { section: "crawl", key, entry, why }
    }
}

/// Returns whether a section has a key.
fn has_key(section: &str, key: &str) -> bool {
    let known = Table::try_from(Config::default()).unwrap_or_default();
    known.get(section).is_some_and(|section| section.get(key).is_some())
}

/// The bounds of a key that is a number.
fn range_of(section: &str, key: &str) -> Option<String> {
    let config = Config::default();
    if section == "crawl" {
        let ranges = config.crawl.ranges();
        return ranges.iter().find(|range| range.key == key).map(ToString::to_string);
    }
    let is_it = |bound: &&Bound| bound.section == section && bound.key == key;
    config.bounds().iter().find(is_it).map(Bound::to_string)
}

/// The message of a fault with its source. `is_written` says whether the file alone has it.
fn blame(fault: &Fault, changes: &[Change], is_written: bool, text: &str, name: &str) -> String {
    let Fault { section, key, entry, why } = fault;
    let what = format!("the key `{key}` of [{section}] cannot be used: {why}");
    let is_it = |change: &&Change| change.section == *section && change.key == *key;
    if let Some(change) = changes.iter().rfind(is_it) {
        return format!("{change}: {what}");
    }
    if !is_written {
        let changes: Vec<String> = changes.iter().map(Change::name).collect();
        return format!("with {}: {what}", changes.join(", "));
    }
    let block = entry.and_then(|entry| block_of(text, section, key, entry));
    let line = block.or_else(|| line_of(text, section, key)).map(|line| show(text, line));
    format!("{name}: {what}{}", line.unwrap_or_default())
}

/// One key with a new value.
#[derive(Debug, PartialEq)]
struct Change {
    section: String,
    key: String,
    /// The value as written.
    text: String,
    /// The environment variable; `None` for a flag.
    variable: Option<String>,
}

impl Change {
    fn path(&self) -> String {
        format!("{}.{}", self.section, self.key)
    }

    /// The source without the value.
    fn name(&self) -> String {
        self.variable.clone().unwrap_or_else(|| format!("--set {}", self.path()))
    }
}

impl fmt::Display for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name())?;
        if is_secret(&self.path()) { Ok(()) } else { write!(out, "={}", shortened(&self.text)) }
    }
}

/// The changes of the environment and of the flags, the strongest last.
fn changes(overrides: &[String]) -> Result<Vec<Change>> {
    let mut changes = from_environment(&environment())?;
    for assignment in overrides {
        changes.push(from_flag(assignment)?);
    }
    Ok(changes)
}

/// `crawl.delay_ms=500`.
fn from_flag(assignment: &str) -> Result<Change> {
    // The value may be a password.
    let (name, equals) =
        assignment.split_once('=').map_or((assignment, ""), |(name, _)| (name, "=…"));
    let wrong = || Usage(format!("--set takes SECTION.KEY=VALUE, not `{name}{equals}`"));
    let (path, value) = assignment.split_once('=').ok_or_else(wrong)?;
    let (section, key) = path.trim().split_once('.').ok_or_else(wrong)?;
    let (section, key, text) = (section.to_owned(), key.to_owned(), value.trim().to_owned());
    Ok(Change { section, key, text, variable: None })
}

/// The variables in UTF-8.
fn environment() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

/// `CRIVELLO_CRAWL_DELAY_MS=500`. Other variables with the prefix are an error.
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
        let (section, text, variable) = (section.clone(), value.clone(), Some(name.clone()));
        changes.push(Change { section, key, text, variable });
    }
    Ok(changes)
}

/// Variables with another meaning: `--dir`, and tools of the tests.
const FOREIGN: [&str; 2] = ["DIR", "SHARED"];

/// A TOML value, or a string if the text is not TOML. If the key wants a string, only a quoted text is TOML.
fn value_of(text: &str, is_text: bool) -> Value {
    let read = toml::from_str::<Table>(&format!("value = {text}"));
    let value =
        read.ok().filter(|table| table.len() == 1).and_then(|mut table| table.remove("value"));
    let fits = |value: &Value| !is_text || matches!(value, Value::String(_));
    value.filter(fits).unwrap_or_else(|| Value::String(text.to_owned()))
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
    fn an_unknown_key_is_reported_with_line_and_suggestion() {
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
        let config = Config::default().with(&changes).expect("valid");
        assert_eq!(config.crawl.delay_ms, 7);
        assert_eq!(config.serve.title, "2026");
        assert!(from_flag("delay=3").is_err());
        let unknown = [("CRIVELLO_CRAWLER".to_owned(), "7".to_owned())];
        assert!(from_environment(&unknown).is_err());
    }
}
