//! The manifest: which segments make up the index, and what they were built from.
//!
//! Its payload, all numbers in [`codes::vbyte`]:
//!
//! ```text
//! generation, length of the source, source, number of segments
//! for each segment   generation and serial (its folder is `segment-<generation>-<serial>`),
//!                    documents, terms, postings, codes of docs, freqs and positions (127 if there are none),
//!                    slope of the maxima in hundredths,
//!                    sum of the lengths of each of the five fields,
//!                    for each of the seven files its length and the CRC-32 of its footer,
//!                    deleted documents; if there are any, the generation of their file
//!                    (`tombstones-<generation>`), its length and the CRC-32 of its footer
//! ```
//!
//! The files are in the order of [`Kind::SEGMENT`]. All segments together have fewer than 2³² documents. A sum of
//! lengths is at most 2³² – 1 per document, so adding up these sums does not overflow 64 bits.
//!
//! **Invariant.** The file named `manifest` is complete, and every file that it names is on disk: the manifest is
//! written last, under another name, synced, and renamed.

use crate::file::envelope::{FileWriter, Kind, Stamp};
use crate::file::mapped::MappedFile;
use crate::postings::StreamCodes;
use crate::segment::{SegmentId, SegmentMeta};
use crate::tombstones::TombstonesMeta;
use crate::{IndexError, Slope, StreamCode};
use codes::vbyte;
use durable::Disk;
use std::io;
use std::path::Path;

/// The temporary name of the next manifest.
pub(crate) const TEMPORARY: &str = "manifest.tmp";

/// Largest number of segments: a reader keeps seven files of each open.
pub(crate) const SEGMENTS_MAX: u64 = 1024;
/// Longest source.
pub(crate) const SOURCE_BYTES_MAX: usize = 1 << 20;

/// The code number that means "no positions".
const NO_CODE: u8 = 127;

/// Contents of the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) generation: u64,
    pub(crate) source: String,
    pub(crate) segments: Vec<SegmentMeta>,
}

impl Manifest {
    /// Reads the manifest of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Manifest, IndexError> {
        let path = folder.join(Kind::Manifest.file_name());
        let file = match MappedFile::open(&path, Kind::Manifest, None) {
            Err(IndexError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(IndexError::NotAnIndex { path: folder.to_path_buf() });
            }
            opened => opened?,
        };
        let payload = file.bytes(0..file.payload_bytes())?;
        let mut rest = payload;
        let parsed = Manifest::parse(&mut rest);
        file.intact()?;
        match parsed {
            Some(manifest) if rest.is_empty() => Ok(manifest),
            _ => Err(file.damaged(payload.len() - rest.len(), "not a manifest")),
        }
    }

    /// Reads the source of the index in a folder. It is at the same place in every format version.
    pub(crate) fn read_source(folder: &Path) -> Result<String, IndexError> {
        let path = folder.join(Kind::Manifest.file_name());
        let file = MappedFile::open_of_any_version(&path, Kind::Manifest, None)?;
        let mut rest = file.bytes(0..file.payload_bytes())?;
        let source = parse_source(&mut rest).map(|(_, source)| source);
        file.intact()?;
        source.ok_or_else(|| file.damaged(0, "not a manifest"))
    }

    /// Replaces the manifest. The files that it names must be on disk.
    pub(crate) fn replace(&self, disk: &Disk, folder: &Path) -> Result<(), IndexError> {
        let path = folder.join(Kind::Manifest.file_name());
        let temporary = folder.join(TEMPORARY);
        let mut file = FileWriter::create(disk, &temporary, Kind::Manifest)?;
        let mut payload = Vec::new();
        self.write(&mut payload);
        file.write(&payload)?;
        file.finish()?;
        disk.publish(&temporary, &path).map_err(IndexError::io(&path))
    }

    fn write(&self, out: &mut Vec<u8>) {
        vbyte::write(out, self.generation);
        vbyte::write(out, self.source.len() as u64);
        out.extend_from_slice(self.source.as_bytes());
        vbyte::write(out, self.segments.len() as u64);
        for segment in &self.segments {
            vbyte::write(out, segment.id.generation);
            vbyte::write(out, segment.id.serial);
            vbyte::write(out, u64::from(segment.doc_count));
            vbyte::write(out, segment.term_count);
            vbyte::write(out, segment.posting_count);
            let StreamCodes { docs, freqs, positions } = segment.codes;
            out.extend([docs, freqs].map(StreamCode::number));
            out.push(positions.map_or(NO_CODE, StreamCode::number));
            out.push(segment.slope.hundredths());
            for total in segment.length_totals {
                vbyte::write(out, total);
            }
            for stamp in segment.stamps {
                write_stamp(out, stamp);
            }
            vbyte::write(out, segment.tombstones.map_or(0, |deleted| u64::from(deleted.count)));
            if let Some(deleted) = segment.tombstones {
                vbyte::write(out, deleted.generation);
                write_stamp(out, deleted.stamp);
            }
        }
    }

    fn parse(rest: &mut &[u8]) -> Option<Manifest> {
        let (generation, source) = parse_source(rest)?;
        let mut manifest = Manifest { generation, source, segments: Vec::new() };
        let segments = vbyte::read(rest)?;
        let mut doc_count = 0_u32;
        for _ in 0..segments {
            let segment = parse_segment(rest)?;
            doc_count = doc_count.checked_add(segment.doc_count)?;
            let twice = manifest.segments.iter().any(|other| other.id == segment.id);
            if twice || segments > SEGMENTS_MAX {
                return None;
            }
            manifest.segments.push(segment);
        }
        Some(manifest)
    }
}

/// Parses the part that is common to all format versions: the generation and the source.
fn parse_source(rest: &mut &[u8]) -> Option<(u64, String)> {
    let generation = vbyte::read(rest)?;
    let source_bytes = usize::try_from(vbyte::read(rest)?).ok()?;
    let (source, behind) = rest.split_at_checked(source_bytes)?;
    *rest = behind;
    // Validate a copy, which nobody else can write to.
    Some((generation, String::from_utf8(source.to_vec()).ok()?))
}

fn parse_segment(rest: &mut &[u8]) -> Option<SegmentMeta> {
    let mut segment = SegmentMeta {
        id: SegmentId { generation: vbyte::read(rest)?, serial: vbyte::read(rest)? },
        doc_count: u32::try_from(vbyte::read(rest)?).ok()?,
        term_count: vbyte::read(rest)?,
        posting_count: vbyte::read(rest)?,
        codes: StreamCodes {
            docs: StreamCode::from_number(vbyte::read(rest)?)?,
            freqs: StreamCode::from_number(vbyte::read(rest)?)?,
            positions: match vbyte::read(rest)? {
                number if number == u64::from(NO_CODE) => None,
                number => Some(StreamCode::from_number(number)?),
            },
        },
        slope: Slope::from_hundredths(vbyte::read(rest)?)?,
        ..SegmentMeta::default()
    };
    for total in &mut segment.length_totals {
        *total = vbyte::read(rest)?;
        if *total > u64::from(segment.doc_count) * u64::from(u32::MAX) {
            return None;
        }
    }
    for stamp in &mut segment.stamps {
        *stamp = parse_stamp(rest)?;
    }
    let count = u32::try_from(vbyte::read(rest)?).ok()?;
    if count > segment.doc_count {
        return None;
    }
    if count > 0 {
        let generation = vbyte::read(rest)?;
        segment.tombstones = Some(TombstonesMeta { generation, count, stamp: parse_stamp(rest)? });
    }
    Some(segment)
}

fn write_stamp(out: &mut Vec<u8>, stamp: Stamp) {
    vbyte::write(out, stamp.file_bytes);
    vbyte::write(out, u64::from(stamp.footer_crc));
}

fn parse_stamp(rest: &mut &[u8]) -> Option<Stamp> {
    let file_bytes = vbyte::read(rest)?;
    Some(Stamp { file_bytes, footer_crc: u32::try_from(vbyte::read(rest)?).ok()? })
}
