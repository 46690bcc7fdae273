//! Ranks from users: lines of a URL, a tab and a number become `ranks/NAME.values`.
//!
//! What lives here: the parser of the lines, and the stored file (`docs/formats/graph.md`). What does not: the match
//! of URLs to documents (`documents.rs`), which each index changes.
//!
//! **Invariant.** Every value of a file is a number from 0 to [`VALUE_MAX`], and every URL occurs once. An input that
//! cannot be parsed changes nothing.

use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::path::Path;

use collection::{
    Centrality, Collection, CollectionError, Directory, PageTable, Vector, document_name,
    write_imported,
};
use index::Index;
use serde::Serialize;

use super::config::address;
use super::write_document_ranks;
use crate::JobsError;

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
    Vector::check_name(name).map_err(wrong)?;
    if Centrality::has_name(name) {
        return Err(wrong("`crivello rank` computes that one: choose another name".to_owned()));
    }
    let values = read_lines(path, input)?;
    let table = match PageTable::open(&collection.pages_dir()) {
        Err(CollectionError::Missing { .. }) => None,
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
    write_imported(collection, name, &values)?;
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
        if read.map_err(CollectionError::io(path))? == 0 {
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
