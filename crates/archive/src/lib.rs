//! Reading and writing of WARC and CDXJ files, and lookup of captures.
//!
//! The archive is the only source of truth of a collection and the journal of its crawl. Everything else can be
//! rebuilt from it. It is a folder of standard files that any web archiving tool reads.
//!
//! - [`WarcWriter`] appends records to `crivello-00001.warc.gz` or `.warc.zst`, …; a failed write loses nothing.
//! - [`WarcReader`] reads one WARC file of any writer; [`Archive`] reads a folder of them, and finds
//!   the captures of a URL through CDXJ files ([`CdxLine`], [`surt`]).
//! - [`repair`] cuts off what a killed writer left unfinished.
//! - [`parse_http`] and [`HttpResponse::decoded_body`] open the block of a response, [`body_reader`] piece by piece.
//!
//! Not in this crate: the meaning of a page, the time of its fetch, and the time when files are synced.
//!
//! **Invariant.** Reading ends in bounded memory, whatever the bytes of a file. It returns the records that were
//! written, or an error that names file and offset.
//!
//! Reference: ISO 28500:2017 (WARC 1.1), RFC 9112 (HTTP/1.1), RFC 1952 (gzip), RFC 8878
//! (zstd); `docs/formats/archive.md`.
#![forbid(unsafe_code)]

mod cdx;
mod check;
mod date;
mod digest;
mod disk;
mod error;
mod fields;
mod folder;
mod http;
mod record;
mod repair;
mod surt;
mod warc;

pub use cdx::CdxLine;
pub use check::{CdxState, CdxSum};
pub use date::{date_text, exact_date_text, parse as parse_date};
pub use digest::sha1 as payload_digest;
pub use disk::is_exhausted;
pub use error::ArchiveError;
pub use fields::{parse_warc_fields, warc_fields};
pub use folder::{Archive, Records, is_warc_name};
pub use http::{
    HttpResponse, UNDONE_TRANSFER_ENCODING, body_reader, http_block, http_field, http_response,
    parse_http,
};
pub use record::{Kind, Limits, Location, Record};
pub use repair::{Repair, repair, repair_from};
pub use surt::surt;
pub use warc::{Compression, Draft, Unpacked, WarcReader, WarcWriter, WriterOptions, is_own_name};
