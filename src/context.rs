//! Options of every command: the folder, the settings and the form of the output.
//!
//! **Invariant.** Flags win over the environment, which wins over the file.

use std::env;
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use collection::{Collection, CollectionError};
use serde::Serialize;

use crate::config::Config;
use crate::console::{self, Fact};

/// The environment variable for `--dir`.
const DIR: &str = "CRIVELLO_DIR";
/// The folder that `up` makes without `--dir`.
const UP_DIR: &str = "crivello-data";

/// Options that every command takes.
#[derive(Args)]
pub(crate) struct Context {
    /// Folder of the collection [default: the current folder; for `up`: crivello-data]
    #[arg(long, global = true, env = DIR)]
    dir: Option<PathBuf>,
    /// Answer in JSON: one object, or one a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print only errors: no progress and no remarks
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Print details as well
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Override a key of crivello.toml, as in `--set crawl.delay_ms=500`
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// How a command ended when it did not fail.
pub(crate) enum Exit {
    Done,
    NothingFound,
    Interrupted,
}

/// Wrong usage: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

impl Context {
    /// Returns the folder of `--dir`, or `default`.
    pub(crate) fn dir_or(&self, default: &str) -> PathBuf {
        self.dir.clone().unwrap_or_else(|| PathBuf::from(default))
    }

    /// Returns the folder of `--dir`.
    pub(crate) fn dir(&self) -> Option<&PathBuf> {
        self.dir.as_ref()
    }

    /// Returns whether the folder comes from the environment.
    pub(crate) fn is_dir_of_environment(&self) -> bool {
        let named = env::var_os(DIR);
        named.is_some_and(|named| self.dir.as_deref() == Some(Path::new(&named)))
    }

    /// Opens the collection of `--dir`, or that of the current folder.
    pub(crate) fn collection(&self) -> Result<Collection> {
        match Collection::open(&self.dir_or(".")) {
            Err(CollectionError::NotACollection { .. })
                if self.dir.is_none() && Collection::open(Path::new(UP_DIR)).is_ok() =>
            {
                bail!("no collection here; did you mean --dir {UP_DIR}?")
            }
            collection => Ok(collection?),
        }
    }

    /// Reads the settings of a collection: defaults, file, environment, `--set`.
    pub(crate) fn config(&self, collection: &Collection) -> Result<Config> {
        let file = collection.config_file();
        let config = Config::load(&file, &self.set)?;
        for warning in config.exposed(&file) {
            self.say("Warning", console::plain(&warning));
        }
        Ok(config)
    }

    /// Checks that the files that the settings name can be read.
    pub(crate) fn check_files(&self, collection: &Collection, config: &Config) -> Result<()> {
        config.check_files(&collection.config_file(), &self.set)
    }

    /// Returns whether the command line overrides a key.
    pub(crate) fn has_overrides(&self) -> bool {
        !self.set.is_empty()
    }

    /// Prints a labelled fact on standard error, unless `--quiet`.
    pub(crate) fn say(&self, label: &'static str, text: impl Into<String>) {
        self.fact(&Fact::new(label, text));
    }

    /// Prints a detail on standard error if `--verbose`.
    pub(crate) fn detail(&self, label: &'static str, text: impl Into<String>) {
        self.fact(&Fact::detail(label, text));
    }

    /// Prints a fact on standard error, a detail only if `--verbose`.
    pub(crate) fn fact(&self, fact: &Fact) {
        console::fact(!self.shows(fact), fact);
    }

    /// Returns whether a fact is to be shown.
    pub(crate) fn shows(&self, fact: &Fact) -> bool {
        !self.quiet && (self.verbose || !fact.is_detail)
    }

    /// Prints `value` as one line of JSON.
    #[expect(clippy::unused_self, reason = "called only if `json` is set")]
    pub(crate) fn print_json(&self, value: &impl Serialize) -> Result<()> {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer(&mut out, value).map_err(std::io::Error::from)?;
        writeln!(out)?;
        Ok(())
    }
}

/// A command for a collection, to copy into a shell.
pub(crate) fn command_line(collection: &Collection, command: &str) -> String {
    let root = collection.root();
    if root == Path::new(".") {
        return format!("crivello {command}");
    }
    let root = console::plain(&root.display().to_string());
    if root.chars().all(|letter| letter.is_alphanumeric() || "/._-".contains(letter)) {
        return format!("crivello {command} --dir {root}");
    }
    format!("crivello {command} --dir '{}'", root.replace('\'', "'\\''"))
}
