//! A file in the Common Index File Format becomes the index of the collection.
//!
//! **Invariant.** It comes alone: an index is either built from the archive or imported.

use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use archive::Unpacked;
use collection::Collection;

use super::modified_s;
use crate::context::{Context, Exit};
use crate::pipeline::Pipeline;
use crate::talk;

pub(super) fn import(file: &Path, collection: &Collection, context: &Context) -> Result<Exit> {
    let config = context.config(collection)?;
    let date_s = modified_s(file)?;
    let open = || open(file);
    let report =
        jobs::import_ciff(collection, file, &open, &config.index, &config.analysis, date_s)
            .context("nothing was imported")?;
    // What answers queries wants a page table, if only to find that nothing is in it.
    Pipeline::of(collection, &config, context).extract()?;
    if context.json {
        context.print_json(&report)?;
        return Ok(Exit::Done);
    }
    let say = |text: &str| talk::say(context.quiet, text);
    let [stated, lengths, occurrences] = report.length_totals;
    if stated != lengths {
        say(&format!(
            "note     the header says {stated} terms in all documents, which have {lengths} together: lengths are rounded, \
             or documents are missing"
        ));
    }
    if occurrences < lengths {
        say(&format!(
            "note     the lists have {occurrences} occurrences of {lengths} terms: not all are there"
        ));
    }
    if !report.analysis_stated {
        say(
            "note     the file does not say how words became its terms; [analysis] of this collection is for queries",
        );
    }
    say(&format!(
        "imported {}, {}, {}; `crivello search` finds words in them, but no phrases, and shows no text",
        talk::count(report.import.documents, "document"),
        talk::count(report.import.terms, "term"),
        talk::count(report.import.postings, "posting"),
    ));
    Ok(Exit::Done)
}

/// What the first bytes of a compressed file are, of gzip and of zstd. A plain one may begin with the first of them, which
/// is the length of its header, but not with more.
const PACKED: [&[u8]; 2] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd"];

/// The bytes of a file, without its compression.
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
