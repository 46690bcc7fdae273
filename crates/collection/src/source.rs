//! The source of an index: the pages and the analysis that `Index::source` names.
//!
//! The source of an index of pages has four parts, separated by ` / `: pages, duplicates, codes and the analysis as
//! JSON. The source of an index from another engine begins with [`IMPORTED`] and ends with the analysis too.
//!
//! What lives here: how the source is read, and the names of imported documents. What does not: the comparison of a
//! source with the one that an index should have.

use index::Index;
use page::AnalysisConfig;

/// Prefix of `Index::source` of an imported index.
const IMPORTED: &str = "ciff ";
/// URL prefix of a document that has only a name.
const NAMED: &str = "urn:crivello:";

/// The analysis that `index` was made with. Queries must use the same analysis.
pub fn analysis_of(index: &Index) -> Option<AnalysisConfig> {
    let (_, name) = index.source().split_once(" / {")?;
    serde_json::from_str(&format!("{{{name}")).ok()
}

/// Returns whether an index was imported.
pub fn is_imported(index: &Index) -> bool {
    is_imported_source(index.source())
}

/// Returns whether this is the source of an imported index.
pub fn is_imported_source(source: &str) -> bool {
    source.starts_with(IMPORTED)
}

/// The source of an imported index. `file` identifies the file.
pub fn imported_source(file: &str, analysis: &str) -> String {
    format!("{IMPORTED}{file} / {analysis}")
}

/// Returns the name of a document: its URL, or its imported name.
pub fn document_name(url: &str) -> &str {
    url.strip_prefix(NAMED).unwrap_or(url)
}

/// The URL of a document that has only a name.
pub fn url_of_name(name: &str) -> String {
    format!("{NAMED}{name}")
}
