//! Imports a CIFF file as an index.
//!
//! A file is read three times, because documents follow the lists that need their lengths. The passes validate the
//! file, import the documents, and import the lists.
//!
//! **Invariant.** Nothing is written before the whole file has been validated, and the old generation stays until
//! the import is complete. If the file changes meanwhile, the import fails or uses the new contents, never a
//! mixture.

use super::reader::{CiffHeader, CiffReader, ListSink};
use crate::lengths::Columns;
use crate::postings::StreamCodes;
use crate::segment::{ListsWriter, SegmentMeta, SegmentWriter};
use crate::{Config, DocRecord, FILTER_MARK, Field, IndexError, IndexWriter, lexicon};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Opens the uncompressed bytes of a file from the beginning.
pub type OpenBytes<'a> = dyn Fn() -> io::Result<Box<dyn Read>> + 'a;

/// A validated file, ready for import.
pub struct CiffFile<'a> {
    path: PathBuf,
    open: &'a OpenBytes<'a>,
    header: CiffHeader,
    /// Lengths of all documents.
    lengths: Vec<u32>,
    postings: u64,
    occurrences: u64,
}

/// Counts of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CiffImport {
    /// Number of documents.
    pub documents: u64,
    /// Number of terms.
    pub terms: u64,
    /// Number of pairs of a term and a document that contains it.
    pub postings: u64,
    /// Number of the new generation.
    pub generation: u64,
}

impl<'a> CiffFile<'a> {
    /// Validates a whole file, and keeps the lengths of its documents.
    pub fn open(path: &Path, open: &'a OpenBytes<'a>) -> Result<CiffFile<'a>, IndexError> {
        let mut reader = read(path, open)?;
        let mut sums = Sums::default();
        reader.lists(&mut sums)?;
        let mut lengths = Vec::new();
        reader.documents(|_, length| {
            lengths.push(length);
            Ok(())
        })?;
        Ok(CiffFile {
            path: path.to_path_buf(),
            open,
            header: reader.header().clone(),
            lengths,
            postings: sums.postings,
            occurrences: sums.occurrences,
        })
    }

    /// The header of the file.
    pub fn header(&self) -> &CiffHeader {
        &self.header
    }

    /// Sum of the lengths of its documents.
    pub fn length_total(&self) -> u64 {
        self.lengths.iter().map(|&length| u64::from(length)).sum()
    }

    /// Sum of the frequencies in its lists.
    pub fn occurrences(&self) -> u64 {
        self.occurrences
    }

    /// Imports the file as the index of `dir`. `record` returns the record of the document with a given name, and
    /// its filters: terms of [`Field::Url`] that contain [`FILTER_MARK`]. For `source` see
    /// [`IndexWriter::commit`].
    pub fn import(
        &self,
        dir: &Path,
        config: &Config,
        source: &str,
        mut record: impl FnMut(&str) -> (DocRecord, Vec<String>),
    ) -> Result<CiffImport, IndexError> {
        let mut writer = IndexWriter::create(dir, config)?;
        if !self.lengths.is_empty() {
            writer.add_segment(|segment, codes| self.fill(segment, codes, &mut record))?;
        }
        let generation = writer.commit(source)?;
        Ok(CiffImport {
            documents: self.header.documents,
            terms: self.header.lists,
            postings: self.postings,
            generation,
        })
    }

    /// Writes documents and lists.
    fn fill(
        &self,
        mut segment: SegmentWriter,
        codes: StreamCodes,
        record: &mut dyn FnMut(&str) -> (DocRecord, Vec<String>),
    ) -> Result<SegmentMeta, IndexError> {
        let mut reader = read(&self.path, self.open)?;
        reader.skip_lists()?;
        let (mut number, mut filters) = (0, Filters::default());
        reader.documents(|name, length| {
            self.check_length(number, length)?;
            let (record, terms) = record(name);
            filters.add(number, terms);
            number += 1;
            segment.record(&record)
        })?;
        self.check_length(number, 0)?;
        let mut totals = [0; Field::ALL.len()];
        totals[Field::Body as usize] = self.length_total();
        // The file has no positions, so that stream has no code.
        let mut out = segment.lists(StreamCodes { positions: None, ..codes }, totals)?;
        let mut reader = read(&self.path, self.open)?;
        if *reader.header() != self.header {
            return Err(self.changed());
        }
        let mut writing = Writing {
            out: &mut out,
            lengths: &self.lengths,
            peaks: vec![0; self.lengths.len()],
            raised: Vec::new(),
            key: Vec::new(),
        };
        reader.lists(&mut writing)?;
        let peaks = writing.peaks;
        filters.write(&mut out)?;
        out.finish(of_body(&self.lengths), of_body(&peaks))
    }

    /// Checks that a document has the same length as in the first pass; after the last one, that the number of
    /// documents is the same.
    fn check_length(&self, number: usize, length: u32) -> Result<(), IndexError> {
        let known = self.lengths.get(number).copied();
        let same =
            known.map_or(number == self.lengths.len() && length == 0, |known| known == length);
        if same { Ok(()) } else { Err(self.changed()) }
    }

    fn changed(&self) -> IndexError {
        let what = "the file was changed while it was read".to_owned();
        IndexError::Ciff { file: self.path.clone(), offset: 0, what }
    }
}

/// Columns with numbers for the body only.
fn of_body(numbers: &[u32]) -> Columns<impl Iterator<Item = (Field, u32)>> {
    Columns::new(|| {
        Field::ALL.into_iter().flat_map(|field| {
            let body = field == Field::Body;
            numbers.iter().map(move |&number| (field, if body { number } else { 0 }))
        })
    })
}

fn read(path: &Path, open: &OpenBytes<'_>) -> Result<CiffReader<Box<dyn Read>>, IndexError> {
    let input =
        open().map_err(|source| IndexError::Interchange { path: path.to_owned(), source })?;
    CiffReader::open(input, path)
}

/// Counts postings and occurrences.
#[derive(Default)]
struct Sums {
    postings: u64,
    occurrences: u64,
}

impl ListSink for Sums {
    fn begin(&mut self) {}

    fn posting(&mut self, _: u32, frequency: u32) -> Result<(), IndexError> {
        self.postings += 1;
        self.occurrences += u64::from(frequency);
        Ok(())
    }

    fn end(&mut self, _: &str) -> Result<(), IndexError> {
        Ok(())
    }
}

/// All filters, with the documents of each.
#[derive(Default)]
struct Filters(BTreeMap<String, Vec<u32>>);

impl Filters {
    fn add(&mut self, doc: usize, terms: Vec<String>) {
        let doc = u32::try_from(doc).expect("a file has fewer documents than that");
        for term in terms.into_iter().filter(|term| term.contains(FILTER_MARK)) {
            let docs = self.0.entry(term).or_default();
            if docs.last() != Some(&doc) {
                docs.push(doc);
            }
        }
    }

    /// Writes the filters after the lists of words, because their field comes later in key order.
    fn write(self, out: &mut ListsWriter) -> Result<(), IndexError> {
        let mut key = Vec::new();
        for (term, docs) in self.0 {
            out.begin_list(Field::Url);
            for doc in docs {
                out.push(doc, 0, 1, &[])?;
            }
            lexicon::set_key(&mut key, Field::Url, &term);
            out.finish_list(&key)?;
        }
        Ok(())
    }
}

/// Writes the lists of a segment.
struct Writing<'a> {
    out: &'a mut ListsWriter,
    lengths: &'a [u32],
    peaks: Vec<u32>,
    /// The documents whose peaks the current list raises; ignored for a filter.
    raised: Vec<(usize, u32)>,
    key: Vec<u8>,
}

impl ListSink for Writing<'_> {
    fn begin(&mut self) {
        self.out.begin_list(Field::Body);
        self.raised.clear();
    }

    fn posting(&mut self, doc: u32, frequency: u32) -> Result<(), IndexError> {
        let length = self.lengths.get(doc as usize).copied().unwrap_or(0);
        if self.peaks.get(doc as usize).is_some_and(|&peak| peak < frequency) {
            self.raised.push((doc as usize, frequency));
        }
        self.out.push(doc, length, frequency, &[])
    }

    fn end(&mut self, term: &str) -> Result<(), IndexError> {
        lexicon::set_key(&mut self.key, Field::Body, term);
        if !lexicon::is_filter(&self.key) {
            for (doc, frequency) in self.raised.drain(..) {
                self.peaks[doc] = frequency;
            }
        }
        self.out.finish_list(&self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DocIterator, DocOrder, END, Frequencies, Index, Positions, export_ciff};

    #[test]
    fn merging_imported_documents_drops_positions() {
        let dir = tempfile::tempdir().expect("a folder");
        let add = |writer: &mut IndexWriter| {
            for text in ["a rose is a rose", "a daisy"] {
                writer.add(&DocRecord { url: text.to_owned(), ..DocRecord::default() })?;
                for (position, term) in (0..).zip(text.split(' ')) {
                    writer.term(Field::Body, term, position);
                }
            }
            Ok::<(), IndexError>(())
        };
        let mut writer = IndexWriter::create(dir.path(), &Config::default()).expect("begins");
        add(&mut writer).expect("takes both");
        writer.commit("").expect("is built");
        let mut bytes = Vec::new();
        let index = Index::open(dir.path()).expect("opens");
        let name = |record: &DocRecord| record.url.clone();
        export_ciff(&index, Field::Body, "", name, Path::new("x"), &mut bytes).expect("exports");

        let open = || Ok(Box::new(io::Cursor::new(bytes.clone())) as Box<dyn Read>);
        let file = CiffFile::open(Path::new("x"), &open).expect("is whole");
        for order in [DocOrder::Url, DocOrder::Bisection] {
            let merged = tempfile::tempdir().expect("a folder");
            let config = Config { order, ..Config::default() };
            let mut writer = IndexWriter::create(merged.path(), &config).expect("begins");
            add(&mut writer).expect("takes both");
            let mut record = |name: &str| {
                (DocRecord { url: name.to_owned(), ..DocRecord::default() }, Vec::new())
            };
            let filled =
                writer.add_segment(|segment, codes| file.fill(segment, codes, &mut record));
            filled.expect("takes the file");
            writer.commit("").expect("is merged");
            let index = Index::open(merged.path()).expect("opens");
            index.verify().expect("is whole");
            let segment = &index.segments()[0];
            assert!(!segment.has_positions());
            let mut list = segment.postings(Field::Body, "rose").expect("reads").expect("is there");
            let mut found = Vec::new();
            while list.doc() != END {
                let mut positions = vec![7];
                list.positions(&mut positions);
                assert!(positions.is_empty());
                found.push((list.doc().0, list.frequency()));
                list.next_doc();
            }
            assert_eq!(found, [(0, 2), (2, 2)]);
        }
    }
}
