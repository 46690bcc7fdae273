//! What every command is given: the folder, the settings, the way to answer.
//!
//! **Invariant.** Flags win over the environment, which wins over the file.

use std::env;
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use collection::Collection;
use serde::Serialize;

use crate::config::Config;
use crate::talk;

/// Stands for `--dir`.
const DIR: &str = "CRIVELLO_DIR";

/// Options that every command takes.
#[derive(Args)]
pub(crate) struct Context {
    /// Folder of the collection [default: the current folder; for `up`: crivello-data]
    #[arg(long, global = true, env = DIR)]
    dir: Option<PathBuf>,
    /// Answer in JSON: one object, or one a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress and no remarks, only errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
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

/// The user asked for something that cannot be meant: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

impl Context {
    /// The folder that was named, or `default`.
    pub(crate) fn dir_or(&self, default: &str) -> PathBuf {
        self.dir.clone().unwrap_or_else(|| PathBuf::from(default))
    }

    /// The folder that was named.
    pub(crate) fn dir(&self) -> Option<&PathBuf> {
        self.dir.as_ref()
    }

    /// Whether that is the one that the environment names.
    pub(crate) fn is_dir_of_environment(&self) -> bool {
        let named = env::var_os(DIR);
        named.is_some_and(|named| self.dir.as_deref() == Some(Path::new(&named)))
    }

    /// The collection that is there.
    pub(crate) fn collection(&self) -> Result<Collection> {
        Ok(Collection::open(&self.dir_or("."))?)
    }

    /// The settings of a collection: defaults, file, environment, `--set`.
    pub(crate) fn config(&self, collection: &Collection) -> Result<Config> {
        let file = collection.config_file();
        let config = Config::load(&file, &self.set)?;
        for warning in config.exposed(&file) {
            talk::say(self.quiet, &talk::plain(&warning));
        }
        Ok(config)
    }

    /// Whether the files that the settings of a collection name can be read.
    pub(crate) fn check_files(&self, collection: &Collection, config: &Config) -> Result<()> {
        config.check_files(&collection.config_file(), &self.set)
    }

    /// Whether a key is to have another value for this command.
    pub(crate) fn has_overrides(&self) -> bool {
        !self.set.is_empty()
    }

    /// Prints `value` as one line of JSON.
    #[expect(clippy::unused_self, reason = "called where `json` was looked at")]
    pub(crate) fn print_json(&self, value: &impl Serialize) -> Result<()> {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer(&mut out, value).map_err(std::io::Error::from)?;
        writeln!(out)?;
        Ok(())
    }
}
