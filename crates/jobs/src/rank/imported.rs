//! Ranks from users: lines of a URL, a tab and a number become `ranks/NAME.values`.
//!
//! What lives here: the parser of the lines, and the stored file (`docs/formats/graph.md`). What does not: the match
//! of URLs to documents (`documents.rs`), which each index changes.
//!
//! **Invariant.** Every value of a file is a number from 0 to [`VALUE_MAX`], and every URL occurs once. An input that
//! cannot be parsed changes nothing.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, Read};
use std::path::Path;

use index::Index;
use serde::Serialize;

use super::config::address;
use super::vector::check_name;
use super::{Vector, is_computed, mark_stale, write_document_ranks};
use crate::interchange::document_name;
use crate::pages::{put_text, take_text};
use crate::{Collection, Directory, JobsError, PageTable, disk};

const MAGIC: [u8; 8] = *b"CRVVALU\x01";
/// File name suffix.
const ENDING: &str = ".values";
/// Maximum length of a line.
const LINE_BYTES_MAX: u64 = 64 << 10;
/// Maximum number of lines in a file.
const LINES_MAX: u64 = 100_000_000;
/// Maximum value. It keeps the sum of all lines exact enough.
const VALUE_MAX: f64 = 1e15;

/// What was imported.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RankImport {
    /// The name of the rank.
    pub name: String,
    /// Lines with a value.
    pub values: u64,
    /// Number of these URLs that are neither a page nor a document.
    pub unknown: u64,
    /// The first unknown URL.
    pub first_unknown: Option<String>,
}

/// Reads `URL TAB value` lines from `input`, the file at `path`, and stores them as the rank `name`. An existing rank
/// of that name is replaced. If an index exists, its documents get the rank.
pub fn import_ranks(
    collection: &Collection,
    name: &str,
    path: &Path,
    input: &mut dyn BufRead,
) -> Result<RankImport, JobsError> {
    let wrong = |why: String| JobsError::RankName { name: name.to_owned(), why };
    check_name(name).map_err(wrong)?;
    if is_computed(name) {
        return Err(wrong("`crivello rank` computes that one: choose another name".to_owned()));
    }
    let values = read_lines(path, input)?;
    let table = match PageTable::open(&collection.pages_dir()) {
        Err(JobsError::Missing { .. }) => None,
        opened => Some(opened?),
    };
    let no_pages = Directory::default();
    let directory = table.as_ref().map_or(&no_pages, PageTable::directory);
    let index = Index::open(&collection.index_dir()).ok();
    let unknown = unknown(&values, directory, index.as_ref());
    index.as_ref().map_or(Ok(()), Index::intact)?;
    let unknown = unknown?;
    let report = RankImport {
        name: name.to_owned(),
        values: values.len() as u64,
        unknown: unknown.len() as u64,
        first_unknown: unknown.first().map(|url| (*url).to_owned()),
    };
    let mut bytes = Vec::new();
    for (url, value) in &values {
        put_text(&mut bytes, url);
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    mark_stale(collection)?;
    disk::write_sealed(&collection.imported_ranks_file(name), MAGIC, &bytes)?;
    if let Some(index) = index {
        write_document_ranks(collection, directory, &index)?;
    }
    Ok(report)
}

/// Normalised addresses, or names unchanged, with their values in line order.
fn read_lines(path: &Path, input: &mut dyn BufRead) -> Result<Vec<(String, f64)>, JobsError> {
    let mut values = Vec::new();
    let mut lines = HashMap::new();
    let mut bytes = Vec::new();
    for line in 1.. {
        let fault = |what: String| JobsError::RankLine { path: path.to_owned(), line, what };
        bytes.clear();
        let mut limited = Read::take(&mut *input, LINE_BYTES_MAX + 1);
        let read = limited.read_until(b'\n', &mut bytes);
        if read.map_err(JobsError::io(path))? == 0 {
            break;
        }
        if bytes.len() as u64 > LINE_BYTES_MAX {
            return Err(fault(format!("it has more than {LINE_BYTES_MAX} bytes")));
        }
        if line > LINES_MAX {
            return Err(fault(format!("at most {LINES_MAX} lines are read")));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| fault("it is no UTF-8".to_owned()))?;
        if text.trim().is_empty() {
            continue;
        }
        let (url, value) = read_line(text).map_err(fault)?;
        if let Some(first) = lines.insert(url.clone(), line) {
            return Err(fault(format!("{url} stands in line {first} already")));
        }
        values.push((url, value));
    }
    if values.is_empty() {
        let what = "there is no value in the file: write lines of a URL, a tab and a number";
        return Err(JobsError::RankLine { path: path.to_owned(), line: 1, what: what.to_owned() });
    }
    Ok(values)
}

/// Parses a line that is not blank.
fn read_line(text: &str) -> Result<(String, f64), String> {
    let Some((url, value)) = text.split_once('\t') else {
        return Err("there is no tab: write a URL, a tab and a number".to_owned());
    };
    let (url, value) = (url.trim(), value.trim());
    if url.is_empty() {
        return Err("there is no URL before the tab".to_owned());
    }
    match value.parse::<f64>() {
        Ok(number) if (0.0..=VALUE_MAX).contains(&number) => {
            Ok((address(url).unwrap_or_else(|| url.to_owned()), number))
        }
        _ => Err(format!("{value:?} is no number from 0 to {VALUE_MAX:e}")),
    }
}

/// The URLs that are neither pages nor documents.
fn unknown<'a>(
    values: &'a [(String, f64)],
    directory: &Directory,
    index: Option<&Index>,
) -> Result<Vec<&'a str>, JobsError> {
    let places = directory.resolver();
    let mut unknown: HashMap<&str, usize> = (0..)
        .zip(values)
        .map(|(at, (url, _))| (url.as_str(), at))
        .filter(|(url, _)| !places.contains_key(url))
        .collect();
    for segment in index.map_or(&[][..], Index::segments) {
        segment.each_record(|_, record| {
            unknown.remove(record.url.as_str());
            unknown.remove(document_name(&record.url));
        })?;
    }
    let mut unknown: Vec<(&str, usize)> = unknown.into_iter().collect();
    unknown.sort_unstable_by_key(|&(_, at)| at);
    Ok(unknown.into_iter().map(|(url, _)| url).collect())
}

/// The imported vectors, in the order of their names.
pub(crate) fn imported_vectors(collection: &Collection) -> Result<Vec<Vector>, JobsError> {
    let dir = collection.imported_ranks_dir();
    let mut vectors = Vec::new();
    if dir.is_dir() {
        for file in fs::read_dir(&dir).map_err(JobsError::io(&dir))? {
            let name = file.map_err(JobsError::io(&dir))?.file_name();
            let name = name.to_str().and_then(|name| name.strip_suffix(ENDING));
            let name = name.filter(|name| check_name(name).is_ok() && !is_computed(name));
            vectors.extend(name.map(|name| Vector::Rank(name.to_owned())));
        }
    }
    vectors.sort();
    Ok(vectors)
}

/// Reads the values of an imported rank.
pub(crate) fn read_imported(
    collection: &Collection,
    name: &str,
) -> Result<Vec<(String, f64)>, JobsError> {
    let path = collection.imported_ranks_file(name);
    let bytes = disk::read_sealed(&path, MAGIC)?.ok_or_else(|| JobsError::gone(path.clone()))?;
    let mut rest = bytes.as_slice();
    let mut values = Vec::new();
    while !rest.is_empty() {
        let offset = (MAGIC.len() + bytes.len() - rest.len()) as u64;
        let row = take_text(&mut rest).zip(rest.split_first_chunk::<8>());
        let Some((url, (value, others))) = row else {
            let what = "neither a URL nor its value";
            return Err(JobsError::Damaged { path, offset, what: what.into() });
        };
        values.push((url, f64::from_le_bytes(*value)));
        rest = others;
    }
    Ok(values)
}
