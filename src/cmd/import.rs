//! `crivello import`: WARC files of any producer and JSONL documents become records of the archive.
//!
//! What lives here: reading both, and the check of documents. What does not: what becomes of records (`jobs`).
//!
//! **Invariant.** Every file is read to its end before the first record is written, so a file that
//! cannot be read changes nothing. A record that our archive cannot hold (a header with a control
//! character) is left out and counted. Importing again what a full disk broke off does no harm: of two
//! equal captures one counts. A fault of a document is told with file and line; a field that is none of ours is told,
//! and refused where it is ours but for a letter.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use archive::{
    ArchiveError, Draft, Kind, Limits, Location, Record, Unpacked, WarcReader, WarcWriter,
    WriterOptions,
};
use serde::{Deserialize, Serialize};
use serde_json::error::Category;
use serde_json::{Value, json};

use super::crawl::list;
use crate::context::{Context, Exit, Usage};
use crate::talk;

/// Why a record is left out.
const LEFT_OUT: &str = "no WARC record can have such headers, or such a length";
/// What a line of JSONL is like.
const SHAPE: &str =
    "write {\"id\": \"1\", \"url\": \"http://…\", \"title\": \"…\", \"text\": \"…\"}";
/// A line of JSONL is at most this long.
const LINE_BYTES_MAX: u64 = 64 << 20;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello import crawl-2024.warc.gz --dir my-web
  crivello import documents.jsonl --dir my-web     lines of {\"id\", \"url\", \"title\", \"text\"}
  crivello index --dir my-web                      makes them findable")]
pub(crate) struct Args {
    /// WARC (.warc, .warc.gz, .warc.zst) or JSONL (.jsonl, .jsonl.gz, .jsonl.zst)
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// A document as JSONL gives it, with values of any kind.
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    url: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    text: Value,
    /// What else the line has.
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// A document as the archive keeps it.
#[derive(Serialize)]
struct Document {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    title: String,
    text: Option<String>,
    /// What else the line has.
    #[serde(skip)]
    others: BTreeMap<String, Value>,
}

impl Document {
    fn read(line: &[u8]) -> Result<Document> {
        anyhow::ensure!(!line.trim_ascii().is_empty(), "the line is empty: {SHAPE}");
        if !line.trim_ascii_start().starts_with(b"{")
            && let Ok(value) = serde_json::from_slice::<Value>(line)
        {
            bail!("the line is {}, and must be an object: {SHAPE}", kind(&value));
        }
        let line: Line = serde_json::from_slice(line).map_err(|error| in_words(&error))?;
        let id = match line.id {
            // Some number their documents.
            Value::Number(number) => Some(number.to_string()),
            id => string("id", id, "a string or a number")?,
        };
        let title = string("title", line.title, "a string")?.unwrap_or_default();
        let url = string("url", line.url, "a string")?;
        let text = string("text", line.text, "a string")?;
        Ok(Document { id, url, title, text, others: line.others })
    }

    /// Whether it can be kept, and found again; or what is wrong with it.
    fn check(&self) -> Result<()> {
        let is_named = self.id.as_ref().is_some_and(|id| !id.is_empty());
        let absent = [
            ("id", self.id.is_none()),
            ("url", self.url.is_none()),
            ("title", self.title.is_empty()),
            ("text", self.text.is_none()),
        ];
        let absent = || absent.iter().filter(|(_, is_absent)| *is_absent).map(|(name, _)| *name);
        for other in self.others.keys() {
            if let Some(name) = absent().find(|name| is_misspelt(other, name)) {
                bail!("there is no field {other:?}; did you mean {name:?}?");
            }
        }
        anyhow::ensure!(self.text.is_some(), "a document needs a \"text\"");
        match &self.url {
            Some(url) => {
                let is_address = page::normalise(url, None, &page::Limits::default()).is_ok();
                anyhow::ensure!(
                    is_address,
                    "{url:?} is no web address, such as https://example.org/"
                );
            }
            None if is_named => {}
            None => bail!("a document needs an \"id\" or a \"url\""),
        }
        Ok(())
    }
}

/// Fields that are not kept and still named.
const OTHERS_MAX: usize = 20;

/// Whether a field is another one but for a letter, or for capitals. Short names are near to too many.
fn is_misspelt(other: &str, name: &str) -> bool {
    let other = other.to_lowercase();
    other == name || name.len() > 3 && strsim::osa_distance(&other, name) == 1
}

/// Counts a field that is not kept.
fn count_other(name: String, others: &mut BTreeMap<String, u64>) {
    let is_named = others.len() < OTHERS_MAX || others.contains_key(&name);
    let name = if is_named { name } else { "and others".to_owned() };
    *others.entry(name).or_default() += 1;
}

/// The string that a field has, if it has a value.
fn string(field: &str, value: Value, wanted: &str) -> Result<Option<String>> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        other => bail!("the field {field:?} is {}, and must be {wanted}: {SHAPE}", kind(&other)),
    }
}

/// What a value is, in a word.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let _lock = collection.lock("import")?;
    let mut others: BTreeMap<String, u64> = BTreeMap::new();
    for file in &args.files {
        let about =
            fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?;
        if !about.is_file() {
            // It is read twice, once to see that it can be.
            return Err(Usage(format!("{} is not an ordinary file", file.display())).into());
        }
        let count = if is_jsonl(file) {
            each_document(file, &mut |document| {
                document.others.into_keys().for_each(|name| count_other(name, &mut others));
                Ok(())
            })
        } else {
            each_record(file, &mut |_| Ok(()))
        };
        let count = count.context("nothing was imported")?;
        anyhow::ensure!(count > 0, "{} holds nothing to import", file.display());
    }
    archive::repair(&collection.archive_dir())?;
    let compression = context.config(&collection)?.crawl.compression();
    let options = WriterOptions { compression, ..WriterOptions::default() };
    let mut writer = WarcWriter::create(&collection.archive_dir(), options)?;
    let (mut records, mut left_out) = (0_u64, 0_u64);
    for file in &args.files {
        let mut count = |written: bool| {
            records += u64::from(written);
            left_out += u64::from(!written);
        };
        if is_jsonl(file) {
            let date_s = modified_s(file)?;
            each_document(file, &mut |document| {
                write_document(&mut writer, &document, date_s).map(&mut count)
            })?;
        } else {
            each_record(file, &mut |record| write_record(&mut writer, &record).map(&mut count))?;
        }
    }
    writer.finish()?;
    anyhow::ensure!(
        records > 0,
        "nothing is left of {}: {LEFT_OUT}",
        talk::count(left_out, "record")
    );
    if context.json {
        let about = json!({ "records": records, "left_out": left_out, "other_fields": others });
        context.print_json(&about)?;
    } else {
        if left_out > 0 {
            talk::say(
                context.quiet,
                &format!("left out {}: {LEFT_OUT}", talk::count(left_out, "record")),
            );
        }
        if !others.is_empty() {
            let others = talk::plain(&list(&others));
            let text =
                format!("note     fields that are not kept, and in how many documents: {others}");
            talk::say(context.quiet, &text);
        }
        let them = if records == 1 { "it" } else { "them" };
        let records = talk::count(records, "record");
        talk::say(
            context.quiet,
            &format!("imported {records}; `crivello index` makes {them} findable"),
        );
    }
    Ok(Exit::Done)
}

fn is_jsonl(file: &Path) -> bool {
    let name = file.to_string_lossy().to_lowercase();
    let packed = [".gz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending));
    let name = packed.unwrap_or(&name);
    [".jsonl", ".ndjson", ".json"].iter().any(|ending| name.ends_with(ending))
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
const CARRIED: [&str; 9] = [
    "Crivello-Purpose",
    "Crivello-Attempt",
    "Crivello-Hops",
    "Crivello-Robots-For",
    "WARC-IP-Address",
    "WARC-Profile",
    "WARC-Refers-To-Target-URI",
    "WARC-Refers-To-Date",
    "WARC-Truncated",
];

/// Hands over every document of a JSONL file; how many there were.
fn each_document(file: &Path, visit: &mut dyn FnMut(Document) -> Result<()>) -> Result<u64> {
    let name = file.display();
    let mut lines = BufReader::new(Unpacked::open(file)?);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if (&mut lines).take(LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(number - 1);
        }
        if line.len() as u64 == LINE_BYTES_MAX {
            bail!("{name}:{number}: the line is longer than {LINE_BYTES_MAX} bytes");
        }
        // A byte-order mark is no part of the first document.
        let json = if number == 1 { line.strip_prefix(b"\xEF\xBB\xBF") } else { None };
        let document = Document::read(json.unwrap_or(&line));
        let checked = document.and_then(|document| document.check().map(|()| document));
        visit(checked.with_context(|| format!("{name}:{number}"))?)?;
    }
    Ok(0)
}

/// What is wrong with a line, and where in it: that it is one line is known.
fn in_words(error: &serde_json::Error) -> anyhow::Error {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    let what = match (error.classify(), what) {
        (Category::Eof, _) => return anyhow!("the line ends before its object does: {SHAPE}"),
        (_, "trailing characters") => "something follows the object",
        (_, "recursion limit exceeded") => "it is nested too deep",
        (Category::Data, _) => {
            let field = what.split('`').nth(1).unwrap_or(what);
            return anyhow!("the field {field:?} stands there twice");
        }
        // A control character, an escape, a surrogate: what it is, helps.
        (_, what) if what.contains("character") || what.contains("escape") => what,
        _ => "this is no JSON",
    };
    anyhow!("{what}, at byte {}: {SHAPE}", error.column())
}

fn write_document(writer: &mut WarcWriter, document: &Document, date_s: i64) -> Result<bool> {
    let id = document.id.as_deref().unwrap_or_default();
    let target = document.url.clone().unwrap_or_else(|| format!("urn:crivello:{id}"));
    let block = serde_json::to_vec(document).context("a document cannot be written as JSON")?;
    let written = writer.write(&Draft {
        kind: Kind::Resource,
        date_s,
        target: Some(&target),
        content_type: "application/json",
        extra: &[],
        block: &block,
        payload_offset: 0,
    });
    held(written)
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
