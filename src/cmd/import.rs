//! `crivello import`: WARC files, JSONL documents and TREC collections become records of the archive. An index of another
//! engine becomes the index.
//!
//! What lives here: the choice of the format, WARC files, and writing. What does not: the other formats (`jsonl.rs`,
//! `trec.rs`, `ciff.rs`).
//!
//! **Invariant.** Every file is read to its end before the first record is written, so an invalid file changes nothing.
//! A record that the archive cannot hold (a header with a control character) is left out and counted. An import that a
//! full disk stopped can be repeated: only one of two equal captures counts. Unknown fields of documents are reported.

mod ciff;
mod jsonl;
mod trec;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use archive::{
    ArchiveError, Draft, Kind, Limits, Location, Record, Unpacked, WarcReader, WarcWriter,
    WriterOptions,
};
use serde_json::json;

use super::crawl::list;
use crate::console;
use crate::context::{Context, Exit, Usage, command_line};
use jsonl::Document;
use trec::TrecDocument;

/// Why a record is left out.
const LEFT_OUT: &str = "a WARC record cannot have such headers or such a length";

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello import crawl-2024.warc.gz --dir my-web
  crivello import documents.jsonl --dir my-web     lines of {\"id\", \"url\", \"title\", \"text\"}
  crivello import ft911.trectext.gz --dir my-web   <DOC><DOCNO>…</DOCNO>…<TEXT>…</TEXT></DOC>
  crivello index --dir my-web                      makes them searchable
  crivello import robust04.ciff.gz --dir robust    an index of another engine")]
pub(crate) struct Args {
    /// WARC (.warc), JSONL (.jsonl), TREC (.trectext, .trecweb) or CIFF (.ciff), each also with .gz or .zst
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// Number of unknown fields that are named.
const OTHERS_MAX: usize = 20;

/// Counts an unknown field.
fn count_other(name: String, others: &mut BTreeMap<String, u64>) {
    let is_named = others.len() < OTHERS_MAX || others.contains_key(&name);
    let name = if is_named { name } else { "and others".to_owned() };
    *others.entry(name).or_default() += 1;
}

/// The format of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Warc,
    Jsonl,
    Trec,
    Ciff,
}

impl Form {
    /// Chooses the format by the name. TREC and WARC files with other names are known by their first bytes.
    fn of(file: &Path) -> Result<Form> {
        let about =
            fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
        if !about.is_file() {
            // The file is read twice.
            return Err(Usage(format!("{} is not an ordinary file", file.display())).into());
        }
        let name = file.to_string_lossy().to_lowercase();
        let packed = [".gz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending));
        let name = packed.unwrap_or(&name);
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        let begin = first_bytes(file);
        let begins_with = |mark: &[u8]| {
            let found = begin.as_ref().and_then(|begin| begin.get(..mark.len()));
            found.is_some_and(|found| found.eq_ignore_ascii_case(mark))
        };
        Ok(if ends(&[".jsonl", ".ndjson", ".json"]) {
            Form::Jsonl
        } else if ends(&[".ciff"]) {
            Form::Ciff
        } else if ends(&[".trectext", ".trecweb", ".trec"]) || begins_with(b"<DOC>") {
            Form::Trec
        } else if ends(&[".warc"]) || begin.is_none() || begins_with(b"WARC/") {
            Form::Warc
        } else {
            let known = "WARC (.warc), JSONL (.jsonl), TREC (.trectext, .trecweb) and CIFF (.ciff)";
            bail!("the format of {} is not known; import reads {known}", file.display());
        })
    }
}

/// The first bytes of a file after white space; `None` if it cannot be read.
fn first_bytes(file: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    Unpacked::open(file).ok()?.take(BEGIN_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes.trim_ascii_start().to_vec())
}

/// Number of bytes to read to find the format of a file.
const BEGIN_BYTES: u64 = 1 << 10;

/// Contents of the files that are not imported.
#[derive(Default)]
struct Notes {
    others: BTreeMap<String, u64>,
    outside: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let _lock = collection.lock("import")?;
    let files = args.files.iter().map(|file| Ok((file.as_path(), Form::of(file)?)));
    let files = files.collect::<Result<Vec<_>>>()?;
    if files.iter().any(|(_, form)| *form == Form::Ciff) {
        let [(file, _)] = files[..] else {
            let message = "a CIFF file becomes the index of a collection: import it alone";
            return Err(Usage(message.to_owned()).into());
        };
        return ciff::import(file, &collection, context);
    }
    let mut notes = Notes::default();
    for &(file, form) in &files {
        let count = check(file, form, &mut notes).context("nothing was imported")?;
        anyhow::ensure!(count > 0, "{} has nothing to import", file.display());
    }
    archive::repair(&collection.archive_dir())?;
    let compression = context.config(&collection)?.crawl.compression();
    let mut taken = collection::files_read(&collection);
    taken.extend(crawl::named_files(&collection.frontier_dir()));
    let options = WriterOptions { compression, taken, ..WriterOptions::default() };
    let mut writer = WarcWriter::create(&collection.archive_dir(), options)?;
    let (mut records, mut left_out) = (0_u64, 0_u64);
    for &(file, form) in &files {
        write(file, form, &mut writer, &mut |written| {
            records += u64::from(written);
            left_out += u64::from(!written);
        })?;
    }
    writer.finish()?;
    anyhow::ensure!(
        records > 0,
        "{} left out, and nothing else to import: {LEFT_OUT}",
        console::count(left_out, "record")
    );
    if context.json {
        let Notes { others, outside } = notes;
        context.print_json(&json!({
            "records": records, "left_out": left_out, "other_fields": others, "outside": outside,
        }))?;
    } else {
        say(records, left_out, &notes, &command_line(&collection, "index"), context);
    }
    Ok(Exit::Done)
}

fn say(records: u64, left_out: u64, notes: &Notes, index: &str, context: &Context) {
    if left_out > 0 {
        context.say("Left out", format!("{}: {LEFT_OUT}", console::count(left_out, "record")));
    }
    for text in &notes.outside {
        context.say("Note", text);
    }
    if !notes.others.is_empty() {
        let others = console::plain(&list(&notes.others));
        context
            .say("Note", format!("unknown fields, not kept, with numbers of documents: {others}"));
    }
    let them = if records == 1 { "it" } else { "them" };
    let records = console::count(records, "record");
    context.say("Imported", format!("{records}; `{index}` makes {them} searchable"));
}

/// Reads a file to its end. Returns the number of its records.
fn check(file: &Path, form: Form, notes: &mut Notes) -> Result<u64> {
    match form {
        Form::Jsonl => jsonl::each_document(file, &mut |document| {
            document.others.into_keys().for_each(|name| count_other(name, &mut notes.others));
            Ok(())
        }),
        Form::Trec => {
            let count = trec::each_document(file, &mut |_| Ok(()))?;
            if let Some(first) = count.first_outside {
                notes.outside.push(format!(
                    "{} has {} outside of documents, the first at byte {first}",
                    file.display(),
                    console::count(count.outside, "byte")
                ));
            }
            Ok(count.documents)
        }
        Form::Warc | Form::Ciff => each_record(file, &mut |_| Ok(())),
    }
}

/// Writes the records of a file. Calls `count` with `true` for each record written and `false` for each left out.
fn write(
    file: &Path,
    form: Form,
    writer: &mut WarcWriter,
    count: &mut dyn FnMut(bool),
) -> Result<()> {
    let date_s = modified_s(file)?;
    match form {
        Form::Jsonl => {
            jsonl::each_document(file, &mut |document| {
                write_document(writer, &document, date_s).map(&mut *count)
            })?;
        }
        Form::Trec => {
            trec::each_document(file, &mut |document| {
                write_trec(writer, document, date_s).map(&mut *count)
            })?;
        }
        Form::Warc | Form::Ciff => {
            each_record(file, &mut |record| write_record(writer, &record).map(&mut *count))?;
        }
    }
    Ok(())
}

/// Calls `visit` with every record to keep. Returns their number.
fn each_record(file: &Path, visit: &mut dyn FnMut(Record) -> Result<()>) -> Result<u64> {
    let mut reader = WarcReader::open(file, Limits::default())?;
    let mut count = 0;
    while let Some(record) = reader.next_record()? {
        let kept = matches!(
            record.kind,
            Kind::Response | Kind::Resource | Kind::Metadata | Kind::Revisit | Kind::Conversion
        );
        if kept && record.target.is_some() {
            count += 1;
            visit(record)?;
        }
    }
    Ok(count)
}

/// Copies a record. Returns `false` if the archive cannot hold it.
fn write_record(writer: &mut WarcWriter, record: &Record) -> Result<bool> {
    let answer = matches!(record.kind, Kind::Response | Kind::Revisit);
    let payload_offset = match archive::parse_http(&record.block) {
        Ok(http) if answer => http.body_offset,
        _ => 0,
    };
    let extra: Vec<_> = record
        .headers
        .iter()
        .filter(|(name, _)| is_carried(name, &record.kind))
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let written = writer.write(&Draft {
        kind: record.kind.clone(),
        date_s: record.date_s,
        date_us: record.date_us,
        target: record.target.as_deref(),
        content_type: record.content_type.as_deref().unwrap_or("application/octet-stream"),
        extra: &extra,
        block: &record.block,
        payload_offset,
    });
    held(written)
}

/// Returns whether a header keeps its meaning in another file. The payload of a revisit is in another record, so its
/// digest cannot be computed and is copied too.
fn is_carried(name: &str, kind: &Kind) -> bool {
    let digest = *kind == Kind::Revisit && name.eq_ignore_ascii_case("WARC-Payload-Digest");
    digest || CARRIED.iter().any(|carried| name.eq_ignore_ascii_case(carried))
}

/// Headers that are copied. Without the first, a sitemap that Crivello fetched would be imported as a page.
const CARRIED: [&str; 10] = [
    "Crivello-Purpose",
    "Crivello-Attempt",
    "Crivello-Hops",
    "Crivello-Robots-For",
    "WARC-IP-Address",
    "WARC-Profile",
    "WARC-Refers-To-Target-URI",
    "WARC-Refers-To-Date",
    "WARC-Truncated",
    TREC_ID,
];

/// The header with the name of a document in `ClueWeb`.
const TREC_ID: &str = "WARC-TREC-ID";

fn write_document(writer: &mut WarcWriter, document: &Document, date_s: i64) -> Result<bool> {
    let id = document.id.as_deref().unwrap_or_default();
    let target = document.url.clone().unwrap_or_else(|| format!("urn:crivello:{id}"));
    let block = serde_json::to_vec(document).context("a document cannot be written as JSON")?;
    let written = writer.write(&Draft {
        kind: Kind::Resource,
        date_s,
        date_us: 0,
        target: Some(&target),
        content_type: "application/json",
        extra: &[],
        block: &block,
        payload_offset: 0,
    });
    held(written)
}

/// Writes a TREC document: text as a JSONL document, a page as the answer of its server.
fn write_trec(writer: &mut WarcWriter, document: TrecDocument, date_s: i64) -> Result<bool> {
    match document {
        TrecDocument::Text { id, title, text } => {
            let document = Document::named(id, title, text);
            write_document(writer, &document, date_s)
        }
        TrecDocument::Web { id, url, status, content_type, body } => {
            let headers = [("Content-Type", content_type.as_bytes())];
            let line = format!("HTTP/1.0 {status} ");
            let (block, payload_offset) = archive::http_block(&line, headers.into_iter(), &body);
            held(writer.write(&Draft {
                kind: Kind::Response,
                date_s,
                date_us: 0,
                target: Some(&url),
                content_type: "application/http;msgtype=response",
                extra: &[(TREC_ID, &id)],
                block: &block,
                payload_offset,
            }))
        }
    }
}

/// Returns `false` for a record that the archive cannot hold.
fn held(written: Result<Location, ArchiveError>) -> Result<bool> {
    match written {
        Ok(_) => Ok(true),
        Err(ArchiveError::RefusedHeader { .. } | ArchiveError::RefusedBlock { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The time of the last change of the file, which is the date of its documents.
fn modified_s(file: &Path) -> Result<i64> {
    let modified = file.metadata().and_then(|about| about.modified());
    let modified = modified.with_context(|| format!("cannot read {}", file.display()))?;
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Ok(i64::try_from(since.as_secs()).unwrap_or(0))
}
