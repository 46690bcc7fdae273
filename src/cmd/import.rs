//! `crivello import`: WARC files of any producer, JSONL documents and TREC collections become records of the archive; an
//! index of another engine becomes the index.
//!
//! What lives here: which is which, WARC files, and writing. What does not: the other forms (`jsonl.rs`, `trec.rs`,
//! `ciff.rs`), and what becomes of records (`jobs`).
//!
//! **Invariant.** Every file is read to its end before the first record is written, so a file that
//! cannot be read changes nothing. A record that our archive cannot hold (a header with a control
//! character) is left out and counted. Importing again what a full disk broke off does no harm: of two
//! equal captures one counts. A field of a document that is none of ours is told.

mod ciff;
mod jsonl;
mod trec;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use archive::{
    ArchiveError, Draft, Kind, Limits, Location, Record, Unpacked, WarcReader, WarcWriter,
    WriterOptions,
};
use serde_json::json;

use super::crawl::list;
use crate::context::{Context, Exit, Usage};
use crate::talk;
use jsonl::Document;
use trec::TrecDocument;

/// Why a record is left out.
const LEFT_OUT: &str = "no WARC record can have such headers, or such a length";
#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello import crawl-2024.warc.gz --dir my-web
  crivello import documents.jsonl --dir my-web     lines of {\"id\", \"url\", \"title\", \"text\"}
  crivello import ft911.trectext.gz --dir my-web   <DOC><DOCNO>…</DOCNO>…<TEXT>…</TEXT></DOC>
  crivello index --dir my-web                      makes them findable
  crivello import robust04.ciff.gz --dir robust    an index of another engine, at once")]
pub(crate) struct Args {
    /// WARC (.warc), JSONL (.jsonl), TREC (.trectext, .trecweb) or CIFF (.ciff), each also with .gz or .zst
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// Fields that are not kept and still named.
const OTHERS_MAX: usize = 20;

/// Counts a field that is not kept.
fn count_other(name: String, others: &mut BTreeMap<String, u64>) {
    let is_named = others.len() < OTHERS_MAX || others.contains_key(&name);
    let name = if is_named { name } else { "and others".to_owned() };
    *others.entry(name).or_default() += 1;
}

/// What a file holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Warc,
    Jsonl,
    Trec,
    Ciff,
}

impl Form {
    /// By its name; and TREC, whose files have any name, by how it begins.
    fn of(file: &Path) -> Result<Form> {
        let about =
            fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
        if !about.is_file() {
            // It is read more than once, first to see that it can be.
            return Err(Usage(format!("{} is not an ordinary file", file.display())).into());
        }
        let name = file.to_string_lossy().to_lowercase();
        let packed = [".gz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending));
        let name = packed.unwrap_or(&name);
        let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        Ok(if ends(&[".jsonl", ".ndjson", ".json"]) {
            Form::Jsonl
        } else if ends(&[".ciff"]) {
            Form::Ciff
        } else if ends(&[".trectext", ".trecweb", ".trec"]) || begins_as_trec(file) {
            Form::Trec
        } else {
            Form::Warc
        })
    }
}

/// Whether a file begins with `<DOC>`; what cannot be read does not.
fn begins_as_trec(file: &Path) -> bool {
    let mut begin = Vec::new();
    let read = Unpacked::open(file).map(|input| input.take(BEGIN_BYTES).read_to_end(&mut begin));
    let begin = begin.trim_ascii_start();
    read.is_ok() && begin.get(..5).is_some_and(|tag| tag.eq_ignore_ascii_case(b"<DOC>"))
}

/// What is looked at to tell what a file holds.
const BEGIN_BYTES: u64 = 1 << 10;

/// What the files hold besides what is kept.
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
        anyhow::ensure!(count > 0, "{} holds nothing to import", file.display());
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
        "nothing is left of {}: {LEFT_OUT}",
        talk::count(left_out, "record")
    );
    if context.json {
        let Notes { others, outside } = notes;
        context.print_json(&json!({
            "records": records, "left_out": left_out, "other_fields": others, "outside": outside,
        }))?;
    } else {
        say(records, left_out, &notes, context);
    }
    Ok(Exit::Done)
}

fn say(records: u64, left_out: u64, notes: &Notes, context: &Context) {
    let say = |text: &str| talk::say(context.quiet, text);
    if left_out > 0 {
        say(&format!("left out {}: {LEFT_OUT}", talk::count(left_out, "record")));
    }
    for text in &notes.outside {
        say(&format!("note     {text}"));
    }
    if !notes.others.is_empty() {
        let others = talk::plain(&list(&notes.others));
        say(&format!("note     fields that are not kept, and in how many documents: {others}"));
    }
    let them = if records == 1 { "it" } else { "them" };
    let records = talk::count(records, "record");
    say(&format!("imported {records}; `crivello index` makes {them} findable"));
}

/// Reads a file through; how many records there are in it.
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
                    "{} has {} outside of documents, first at byte {first}",
                    file.display(),
                    talk::count(count.outside, "byte")
                ));
            }
            Ok(count.documents)
        }
        Form::Warc | Form::Ciff => each_record(file, &mut |_| Ok(())),
    }
}

/// Writes what a file holds; `count` is told of each record whether it could be.
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

/// Hands over every record worth keeping; how many there were.
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

/// Copies a record; `false` if our archive cannot hold it.
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

/// Whether a header keeps its meaning in another file. The payload of a revisit stands elsewhere, so its
/// digest cannot be computed and is carried too.
fn is_carried(name: &str, kind: &Kind) -> bool {
    let digest = *kind == Kind::Revisit && name.eq_ignore_ascii_case("WARC-Payload-Digest");
    digest || CARRIED.iter().any(|carried| name.eq_ignore_ascii_case(carried))
}

/// Headers that any record may carry along; without the first, a sitemap that Crivello fetched would be
/// taken for a page.
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

/// The header under which `ClueWeb` has the name of a document.
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

/// Text is a document as JSONL has it; a page of the web is what its server answered.
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

/// `false` for a record that our archive cannot hold.
fn held(written: Result<Location, ArchiveError>) -> Result<bool> {
    match written {
        Ok(_) => Ok(true),
        Err(ArchiveError::RefusedHeader { .. } | ArchiveError::RefusedBlock { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// When the file was last changed: the date of its documents.
fn modified_s(file: &Path) -> Result<i64> {
    let modified = file.metadata().and_then(|about| about.modified());
    let modified = modified.with_context(|| format!("cannot read {}", file.display()))?;
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Ok(i64::try_from(since.as_secs()).unwrap_or(0))
}
