//! A corpus of passages: the bodies of another corpus, cut into pieces of `words` words.
//!
//! Pages are long and few. Search engines are mostly measured on passages, which are short and many, and have long
//! posting lists.
//!
//! **Invariant.** Every word of every body is in exactly one passage, in the same order.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use crate::Result;
use crate::corpus::{Corpus, Document, write_text};

/// Cuts the bodies of `corpus` after every `words` words.
pub(crate) fn write(corpus: &Corpus, to: &Path, words: usize) -> Result<Value> {
    let mut out = BufWriter::new(File::create(to)?);
    write_text(&mut out, &serde_json::to_string(corpus.analysis())?)?;
    let (mut passages, mut bytes) = (0_u64, 0);
    for document in corpus.documents() {
        let mut rest = document.body;
        while !rest.trim_start().is_empty() {
            let end = rest
                .split_whitespace()
                .nth(words)
                .map_or(rest.len(), |next| next.as_ptr().addr() - rest.as_ptr().addr());
            let (body, behind) = rest.split_at(end);
            rest = behind;
            let passage = Document { body, ..Document::default() };
            passage.write(&mut out)?;
            passages += 1;
            bytes += passage.bytes();
        }
    }
    out.flush()?;
    Ok(json!({ "documents": passages, "bytes": bytes }))
}
