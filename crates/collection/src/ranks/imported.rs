//! Ranks from users: `ranks/NAME.values`, a URL and a value for each line of the user's file.
//!
//! **Invariant.** No imported rank has the name of a computed one.

use std::fs;

use super::documents::mark_stale;
use crate::pages::{put_text, take_text};
use crate::{Centrality, Collection, CollectionError, Vector, disk};

const MAGIC: [u8; 8] = *b"CRVVALU\x01";
/// File name suffix.
const ENDING: &str = ".values";

/// The imported vectors, in the order of their names.
pub fn imported_vectors(collection: &Collection) -> Result<Vec<Vector>, CollectionError> {
    let dir = collection.imported_ranks_dir();
    let mut vectors = Vec::new();
    if dir.is_dir() {
        for file in fs::read_dir(&dir).map_err(CollectionError::io(&dir))? {
            let name = file.map_err(CollectionError::io(&dir))?.file_name();
            let name = name.to_str().and_then(|name| name.strip_suffix(ENDING));
            let name =
                name.filter(|name| Vector::check_name(name).is_ok() && !Centrality::has_name(name));
            vectors.extend(name.map(|name| Vector::Rank(name.to_owned())));
        }
    }
    vectors.sort();
    Ok(vectors)
}

/// Reads the values of an imported rank.
pub fn read_imported(
    collection: &Collection,
    name: &str,
) -> Result<Vec<(String, f64)>, CollectionError> {
    let path = collection.imported_ranks_file(name);
    let bytes =
        disk::read_sealed(&path, MAGIC)?.ok_or_else(|| CollectionError::gone(path.clone()))?;
    let mut rest = bytes.as_slice();
    let mut values = Vec::new();
    while !rest.is_empty() {
        let offset = (MAGIC.len() + bytes.len() - rest.len()) as u64;
        let row = take_text(&mut rest).zip(rest.split_first_chunk::<8>());
        let Some((url, (value, others))) = row else {
            let what = "neither a URL nor its value";
            return Err(CollectionError::Damaged { path, offset, what: what.into() });
        };
        values.push((url, f64::from_le_bytes(*value)));
        rest = others;
    }
    Ok(values)
}

/// Writes the values of an imported rank. The vectors by document are stale afterwards.
pub fn write_imported(
    collection: &Collection,
    name: &str,
    values: &[(String, f64)],
) -> Result<(), CollectionError> {
    let mut bytes = Vec::new();
    for (url, value) in values {
        put_text(&mut bytes, url);
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    mark_stale(collection)?;
    disk::write_sealed(&collection.imported_ranks_file(name), MAGIC, &bytes)
}
