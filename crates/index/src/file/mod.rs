//! The files of an index: how they are written, mapped and verified.
//!
//! This module does not know what is in a file (`lexicon/`, `postings/`, `segment/`, `record.rs`).
//!
//! **Invariant.** A checksum covers every byte of a file.

pub(crate) mod blocks;
pub(crate) mod envelope;
pub(crate) mod fixed;
pub(crate) mod mapped;
mod sigbus;
