//! The corpus: the text of documents in a flat file, and in memory.
//!
//! The file is the analysis that the collection was indexed with, and then eight texts a document:
//! those of [`TEXTS`]. A text is its length in bytes, four of them with the least first, and itself.
//!
//! **Invariant.** A corpus in memory is the file, byte by byte, in one allocation: what is measured
//! beside it is not its own.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use page::{AnalysisConfig, Analyzer};

use crate::Result;

/// How many texts a document has: title, headings, body, anchors, words of the URL, filters, URL,
/// language.
const TEXTS: usize = 8;

/// A document.
#[derive(Clone, Copy, Default)]
pub(crate) struct Document<'a> {
    pub(crate) title: &'a str,
    pub(crate) headings: &'a str,
    pub(crate) body: &'a str,
    pub(crate) anchors: &'a str,
    pub(crate) url_words: &'a str,
    /// Terms of the field of the URL that are not analysed, one a line.
    pub(crate) filters: &'a str,
    /// For the record, not indexed.
    pub(crate) url: &'a str,
    pub(crate) language: &'a str,
}

impl Document<'_> {
    /// The bytes that are indexed.
    pub(crate) fn bytes(&self) -> usize {
        let [title, headings, body, anchors, words, filters, _, _] = self.texts();
        [title, headings, body, anchors, words, filters].iter().map(|text| text.len()).sum()
    }

    fn texts(&self) -> [&str; TEXTS] {
        let Document { title, headings, body, anchors, url_words, filters, url, language } = *self;
        [title, headings, body, anchors, url_words, filters, url, language]
    }

    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.texts().iter().try_for_each(|text| write_text(out, text))
    }
}

/// Writes one text.
pub(crate) fn write_text(out: &mut impl Write, text: &str) -> io::Result<()> {
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(text.as_bytes())
}

/// All documents, in memory.
pub(crate) struct Corpus {
    analysis: AnalysisConfig,
    /// All texts, one after the other, and for each document their lengths.
    texts: String,
    lengths: Vec<[usize; TEXTS]>,
}

impl Corpus {
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let file = fs::read(path)?;
        let mut rest = &file[..];
        let analysis = serde_json::from_slice(take(&mut rest)?)?;
        let (mut texts, mut lengths) = (Vec::with_capacity(file.len()), Vec::new());
        while !rest.is_empty() {
            let mut document = [0; TEXTS];
            for length in &mut document {
                let text = take(&mut rest)?;
                std::str::from_utf8(text)?;
                *length = text.len();
                texts.extend_from_slice(text);
            }
            lengths.push(document);
        }
        Ok(Self { analysis, texts: String::from_utf8(texts)?, lengths })
    }

    /// Crivello's analysis, as the collection was indexed with it.
    pub(crate) fn analyzer(&self) -> Result<Analyzer> {
        Ok(Analyzer::build(&self.analysis)?)
    }

    /// The configuration of that analysis.
    pub(crate) fn analysis(&self) -> &AnalysisConfig {
        &self.analysis
    }

    /// Whether that analysis stems English words, as tantivy then has to.
    pub(crate) fn is_stemmed(&self) -> bool {
        self.analysis.stemmer != "none"
    }

    pub(crate) fn documents(&self) -> impl Iterator<Item = Document<'_>> {
        let mut start = 0;
        self.lengths.iter().map(move |lengths| {
            let [title, headings, body, anchors, url_words, filters, url, language] =
                lengths.map(|length| {
                    start += length;
                    &self.texts[start - length..start]
                });
            Document { title, headings, body, anchors, url_words, filters, url, language }
        })
    }

    /// Bytes of text that are indexed.
    pub(crate) fn bytes(&self) -> usize {
        self.documents().map(|document| document.bytes()).sum()
    }
}

/// The next text of a file.
fn take<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8]> {
    let (length, behind) = rest.split_first_chunk().ok_or("the corpus ends too early")?;
    let length = usize::try_from(u32::from_le_bytes(*length))?;
    let (text, behind) = behind.split_at_checked(length).ok_or("the corpus ends too early")?;
    *rest = behind;
    Ok(text)
}
