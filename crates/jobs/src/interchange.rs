//! An index from another engine, and for one: the Common Index File Format.
//!
//! What lives here: how documents are named, and by which analysis words became terms. What does not: the format
//! (`index`).
//!
//! A document is called by its URL, or, where it has none, by what it was called when it was imported. The
//! description of a file of ours ends with the analysis, which is in force again when it comes back; the terms of any
//! other file are taken to be what the collection's own analysis makes of words.
//!
//! **Invariant.** A collection has pages or an imported index, not both. `Index::source` of an imported one begins with
//! [`IMPORTED`].

use std::io::{self, Read, Write};
use std::path::Path;

use archive::Archive;
use index::{CiffExport, CiffFile, CiffImport, DocRecord, Field, Index};
use page::{AnalysisConfig, Url};

use crate::{Collection, JobsError, analysis_of, filters};

/// The beginning of the source of an index that came from elsewhere.
const IMPORTED: &str = "ciff ";
/// The URL of a document that has only a name.
const NAMED: &str = "urn:crivello:";
/// What stands in a description before the analysis.
const ANALYSIS: &str = "; analysis ";

/// What was imported.
#[derive(Debug, Clone, serde::Serialize)]
pub struct CiffReport {
    /// Counts and the generation.
    #[serde(flatten)]
    pub import: CiffImport,
    /// What the file says of itself.
    pub description: String,
    /// Whether the file said how words became its terms.
    pub analysis_stated: bool,
    /// Sum of the lengths as the header has it, as the documents have it, and the occurrences in the lists: three
    /// equal numbers in a file that holds all of a collection.
    pub length_totals: [u64; 3],
}

/// Whether an index came from elsewhere.
pub fn is_imported(index: &Index) -> bool {
    is_imported_source(index.source())
}

/// Whether an index of that source did.
pub(crate) fn is_imported_source(source: &str) -> bool {
    source.starts_with(IMPORTED)
}

/// Makes a CIFF file the index of a collection that has no pages. `open` opens its bytes without compression;
/// `date_s` is the date of its documents.
pub fn import_ciff(
    collection: &Collection,
    path: &Path,
    open: &dyn Fn() -> io::Result<Box<dyn Read>>,
    config: &index::Config,
    analysis: &AnalysisConfig,
    date_s: i64,
) -> Result<CiffReport, JobsError> {
    if !Archive::open(&collection.archive_dir())?.files().is_empty() {
        return Err(JobsError::HasPages { path: collection.archive_dir() });
    }
    let file = CiffFile::open(path, open)?;
    let header = file.header();
    let stated = stated_analysis(&header.description);
    let chosen = json(stated.as_ref().unwrap_or(analysis));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let source = format!("{IMPORTED}{} {date_s} {name} / {chosen}", header.documents);
    let record = |name: &str| {
        let url = Url::parse(name).ok().filter(Url::has_host);
        let terms = filters(url.as_ref(), "", date_s, std::iter::empty());
        let url = url.map_or_else(|| format!("{NAMED}{name}"), |_| name.to_owned());
        let title = name.to_owned();
        (DocRecord { url, title, date_s, ..DocRecord::default() }, terms)
    };
    let length_totals = [header.length_total, file.length_total(), file.occurrences()];
    Ok(CiffReport {
        import: file.import(&collection.index_dir(), config, &source, record)?,
        description: header.description.clone(),
        analysis_stated: stated.is_some(),
        length_totals,
    })
}

/// Writes a field of the index of a collection to `out`, which is the file `path`.
pub fn export_ciff(
    collection: &Collection,
    field: Field,
    path: &Path,
    out: &mut dyn Write,
) -> Result<CiffExport, JobsError> {
    let index = Index::open(&collection.index_dir())?;
    let analysis = json(&analysis_of(&index).unwrap_or_default());
    let (version, field_name) = (env!("CARGO_PKG_VERSION"), field.name());
    let description = format!("Crivello {version}, field {field_name}{ANALYSIS}{analysis}");
    let name = |record: &DocRecord| document_name(&record.url).to_owned();
    Ok(index::export_ciff(&index, field, &description, name, path, out)?)
}

/// What a document is called elsewhere: by its URL, or by its name if it has only that.
pub fn document_name(url: &str) -> &str {
    url.strip_prefix(NAMED).unwrap_or(url)
}

/// The analysis that a file of ours names.
fn stated_analysis(description: &str) -> Option<AnalysisConfig> {
    let (_, analysis) = description.split_once(ANALYSIS)?;
    serde_json::from_str(analysis).ok()
}

fn json(analysis: &AnalysisConfig) -> String {
    serde_json::to_string(analysis).expect("strings and numbers are JSON")
}
