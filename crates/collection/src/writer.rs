//! The process that writes to a collection, as the lock file names it.
//!
//! What lives here: [`Writer`] and its text in the lock file. What does not: the lock (`layout.rs`).

use std::fmt;

use serde::Serialize;

/// The process that holds the lock of a collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Writer {
    /// The `crivello` command that it runs.
    pub command: String,
    /// The process identifier.
    pub process: u32,
}

impl fmt::Display for Writer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`crivello {}`, process {}", self.command, self.process)
    }
}

impl Writer {
    /// Parses the content of the lock file.
    pub(crate) fn parse(text: &str) -> Option<Writer> {
        let (command, process) = text.strip_suffix('\n')?.split_once(' ')?;
        Some(Writer { command: command.to_owned(), process: process.parse().ok()? })
    }
}
