//! `crivello import`: WARC files of any producer and JSONL documents become records of the archive.
//!
//! **Invariant.** All files are read to their ends before the first byte is written, so one that
//! cannot be read changes nothing.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use archive::{Draft, Kind, Limits, Record, WarcReader, WarcWriter, WriterOptions};
use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::context::{Context, Exit};
use crate::talk;

/// A line of JSONL is at most this long.
const LINE_BYTES_MAX: u64 = 64 << 20;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello import crawl-2024.warc.gz --dir my-web
  crivello import documents.jsonl --dir my-web     lines of {\"id\", \"url\", \"title\", \"text\"}
  crivello index --dir my-web                      makes them findable")]
pub(crate) struct Args {
    /// WARC (.warc, .warc.gz) or JSONL (.jsonl, .jsonl.gz)
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// A document as JSONL gives it and as the archive keeps it.
#[derive(Serialize, Deserialize)]
struct Document {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(default)]
    title: String,
    text: String,
}

impl Document {
    /// The name under which the archive keeps it.
    fn target(&self) -> Option<String> {
        let by_id = || self.id.as_ref().map(|id| format!("urn:crivello:{id}"));
        self.url.clone().or_else(by_id)
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let _lock = collection.lock()?;
    for file in &args.files {
        let count = if is_jsonl(file) {
            each_document(file, &mut |_| Ok(()))
        } else {
            each_record(file, &mut |_| Ok(()))
        };
        let count =
            count.with_context(|| format!("nothing was imported from {}", file.display()))?;
        anyhow::ensure!(count > 0, "{} holds nothing to import", file.display());
    }
    archive::repair(&collection.archive_dir())?;
    let mut writer = WarcWriter::create(&collection.archive_dir(), WriterOptions::default())?;
    let mut total = 0;
    for file in &args.files {
        total += if is_jsonl(file) {
            let date_s = modified_s(file)?;
            each_document(file, &mut |document| write_document(&mut writer, &document, date_s))?
        } else {
            each_record(file, &mut |record| write_record(&mut writer, &record))?
        };
    }
    writer.finish()?;
    if context.json {
        context.print_json(&json!({ "records": total }))?;
    } else {
        talk::say(
            context.quiet,
            &format!("imported {total} records; `crivello index` makes them findable"),
        );
    }
    Ok(Exit::Done)
}

fn is_jsonl(file: &Path) -> bool {
    let name = file.to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
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

fn write_record(writer: &mut WarcWriter, record: &Record) -> Result<()> {
    let answer = matches!(record.kind, Kind::Response | Kind::Revisit);
    let payload_offset = match archive::parse_http(&record.block) {
        Ok(http) if answer => http.body_offset,
        _ => 0,
    };
    let extra: Vec<_> = record
        .headers
        .iter()
        .filter(|(name, _)| CARRIED.iter().any(|carried| name.eq_ignore_ascii_case(carried)))
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    writer.write(&Draft {
        kind: record.kind.clone(),
        date_s: record.date_s,
        target: record.target.as_deref(),
        content_type: record.content_type.as_deref().unwrap_or("application/octet-stream"),
        extra: &extra,
        block: &record.block,
        payload_offset,
    })?;
    Ok(())
}

/// Headers that keep their meaning in another file.
const CARRIED: [&str; 6] = [
    "Crivello-Purpose",
    "WARC-IP-Address",
    "WARC-Profile",
    "WARC-Refers-To-Target-URI",
    "WARC-Refers-To-Date",
    "WARC-Truncated",
];

/// Hands over every document of a JSONL file; how many there were.
fn each_document(file: &Path, visit: &mut dyn FnMut(Document) -> Result<()>) -> Result<u64> {
    let name = file.display();
    let open = File::open(file).with_context(|| format!("cannot read {name}"))?;
    let gzip = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    let source: Box<dyn Read> =
        if gzip { Box::new(MultiGzDecoder::new(open)) } else { Box::new(open) };
    let mut lines = BufReader::new(source);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let length = (&mut lines).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        if length.with_context(|| format!("cannot read {name}, line {number}"))? == 0 {
            return Ok(number - 1);
        }
        if line.len() as u64 == LINE_BYTES_MAX {
            bail!("{name}, line {number}: longer than {LINE_BYTES_MAX} bytes");
        }
        let document: Document = serde_json::from_slice(&line).with_context(|| {
            format!("{name}, line {number}: not {{\"id\", \"url\", \"title\", \"text\"}}")
        })?;
        match document.target() {
            None => bail!("{name}, line {number}: a document needs an \"id\" or a \"url\""),
            Some(target) if !is_clean(&target) => {
                bail!(
                    "{name}, line {number}: an \"id\" or \"url\" with blanks around or control characters"
                )
            }
            Some(_) => visit(document)?,
        }
    }
    Ok(0)
}

/// Whether a name can stand in the header of a record.
fn is_clean(target: &str) -> bool {
    let odd = target.is_empty() || target.starts_with('<') || target.trim() != target;
    !odd && !target.contains(char::is_control)
}

fn write_document(writer: &mut WarcWriter, document: &Document, date_s: i64) -> Result<()> {
    let target = document.target().context("a document without a name")?;
    let block = serde_json::to_vec(document).context("a document cannot be written as JSON")?;
    writer.write(&Draft {
        kind: Kind::Resource,
        date_s,
        target: Some(&target),
        content_type: "application/json",
        extra: &[],
        block: &block,
        payload_offset: 0,
    })?;
    Ok(())
}

/// When the file was last changed: the date of its documents.
fn modified_s(file: &Path) -> Result<i64> {
    let modified = file.metadata().and_then(|about| about.modified());
    let modified = modified.with_context(|| format!("cannot read {}", file.display()))?;
    let since = modified.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Ok(i64::try_from(since.as_secs()).unwrap_or(0))
}
