//! Crivello's side: building its index from the corpus.
//!
//! **Invariant.** A document is put as `crates/jobs/src/indexing.rs` puts it: fields in the same order,
//! the same positions, the filters of the URL at the first.

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use index::{Config, DocRecord, Field, Index, IndexWriter, Segment};
use page::{Analyzer, TermMaker};
use serde_json::{Value, json};

use crate::Result;
use crate::corpus::{Corpus, Document};
use crate::measure::cost;

/// Opens an index of one segment.
pub(crate) fn open(dir: &Path) -> Result<Index> {
    let index = Index::open(dir)?;
    if index.segments().len() != 1 {
        return Err(format!("{} has {} segments", dir.display(), index.segments().len()).into());
    }
    Ok(index)
}

/// Every term of an index with its field and the number of its documents, in order.
pub(crate) fn each_term(
    segment: &Segment,
    mut visit: impl FnMut(Field, &str, u32) -> Result<()>,
) -> Result<()> {
    for field in Field::ALL {
        for (term, doc_frequency) in segment.terms(field, "")? {
            visit(field, &term, doc_frequency)?;
        }
    }
    Ok(())
}

pub(crate) fn tokenise(corpus: &Corpus) -> Result<Value> {
    let analyzer = corpus.analyzer()?;
    let (tokens, cost) = cost(|| {
        let mut tokens = 0_u64;
        for document in corpus.documents() {
            let Document { title, headings, body, anchors, url_words, .. } = document;
            for text in [title, headings, body, anchors, url_words] {
                analyzer.each(text, &mut |token| {
                    black_box(token.term);
                    tokens += 1;
                });
            }
        }
        Ok(tokens)
    })?;
    Ok(json!({ "tokens": tokens, "text_bytes": corpus.bytes(), "cpu_s": cost.cpu_s }))
}

pub(crate) fn build(corpus: &Corpus, dir: &Path, config: &Config) -> Result<Value> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    let analyzer = corpus.analyzer()?;
    let ((), cost) = cost(|| {
        let mut writer = IndexWriter::create(dir, config)?;
        let mut terms = analyzer.term_maker();
        for document in corpus.documents() {
            add(&mut writer, &analyzer, &mut terms, &document)?;
        }
        writer.commit("a corpus")?;
        Ok(())
    })?;
    let index = open(dir)?;
    let segment = &index.segments()[0];
    Ok(json!({
        "memory_limit_bytes": config.memory_bytes,
        "text_bytes": corpus.bytes(),
        "cpu_s": cost.cpu_s,
        "peak_bytes": cost.peak_bytes,
        "own_bytes": cost.own_bytes,
        "documents": segment.doc_count(),
        "terms": segment.term_count(),
        "postings": segment.posting_count(),
        "occurrences": Field::ALL.map(|field| segment.length_total(field)).iter().sum::<u64>(),
        "components": components(dir)?,
    }))
}

fn add(
    writer: &mut IndexWriter,
    analyzer: &Analyzer,
    terms: &mut TermMaker<'_>,
    document: &Document<'_>,
) -> Result<()> {
    writer.add(&DocRecord {
        url: document.url.to_owned(),
        title: document.title.to_owned(),
        language: document.language.to_owned(),
        ..DocRecord::default()
    })?;
    let Document { title, headings, body, anchors, url_words, filters, .. } = *document;
    for (field, text) in [
        (Field::Title, title),
        (Field::Headings, headings),
        (Field::Body, body),
        (Field::Anchor, anchors),
        (Field::Url, url_words),
    ] {
        let term = |word: &str, term: &mut String| term.push_str(terms.term(word));
        let mut words = writer.words(field, text, term);
        analyzer.words(text, |word, position| words.push(word, position));
    }
    for filter in filters.lines() {
        writer.term(Field::Url, filter, 0);
    }
    Ok(())
}

/// The bytes of each file of the one segment.
fn components(dir: &Path) -> Result<BTreeMap<String, u64>> {
    let mut bytes = BTreeMap::new();
    for entry in fs::read_dir(dir)? {
        let folder = entry?.path();
        if folder.is_dir() {
            for file in fs::read_dir(folder)? {
                let file = file?;
                let name = file.file_name().to_string_lossy().into_owned();
                *bytes.entry(name).or_default() += file.metadata()?.len();
            }
        }
    }
    Ok(bytes)
}
