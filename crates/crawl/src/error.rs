//! What can stop a crawl as a whole. What happens to one page is an outcome, not an error: see
//! `outcome.rs`.
//!
//! **Invariant.** Whatever the error, what was archived before stays archived, and a crawl can go on from it.

use std::io;
use std::path::{Path, PathBuf};

impl CrawlError {
    /// What becomes of an error of the system about `path`.
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> CrawlError {
        let path = path.to_owned();
        move |source| CrawlError::Io { path: path.clone(), source }
    }
}

/// Why a crawl could not begin or go on. What was archived before stays archived.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrawlError {
    /// A key of the configuration cannot be obeyed.
    #[error("the key `{key}` of the crawl cannot be used: {why}")]
    Config {
        /// The key, as in the file.
        key: &'static str,
        /// What is wrong with it, and what would do.
        why: String,
    },
    /// One of the entries of `auth` cannot be obeyed.
    #[error("the key `auth` of the crawl cannot be used: entry {number}: {why}")]
    Auth {
        /// Which of them, from 1.
        number: usize,
        /// What is wrong with it, and what would do.
        why: String,
    },
    /// Owners of sites must be able to reach whoever crawls them.
    #[error(
        "{host} is not on this machine, and a crawl of other people's servers must say who \
         crawls: set `contact` under [crawl] in crivello.toml, or with --set crawl.contact=…, to a web \
         page or an e-mail address"
    )]
    NoContact {
        /// The first host that needs it.
        host: String,
    },
    /// What was given for an address of the web is none.
    #[error("{text:?} cannot be crawled: {why}")]
    Address {
        /// As it was given.
        text: String,
        /// Why not, and what to write instead.
        why: String,
    },
    /// Nothing to begin with.
    #[error(
        "no seeds: name at least one address to begin with, as in `crivello crawl https://example.org`"
    )]
    NoSeeds,
    /// Two crawls over one folder would tear the archive apart.
    #[error("another crawl is at work in {path}; wait for it or stop it")]
    Busy {
        /// The lock file.
        path: PathBuf,
    },
    /// A file of the frontier.
    #[error("cannot access {path}")]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the frontier that is none of ours, or damaged.
    #[error(
        "{path} cannot be understood: remove it, and begin the recrawl that it told of again with \
         `crivello crawl --recrawl`, which asks for all its pages once more"
    )]
    Recrawl {
        /// The file.
        path: PathBuf,
    },
    /// A report that is not as it was written.
    #[error("{path} is damaged, or of another version: the next crawl writes it again")]
    Report {
        /// The file.
        path: PathBuf,
    },
    /// A note of the crawl for itself that is not as it was written.
    #[error(
        "{path} is damaged: the next crawl goes on without it, and makes it again if there is need"
    )]
    Note {
        /// The file.
        path: PathBuf,
    },
    /// A log of visits that is none from a byte on.
    #[error("{path} is damaged at byte {offset}: the next crawl makes it again from the archive")]
    Log {
        /// The file.
        path: PathBuf,
        /// Where.
        offset: u64,
    },
    /// A line of the file of seeds that is no address.
    #[error(
        "{path} is damaged: line {line}, {text:?}, is no address: {why}; mend the line, or remove it"
    )]
    Seeds {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// The line.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// A file of seeds that is not as it was written.
    #[error(
        "{path} is damaged: it is not as it was written; mend the addresses in it, if they are others than you gave, and \
         remove its last line, if that is no address; behind each address stands a line break"
    )]
    SeedsSum {
        /// The file.
        path: PathBuf,
    },
    /// A file of seeds without a checksum that ends in the middle of a line.
    #[error(
        "{path} is damaged: behind its last line, {text:?}, stands no line break, so that it may be half an address; mend \
         it, if it is another than you gave, and put a line break behind it"
    )]
    SeedsCut {
        /// The file.
        path: PathBuf,
        /// The line.
        text: String,
    },
    /// A crawl has begun, and what it began with is not known any more.
    #[error(
        "{path} is missing or empty: `crivello crawl URL`, with the addresses that the crawl began with, writes it again"
    )]
    SeedsGone {
        /// The file.
        path: PathBuf,
    },
    /// Something else has the name of a file of the frontier.
    #[error("{path} is a folder where the crawl keeps a file: move it elsewhere")]
    InTheWay {
        /// The folder.
        path: PathBuf,
    },
    /// The system would not give what fetching needs.
    #[error("cannot start the fetchers")]
    Start {
        /// What the system said.
        source: io::Error,
    },
    /// Other programs, or this one, hold all descriptors that there may be.
    #[error(
        "no file and no connection can be opened, and a minute's wait has not helped: raise the limit \
         of open files (ulimit -n), or lower `fetchers` and `idle_connections_max`"
    )]
    Descriptors {
        /// What the system said.
        source: io::Error,
    },
    /// The archive could not be read or written, for instance because the disk is full.
    #[error(transparent)]
    Archive(#[from] archive::ArchiveError),
    /// The sieve could not be read or written.
    #[error(transparent)]
    Sieve(#[from] sieve::SieveError),
    /// A thread of ours ended before its time: a bug.
    #[error("a {stage} thread ended unexpectedly; this is a bug, please report it")]
    Lost {
        /// Which stage.
        stage: &'static str,
    },
}
