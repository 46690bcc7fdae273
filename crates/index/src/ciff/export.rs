//! Exports one field of an index as a CIFF file.
//!
//! The length of a message precedes it, and the number of lists precedes them all. So terms are read twice, and so
//! is each list: once to count and once to write.
//!
//! **Invariant.** Documents that are not deleted are numbered in the order of the segments. Only terms of these
//! are written, in ascending byte order, each with the documents of all segments. Only the current term, one
//! message, and the renumbering of segments with deletions are in memory.

use super::wire::{put_double, put_number, put_text, varint_bytes};
use super::{COUNT_MAX, VERSION};
use crate::tombstones::Places;
use crate::{
    Deleted, DocId, DocIterator, DocRecord, END, Field, Frequencies, Index, IndexError, Segment,
    Terms,
};
use codes::vbyte;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Counts of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct CiffExport {
    /// Number of documents.
    pub documents: u64,
    /// Number of terms.
    pub terms: u64,
    /// Number of pairs of a term and a document that contains it.
    pub postings: u64,
    /// Sum of the lengths of all documents.
    pub length_total: u64,
}

/// Writes `field` of an index to `out`. `name` returns the name of a document, and `description` is a text for
/// people. Errors name the file `path`.
pub fn export_ciff(
    index: &Index,
    field: Field,
    description: &str,
    name: impl Fn(&DocRecord) -> String,
    path: &Path,
    out: &mut dyn Write,
) -> Result<CiffExport, IndexError> {
    let exported = export(index, field, description, name, path, out);
    index.intact()?;
    exported
}

fn export(
    index: &Index,
    field: Field,
    description: &str,
    name: impl Fn(&DocRecord) -> String,
    path: &Path,
    out: &mut dyn Write,
) -> Result<CiffExport, IndexError> {
    let export = Export { field, sources: sources(index)? };
    let mut out = Out { path, out: BufWriter::new(out) };
    let mut report = export.count()?;
    let mut message = Vec::new();
    put_header(&mut message, &report, description);
    out.message(&message)?;
    let mut terms = Merged::new(&export)?;
    while let Some(term) = terms.advance()? {
        report.postings += export.write_list(&term, &mut message, &mut out)?;
    }
    let mut number = 0;
    for source in &export.sources {
        for doc in source.documents() {
            message.clear();
            put_number(&mut message, 1, number);
            put_text(&mut message, 2, &name(&source.segment.record(doc)?));
            put_number(&mut message, 3, u64::from(source.segment.length(field, doc)));
            out.message(&message)?;
            number += 1;
        }
    }
    out.out.flush().map_err(|source| out.wrong(source))?;
    Ok(report)
}

struct Export<'a> {
    field: Field,
    sources: Vec<Source<'a>>,
}

/// A segment, and the numbers of its documents in the file.
struct Source<'a> {
    segment: &'a Segment,
    deleted: Deleted<'a>,
    places: Places,
    /// Number of its first document in the file.
    base: u32,
}

impl Source<'_> {
    /// The documents that are not deleted.
    fn documents(&self) -> impl Iterator<Item = DocId> {
        (0..self.segment.doc_count()).map(DocId).filter(|&doc| !self.deleted.contains(doc))
    }
}

impl Export<'_> {
    /// Counts for the header, without postings.
    fn count(&self) -> Result<CiffExport, IndexError> {
        let mut report = CiffExport::default();
        for source in &self.sources {
            let lengths = source.segment.lengths(self.field)?;
            for doc in source.documents() {
                report.documents += 1;
                report.length_total += u64::from(lengths.get(doc));
            }
        }
        let mut terms = Merged::new(self)?;
        while let Some(term) = terms.advance()? {
            report.terms += u64::from(self.has(&term)?);
        }
        limit("terms of a CIFF file", report.terms)?;
        Ok(report)
    }

    /// Returns whether a document that is not deleted has the term.
    fn has(&self, term: &str) -> Result<bool, IndexError> {
        let mut found = self.sources.iter().all(|source| source.segment.deleted_count() == 0);
        if !found {
            self.each_posting(term, &mut |_, _| {
                found = true;
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// Writes the list of a term, unless it is empty. Returns its number of documents.
    fn write_list(
        &self,
        term: &str,
        message: &mut Vec<u8>,
        out: &mut Out<'_>,
    ) -> Result<u64, IndexError> {
        let (mut docs, mut occurrences, mut bytes) = (0_u64, 0_u64, 0_u64);
        self.each_posting(term, &mut |gap, frequency| {
            limit("occurrences of a term in a document of a CIFF file", u64::from(frequency))?;
            docs += 1;
            occurrences += u64::from(frequency);
            let inner = posting_bytes(gap, frequency);
            bytes += 1 + varint_bytes(inner) + inner;
            Ok(())
        })?;
        if docs == 0 {
            return Ok(0);
        }
        message.clear();
        put_text(message, 1, term);
        put_number(message, 2, docs);
        put_number(message, 3, occurrences);
        let mut length = Vec::new();
        vbyte::write(&mut length, message.len() as u64 + bytes);
        out.write(&length)?;
        out.write(message)?;
        self.each_posting(term, &mut |gap, frequency| {
            message.clear();
            vbyte::write(message, 4 << 3 | 2);
            vbyte::write(message, posting_bytes(gap, frequency));
            put_number(message, 1, u64::from(gap));
            put_number(message, 2, u64::from(frequency));
            out.write(message)
        })?;
        Ok(docs)
    }

    /// For each document with `term`, passes its gap to the previous one and its frequency to `take`.
    fn each_posting(
        &self,
        term: &str,
        take: &mut dyn FnMut(u32, u32) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let mut before = 0;
        for Source { segment, deleted, places, base } in &self.sources {
            let Some(mut postings) = segment.postings(self.field, term)? else { continue };
            while postings.doc() != END {
                if !deleted.contains(postings.doc()) {
                    let doc = base + places.of(*deleted, postings.doc());
                    take(doc - before, postings.frequency())?;
                    before = doc;
                }
                postings.next_doc();
            }
        }
        Ok(())
    }
}

fn sources(index: &Index) -> Result<Vec<Source<'_>>, IndexError> {
    limit("documents of a CIFF file", index.doc_count())?;
    let (mut sources, mut base) = (Vec::new(), 0);
    for segment in index.segments() {
        let deleted = segment.deleted()?;
        let source = Source { segment, deleted, places: deleted.places(), base };
        base += u32::try_from(source.documents().count()).expect("no more than there are");
        sources.push(source);
    }
    Ok(sources)
}

fn limit(what: &'static str, found: u64) -> Result<(), IndexError> {
    if found > COUNT_MAX {
        return Err(IndexError::Limit { what, found, max: COUNT_MAX });
    }
    Ok(())
}

/// Bytes of a posting without tag and length. A gap of 0 is not written.
fn posting_bytes(gap: u32, frequency: u32) -> u64 {
    let gap = if gap == 0 { 0 } else { 1 + varint_bytes(u64::from(gap)) };
    gap + 1 + varint_bytes(u64::from(frequency))
}

fn put_header(message: &mut Vec<u8>, report: &CiffExport, description: &str) {
    #[expect(clippy::cast_precision_loss, reason = "an average")]
    let average = report.length_total as f64 / report.documents.max(1) as f64;
    let (terms, documents) = (report.terms, report.documents);
    let counts = [VERSION, terms, documents, terms, documents, report.length_total];
    message.clear();
    for (field, count) in (1..).zip(counts) {
        put_number(message, field, count);
    }
    put_double(message, 7, average);
    put_text(message, 8, description);
}

/// The terms of all segments, each once, in ascending order.
struct Merged<'a> {
    /// The next term of each segment, and the rest of its terms.
    sources: Vec<(Option<String>, Terms<'a>)>,
}

impl<'a> Merged<'a> {
    fn new(export: &Export<'a>) -> Result<Merged<'a>, IndexError> {
        let mut sources = Vec::new();
        for source in &export.sources {
            let mut terms = source.segment.terms(export.field, "")?;
            sources.push((next(&mut terms)?, terms));
        }
        Ok(Merged { sources })
    }

    fn advance(&mut self) -> Result<Option<String>, IndexError> {
        let least = self.sources.iter().filter_map(|(term, _)| term.as_ref()).min().cloned();
        let Some(least) = least else { return Ok(None) };
        for (term, terms) in &mut self.sources {
            if term.as_ref() == Some(&least) {
                *term = next(terms)?;
            }
        }
        Ok(Some(least))
    }
}

/// Returns the next term, or an error if the lexicon is damaged.
fn next(terms: &mut Terms<'_>) -> Result<Option<String>, IndexError> {
    match terms.next() {
        Some((term, _)) => Ok(Some(term)),
        None => terms.check().map(|()| None),
    }
}

/// The output stream.
struct Out<'a> {
    path: &'a Path,
    out: BufWriter<&'a mut dyn Write>,
}

impl Out<'_> {
    fn message(&mut self, message: &[u8]) -> Result<(), IndexError> {
        let mut length = Vec::with_capacity(10);
        vbyte::write(&mut length, message.len() as u64);
        self.write(&length)?;
        self.write(message)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), IndexError> {
        self.out.write_all(bytes).map_err(|source| self.wrong(source))
    }

    fn wrong(&self, source: std::io::Error) -> IndexError {
        IndexError::Interchange { path: self.path.to_path_buf(), source }
    }
}
