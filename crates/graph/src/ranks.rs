//! Rank vectors on disk.
//!
//! A file has the magic `CRVRANK`, a version byte and the count in eight bytes. The values follow as IEEE doubles,
//! then the CRC-32 of all preceding bytes. All numbers are little-endian; see `docs/formats/graph.md`.
//!
//! **Invariant.** [`read_ranks`] returns bit for bit the values given to [`write_ranks`].

use std::path::Path;

use crate::{GraphError, disk};

const MAGIC: [u8; 8] = *b"CRVRANK\x01";
const HEADER_BYTES: usize = 16;
const CRC_BYTES: usize = 4;

/// Writes a rank vector to a temporary file and renames it to `path`.
pub fn write_ranks(path: &Path, values: &[f64]) -> Result<(), GraphError> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + 8 * values.len() + CRC_BYTES);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&(values.len() as u64).to_le_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    let crc = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    disk::write_whole(path, &bytes)
}

/// Reads a rank vector.
pub fn read_ranks(path: &Path) -> Result<Vec<f64>, GraphError> {
    let bytes = disk::read_whole(path)?;
    let damaged = |offset, reason| Err(GraphError::damaged(path, offset, reason));
    let Some((content, crc)) = bytes.split_last_chunk::<CRC_BYTES>() else {
        return damaged(bytes.len(), "it ends inside the header");
    };
    let Some((magic, rest)) = content.split_first_chunk::<8>() else {
        return damaged(bytes.len(), "it ends inside the header");
    };
    if *magic != MAGIC {
        return damaged(0, "not the magic word and version of a rank vector");
    }
    let Some((count, values)) = rest.split_first_chunk::<8>() else {
        return damaged(bytes.len(), "it ends inside the header");
    };
    if u64::from_le_bytes(*count).checked_mul(8) != Some(values.len() as u64) {
        return damaged(8, "the count is not that of the values");
    }
    if crc32fast::hash(content) != u32::from_le_bytes(*crc) {
        return damaged(content.len(), "the checksum does not match");
    }
    Ok(values.as_chunks::<8>().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect())
}
