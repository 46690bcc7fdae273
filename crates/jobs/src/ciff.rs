//! Import and export of an index in the Common Index File Format (CIFF).
//!
//! What lives here: the description in the header of a file. What does not: the format (`index`), and the names of
//! documents (`collection`).
//!
//! The name of a document is its URL, or the imported name if it has no URL. An exported description ends with the
//! analysis. An import of that file uses this analysis. For other files the analysis of the collection is assumed.
//!
//! **Invariant.** A collection has pages or an imported index, not both.

use std::io::{self, Read, Write};
use std::path::Path;

use archive::Archive;
use collection::{Collection, analysis_of, document_name, imported_source, url_of_name};
use index::{CiffExport, CiffFile, CiffImport, DocRecord, Field, Index};
use page::{AnalysisConfig, Url};

use crate::{JobsError, filters};

/// Separator between the description and the analysis.
const ANALYSIS: &str = "; analysis ";

/// What was imported.
#[derive(Debug, Clone, serde::Serialize)]
pub struct CiffReport {
    /// Counts and the generation.
    #[serde(flatten)]
    pub import: CiffImport,
    /// The description in the header of the file.
    pub description: String,
    /// Whether the description names the analysis.
    pub analysis_stated: bool,
    /// Total length in the header, sum of the document lengths, and number of occurrences in the postings lists. The
    /// three are equal in a complete file.
    pub length_totals: [u64; 3],
}

/// Imports a CIFF file as the index of a collection without pages. `open` opens the decompressed file. Each document
/// gets the date `date_s`.
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
    let source = imported_source(&format!("{} {date_s} {name}", header.documents), &chosen);
    let record = |name: &str| {
        let url = Url::parse(name).ok().filter(Url::has_host);
        let terms = filters(url.as_ref(), "", date_s, std::iter::empty());
        let url = url.map_or_else(|| url_of_name(name), |_| name.to_owned());
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

/// Exports one field of the index to `out`, the file at `path`.
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

/// Parses the analysis at the end of a description.
fn stated_analysis(description: &str) -> Option<AnalysisConfig> {
    let (_, analysis) = description.split_once(ANALYSIS)?;
    serde_json::from_str(analysis).ok()
}

fn json(analysis: &AnalysisConfig) -> String {
    serde_json::to_string(analysis).expect("strings and numbers are JSON")
}
