//! `crivello archive`: list, get.

use std::borrow::Cow;
use std::io::Write as _;

use anyhow::{Context as _, Result};
use archive::{Archive, Kind, Record};
use serde_json::json;

use super::question::read_url;
use crate::context::{Context, Exit};
use crate::talk;

/// A body that unpacks to more than this is not printed.
const BODY_BYTES_MAX: usize = 1 << 30;

#[derive(clap::Subcommand)]
#[command(after_help = "Examples:
  crivello archive list --dir my-web
  crivello archive get https://example.org/ --dir my-web > page.html")]
pub(crate) enum Args {
    /// One line a record: date, kind, status, bytes, file, offset, URL
    #[command(after_help = "Example:\n  crivello archive list --dir my-web | grep -w 404")]
    List,
    /// The newest capture of a URL: its body, or with --headers the whole record
    #[command(
        after_help = "Example:\n  crivello archive get https://example.org/ --dir my-web > page.html"
    )]
    Get {
        /// The URL
        url: String,
        /// Print the HTTP head too
        #[arg(long)]
        headers: bool,
    },
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    match args {
        Args::List => list(&collection, context),
        Args::Get { url, headers } => get(&collection, url, *headers, context),
    }
}

fn list(collection: &jobs::Collection, context: &Context) -> Result<Exit> {
    let folder = Archive::open(&collection.archive_dir())?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut damaged = Vec::new();
    for record in folder.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                damaged.push(with_causes(error));
                continue;
            }
        };
        let place = &record.location;
        let status = status(&record);
        if context.json {
            serde_json::to_writer(
                &mut out,
                &json!({
                    "kind": record.kind.to_string(), "date_s": record.date_s, "url": record.target,
                    "status": status,
                    "bytes": record.block.len(), "file": place.file, "offset": place.offset,
                }),
            )
            .map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            let url = record.target.as_deref().unwrap_or("-");
            let (kind, bytes) = (&record.kind, record.block.len());
            let date = archive::date_text(record.date_s);
            let status = status.map_or_else(|| "-".to_owned(), |status| status.to_string());
            let (file, offset) = (&place.file, place.offset);
            writeln!(out, "{date}\t{kind}\t{status}\t{bytes}\t{file}\t{offset}\t{url}")?;
        }
    }
    out.flush()?;
    anyhow::ensure!(damaged.is_empty(), "{}", damaged.join("\n"));
    Ok(Exit::Done)
}

/// The HTTP status of a response.
fn status(record: &Record) -> Option<u16> {
    let answer = matches!(record.kind, Kind::Response | Kind::Revisit);
    let answer = answer.then(|| archive::parse_http(&record.block).ok()).flatten();
    answer.map(|answer| answer.status)
}

fn get(collection: &jobs::Collection, url: &str, headers: bool, context: &Context) -> Result<Exit> {
    let folder = Archive::open(&collection.archive_dir())?;
    let url = String::from(read_url(url)?);
    let mut captures = folder.captures(&url)?;
    // A try that failed is no capture to show while there is a better one, and a revisit has no body.
    captures.sort_by_key(|capture| {
        (capture.status.is_some(), capture.mime != "warc/revisit", capture.date_s)
    });
    let Some(capture) = captures.pop() else {
        talk::say(context.quiet, &format!("the archive has no capture of {url}"));
        return Ok(Exit::NothingFound);
    };
    let record = folder.read(&capture.location)?;
    if record.kind == Kind::Metadata {
        talk::say(context.quiet, &talk::plain(&without_body(&record)));
        return Ok(Exit::NothingFound);
    }
    let answer = archive::parse_http(&record.block).ok();
    let answer = answer.filter(|_| matches!(record.kind, Kind::Response | Kind::Revisit));
    let body = match &answer {
        Some(answer) => {
            answer.decoded_body(BODY_BYTES_MAX).context("the body cannot be decoded")?
        }
        None => Cow::Borrowed(record.block.as_slice()),
    };
    if context.json {
        context.print_json(&json!({
            "url": url, "date_s": record.date_s, "status": capture.status,
            "headers": answer.as_ref().map(|answer| &answer.headers),
            "body": String::from_utf8_lossy(&body),
        }))?;
        return Ok(Exit::Done);
    }
    let mut out = std::io::stdout().lock();
    out.write_all(if headers { &record.block } else { &body })?;
    out.flush()?;
    Ok(Exit::Done)
}

/// What became of a visit of which the archive has no answer to print.
fn without_body(record: &Record) -> String {
    let date = archive::date_text(record.date_s);
    if let Some(failure) = crawl::read_failure(record) {
        return format!("it was never answered; the last try, at {date}, ended with {failure}");
    }
    match crawl::Told::read(record).and_then(|told| told.status) {
        Some(status) => format!(
            "the server answered {status} at {date}, and `store_filter` kept the answer out of the archive"
        ),
        None => format!("the archive has only metadata of it, from {date}"),
    }
}

fn with_causes(error: archive::ArchiveError) -> String {
    format!("{:#}", anyhow::Error::new(error))
}
