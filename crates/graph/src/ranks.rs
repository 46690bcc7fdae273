//! Rank vectors on disk (provisional).

use std::fs;
use std::path::Path;

use crate::GraphError;

/// Writes a rank vector.
pub fn write_ranks(path: &Path, values: &[f64]) -> Result<(), GraphError> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    fs::write(path, bytes).map_err(|source| GraphError::Io { path: path.to_owned(), source })
}

/// Reads a rank vector.
pub fn read_ranks(path: &Path) -> Result<Vec<f64>, GraphError> {
    let bytes =
        fs::read(path).map_err(|source| GraphError::Io { path: path.to_owned(), source })?;
    Ok(bytes.as_chunks::<8>().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect())
}
