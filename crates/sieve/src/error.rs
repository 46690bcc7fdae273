//! [`SieveError`]: what can go wrong in a sieve.
//!
//! What lives here: the one error type of the crate. **Invariant.** An error about a file names the
//! file, and the byte if there is one.

use std::io;
use std::path::PathBuf;

/// The reason why an operation of a sieve failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SieveError {
    /// The operating system refused. Make room or give access and call again: nothing is lost.
    #[error("cannot {action} sieve file {path}")]
    Io {
        /// The attempted action: "create", "read", "write", …
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason given.
        source: io::Error,
    },
    /// A file does not hold what was written to it. The sieve cannot go on: start it again in an
    /// empty folder and offer all keys again.
    #[error("sieve file {path} is damaged at byte {offset}: {what}; rebuild the sieve")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the damaged part begins.
        offset: u64,
        /// A description of the damage.
        what: &'static str,
    },
    /// The embedded store refused. It may have been damaged, or the disk is full.
    #[error("cannot {action} sieve store {path}")]
    Store {
        /// The attempted action: "open", "read" or "write".
        action: &'static str,
        /// The folder of the store.
        path: PathBuf,
        /// The reason given.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// This program was built without a kind of sieve.
    #[error(
        "this program was built without the {kind} sieve; \
         build it with `--features crivello-sieve/{kind}` or choose another kind"
    )]
    NotBuilt {
        /// The kind, which is also the name of the feature of this crate.
        kind: &'static str,
    },
    /// A key longer than [`KEY_BYTES_MAX`](crate::KEY_BYTES_MAX).
    #[error("key too long for a sieve: {len} bytes, but at most {max} are allowed")]
    KeyTooLong {
        /// Its length in bytes.
        len: usize,
        /// The greatest length in bytes.
        max: usize,
    },
}
