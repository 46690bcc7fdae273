//! One field of an index becomes a CIFF file.
//!
//! The length of a message comes before it, and how many lists there are before them all: so the terms are walked
//! twice, and each list is, once to add up and once to write.
//!
//! **Invariant.** Documents are numbered in the order of the segments; terms ascend as bytes, each with the
//! documents of all segments. Nothing but the current list's term and one message is in memory.

use super::wire::{put_double, put_number, put_text, varint_bytes};
use super::{COUNT_MAX, VERSION};
use crate::{
    DocId, DocIterator, DocRecord, END, Field, Frequencies, Index, IndexError, Segment, Terms,
};
use codes::vbyte;
use std::io::{BufWriter, Write};
use std::path::Path;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct CiffExport {
    /// Documents.
    pub documents: u64,
    /// Terms.
    pub terms: u64,
    /// Pairs of a term and a document that has it.
    pub postings: u64,
    /// Sum of the lengths of all documents.
    pub length_total: u64,
}

/// Writes `field` of an index to `out`, which is the file `path`, for errors. `name` says how a document is called;
/// `description` is for people.
pub fn export_ciff(
    index: &Index,
    field: Field,
    description: &str,
    name: impl Fn(&DocRecord) -> String,
    path: &Path,
    out: &mut dyn Write,
) -> Result<CiffExport, IndexError> {
    let export = Export { index, field, bases: bases(index)? };
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
    for segment in index.segments() {
        for doc in (0..segment.doc_count()).map(DocId) {
            message.clear();
            put_number(&mut message, 1, number);
            put_text(&mut message, 2, &name(&segment.record(doc)?));
            put_number(&mut message, 3, u64::from(segment.length(field, doc)));
            out.message(&message)?;
            number += 1;
        }
    }
    out.out.flush().map_err(|source| out.wrong(source))?;
    Ok(report)
}

/// What is exported.
struct Export<'a> {
    index: &'a Index,
    field: Field,
    /// The number of the first document of each segment.
    bases: Vec<u32>,
}

impl Export<'_> {
    /// What the header says; postings are not counted yet.
    fn count(&self) -> Result<CiffExport, IndexError> {
        let mut report = CiffExport::default();
        for segment in self.index.segments() {
            segment.lengths(self.field)?;
            report.documents += u64::from(segment.doc_count());
            report.length_total += segment.length_total(self.field);
        }
        let mut terms = Merged::new(self)?;
        while terms.advance()?.is_some() {
            report.terms += 1;
        }
        limit("terms of a CIFF file", report.terms)?;
        Ok(report)
    }

    /// Writes the list of a term; how many documents it has.
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

    /// Hands over, for each document that has `term`, its distance to the one before and the frequency.
    fn each_posting(
        &self,
        term: &str,
        take: &mut dyn FnMut(u32, u32) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let mut before = 0;
        for (segment, base) in self.index.segments().iter().zip(&self.bases) {
            let Some(mut postings) = segment.postings(self.field, term)? else { continue };
            while postings.doc() != END {
                let doc = base + postings.doc().0;
                take(doc - before, postings.frequency())?;
                before = doc;
                postings.next_doc();
            }
        }
        Ok(())
    }
}

/// The number of the first document of each segment.
fn bases(index: &Index) -> Result<Vec<u32>, IndexError> {
    limit("documents of a CIFF file", index.doc_count())?;
    let mut next = 0;
    let base = |segment: &Segment| {
        let base = next;
        next += segment.doc_count();
        base
    };
    Ok(index.segments().iter().map(base).collect())
}

fn limit(what: &'static str, found: u64) -> Result<(), IndexError> {
    if found > COUNT_MAX {
        return Err(IndexError::Limit { what, found, max: COUNT_MAX });
    }
    Ok(())
}

/// The bytes of a posting, without what stands before it. A distance of 0 is not written.
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

/// The terms of all segments, each once, ascending.
struct Merged<'a> {
    /// With the next term of each segment.
    sources: Vec<(Option<String>, Terms<'a>)>,
}

impl<'a> Merged<'a> {
    fn new(export: &Export<'a>) -> Result<Merged<'a>, IndexError> {
        let mut sources = Vec::new();
        for segment in export.index.segments() {
            let mut terms = segment.terms(export.field, "")?;
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

/// The next term; an error where the lexicon breaks off.
fn next(terms: &mut Terms<'_>) -> Result<Option<String>, IndexError> {
    match terms.next() {
        Some((term, _)) => Ok(Some(term)),
        None => terms.check().map(|()| None),
    }
}

/// Where the messages go.
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
