//! Errors that stop a whole crawl. The failure of one page is an outcome, not an error: see `outcome.rs`.

use std::io;
use std::path::{Path, PathBuf};

impl CrawlError {
    /// Wraps an I/O error about `path`.
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> CrawlError {
        let path = path.to_owned();
        move |source| CrawlError::Io { path: path.clone(), source }
    }
}

/// Why a crawl could not start or continue. Everything archived before stays archived.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrawlError {
    /// A configuration key has an invalid value.
    #[error("the key `{key}` of [crawl] cannot be used: {why}")]
    Config {
        /// The key, as in the file.
        key: &'static str,
        /// The error in the value, and what to write instead.
        why: String,
    },
    /// An entry of `auth` is invalid.
    #[error("the key `auth` of [crawl] cannot be used: entry {number}: {why}")]
    Auth {
        /// The number of the entry, from 1.
        number: usize,
        /// The error in the entry, and what to write instead.
        why: String,
    },
    /// The crawl has no contact. Site owners must be able to reach the operator of a crawler.
    #[error(
        "cannot crawl {host}: a crawl of other people's servers needs a contact; set `contact` under [crawl] in \
         crivello.toml, or `--set crawl.contact=…`, to a web page or an e-mail address"
    )]
    NoContact {
        /// The first host that needs a contact.
        host: String,
    },
    /// A text is not a web address.
    #[error("cannot crawl {text:?}: {why}")]
    Address {
        /// The text, as given.
        text: String,
        /// Why it is not an address, and what to write instead.
        why: String,
    },
    /// The crawl has no seeds.
    #[error(
        "cannot start the crawl: no seeds; name at least one address, as in `crivello crawl https://example.org`"
    )]
    NoSeeds,
    /// Another crawl holds the lock. Two crawls in one folder would corrupt the archive.
    #[error("cannot lock {path}: another crawl uses this folder; wait for it or stop it")]
    Busy {
        /// The lock file.
        path: PathBuf,
    },
    /// A file of the frontier cannot be read or written.
    #[error("cannot access {path}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The recrawl file is damaged, or another program wrote it.
    #[error(
        "cannot read {path}: not a valid recrawl file; remove it and run `crivello crawl --recrawl`, which starts the \
         recrawl again"
    )]
    Recrawl {
        /// The file.
        path: PathBuf,
    },
    /// The report of the last crawl is damaged.
    #[error("cannot read {path}: damaged or of another version; the next crawl writes it again")]
    Report {
        /// The file.
        path: PathBuf,
    },
    /// A file of internal state is damaged.
    #[error("cannot read {path}: damaged; the next crawl continues without it")]
    Note {
        /// The file.
        path: PathBuf,
    },
    /// A log of visits is damaged.
    #[error(
        "cannot read {path}: damaged at byte {offset}; the next crawl rebuilds it from the archive"
    )]
    Log {
        /// The file.
        path: PathBuf,
        /// The byte where the damage begins.
        offset: u64,
    },
    /// A line of the seeds file is not an address.
    #[error(
        "cannot read {path}: line {line}, {text:?}, is not an address: {why}; correct the line or remove it"
    )]
    Seeds {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The line.
        text: String,
        /// Why it is not an address.
        why: String,
    },
    /// The checksum of the seeds file does not match.
    #[error(
        "cannot read {path}: checksum mismatch; check the addresses, delete the `# sum` line, and end every line with a \
         newline"
    )]
    SeedsSum {
        /// The file.
        path: PathBuf,
    },
    /// A seeds file without a checksum ends in the middle of a line.
    #[error(
        "cannot read {path}: the last line, {text:?}, has no newline and may be cut off; check the address and add a \
         newline"
    )]
    SeedsCut {
        /// The file.
        path: PathBuf,
        /// The line.
        text: String,
    },
    /// A crawl has begun, but its seeds are missing.
    #[error(
        "cannot read {path}: missing or empty; run `crivello crawl URL` with the addresses that the crawl began with"
    )]
    SeedsGone {
        /// The file.
        path: PathBuf,
    },
    /// A folder has the name of a file of the frontier.
    #[error("cannot use {path}: it is a folder, not a file; move it elsewhere")]
    InTheWay {
        /// The folder.
        path: PathBuf,
    },
    /// The operating system refused the threads or the runtime that fetching needs.
    #[error("cannot start the fetchers")]
    Start {
        /// The error of the operating system.
        source: io::Error,
    },
    /// The limit of open files is reached.
    #[error(
        "cannot open files and connections: the limit of open files was reached for a minute; raise it (`ulimit -n`), \
         or lower `fetchers` and `idle_connections_max`"
    )]
    Descriptors {
        /// The error of the operating system.
        source: io::Error,
    },
    /// The archive could not be read or written, for instance because the disk is full.
    #[error(transparent)]
    Archive(#[from] archive::ArchiveError),
    /// The sieve could not be read or written.
    #[error(transparent)]
    Sieve(#[from] sieve::SieveError),
    /// A thread ended unexpectedly: a bug.
    #[error("a {stage} thread ended unexpectedly: this is a bug; please report it")]
    Lost {
        /// The stage that the thread belonged to.
        stage: &'static str,
    },
}
