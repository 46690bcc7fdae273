//! WARC files, compressed or not.
//!
//! What lives here: the reader, the writer, and the two compressions with one member for each record. What does not: the
//! record itself (`record.rs`), and what is in its block (`http/`).

pub(crate) mod compression;
mod gzip;
mod reader;
mod source;
mod stream;
mod unpacked;
pub(crate) mod writer;
mod zstd;

pub use compression::Compression;
pub use reader::WarcReader;
pub use unpacked::Unpacked;
pub use writer::{Draft, WarcWriter, WriterOptions, is_own_name};
