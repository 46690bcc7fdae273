//! Files that survive a crash and show damage.
//!
//! What lives here:
//!
//! - [`replace`] and [`replace_with`] replace a file atomically; [`Disk::publish`] is their last step;
//! - [`write_checked`] and [`read_checked`], a small file with a magic word, a version and a CRC-32;
//! - [`seal`] and [`unseal`], a text whose last line is the CRC-32 of the lines before;
//! - [`Disk`], which can make the *n*-th operation fail in a test.
//!
//! What does not: the content of the files. Large files that are read in parts have formats of their own.
//!
//! **Invariant.** A reader of a replaced file sees the old content or the new content, also after a power cut. A
//! changed, missing or additional byte in a checked file is an error.

#![forbid(unsafe_code)]

mod checked;
mod disk;
mod text;

pub use checked::{Fault, other_version, read_checked, write_checked};
pub use disk::{Disk, beside, replace, replace_with};
pub use text::{Seal, is_sum, read_sealed, seal, unseal};
