//! Imports a file in the Common Index File Format as the index of the collection.
//!
//! **Invariant.** An index is either built from the archive or imported.

use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use archive::Unpacked;
use collection::Collection;

use super::modified_s;
use crate::console::{count, thousands};
use crate::context::{Context, Exit};
use crate::pipeline::Pipeline;

pub(super) fn import(file: &Path, collection: &Collection, context: &Context) -> Result<Exit> {
    let config = context.config(collection)?;
    let date_s = modified_s(file)?;
    let open = || open(file);
    let report =
        jobs::import_ciff(collection, file, &open, &config.index, &config.analysis, date_s)
            .context("nothing was imported")?;
    // A search needs a page table, even an empty one.
    Pipeline::of(collection, &config, context).extract()?;
    if context.json {
        context.print_json(&report)?;
        return Ok(Exit::Done);
    }
    let [stated, lengths, occurrences] = report.length_totals;
    if stated != lengths {
        let [stated, lengths] = [stated, lengths].map(thousands);
        let text = format!(
            "the header counts {stated} terms, the documents have {lengths}: lengths are rounded, or documents are \
             missing"
        );
        context.say("Note", text);
    }
    if occurrences < lengths {
        let [occurrences, lengths] = [occurrences, lengths].map(thousands);
        let text = format!("the lists have only {occurrences} of {lengths} occurrences of terms");
        context.say("Note", text);
    }
    if !report.analysis_stated {
        let text = "the file does not say how its terms were made; queries use [analysis] of this collection";
        context.say("Note", text);
    }
    let (documents, terms) =
        (count(report.import.documents, "document"), count(report.import.terms, "term"));
    let postings = count(report.import.postings, "posting");
    context.say("Imported", format!("{documents}, {terms}, {postings}"));
    context.say("Note", "a search finds words in them, but no phrases, and shows no text");
    Ok(Exit::Done)
}

/// The first bytes of gzip and of zstd. A plain file may begin with the first byte, the length of its header, but not
/// with more of them.
const PACKED: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];

/// Opens a file and unpacks it if it is compressed.
fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let mut file = File::open(path)?;
    let mut begin = Vec::new();
    (&mut file).take(4).read_to_end(&mut begin)?;
    if PACKED.iter().any(|magic| begin.starts_with(magic)) {
        return Ok(Box::new(Unpacked::open(path).map_err(io::Error::other)?));
    }
    file.rewind()?;
    Ok(Box::new(file))
}
