//! Rank vectors on disk.
//!
//! A file has the magic `CRVRANK`, a version byte and the count in eight bytes. The values follow as IEEE doubles,
//! then the CRC-32 of all preceding bytes. All numbers are little-endian; see `docs/formats/graph.md`.
//!
//! **Invariant.** [`read_ranks`] returns bit for bit the values given to [`write_ranks`].

use std::path::Path;

use crate::GraphError;

const MAGIC: [u8; 8] = *b"CRVRANK\x01";

/// Writes a rank vector to a temporary file and renames it to `path`.
pub fn write_ranks(path: &Path, values: &[f64]) -> Result<(), GraphError> {
    let mut bytes = (values.len() as u64).to_le_bytes().to_vec();
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    durable::write_checked(path, MAGIC, &bytes).map_err(GraphError::io(path))
}

/// Reads a rank vector.
pub fn read_ranks(path: &Path) -> Result<Vec<f64>, GraphError> {
    let bytes = durable::read_checked(path, MAGIC).map_err(|fault| GraphError::of(path, fault))?;
    let (words, rest) = bytes.as_chunks::<8>();
    match words.split_first() {
        Some((&count, values))
            if rest.is_empty() && u64::from_le_bytes(count) == values.len() as u64 =>
        {
            Ok(values.iter().map(|value| f64::from_le_bytes(*value)).collect())
        }
        _ => Err(GraphError::damaged(path, MAGIC.len(), "the count is not that of the values")),
    }
}
