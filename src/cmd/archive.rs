//! `crivello archive`: list, get.
//!
//! What lives here: output of captures, and messages about captures that cannot be printed. What does not: reading of
//! files (crate `archive`), and the fields that a crawl writes into a record (crate `crawl`).
//!
//! **Invariant.** Without `--json`, standard output of `get` has only bytes of the archive. Standard error explains a
//! result that is no page: a redirect, a failed visit, a damaged record.

use std::borrow::Cow;
use std::io::{IsTerminal as _, Write as _};

use anyhow::{Context as _, Result, bail};
use archive::{Archive, ArchiveError, CdxLine, Kind, Record};
use crawl::{FailureKind, Moment, Normalisation, Purpose, VisitRecord};
use page::Url;
use serde_json::json;

use super::url_arg::read_url;
use crate::console;
use crate::context::{Context, Exit};

/// The most damaged places that a message lists.
const PLACES_SHOWN_MAX: usize = 5;

/// The longest unpacked body that is printed.
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
    ///
    /// A terminal gets escapes in place of control characters; a file or a pipe gets the bytes as they are.
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

fn list(collection: &collection::Collection, context: &Context) -> Result<Exit> {
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
                    "kind": record.kind.to_string(), "date_s": record.date_s,
                    "microseconds": record.date_us, "url": record.target, "status": status,
                    "bytes": record.block.len(), "file": place.file, "offset": place.offset,
                }),
            )
            .map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            let url = record.target.as_deref().unwrap_or("-");
            let (kind, bytes) = (&record.kind, record.block.len());
            let date = archive::exact_date_text(record.date_s, record.date_us);
            let status = status.map_or_else(|| "-".to_owned(), |status| status.to_string());
            let (file, offset) = (&place.file, place.offset);
            writeln!(out, "{date}\t{kind}\t{status}\t{bytes}\t{file}\t{offset}\t{url}")?;
        }
    }
    out.flush()?;
    anyhow::ensure!(damaged.is_empty(), "{}", damaged.join("\n"));
    Ok(Exit::Done)
}

/// Returns the HTTP status of a response.
fn status(record: &Record) -> Option<u16> {
    let answer = matches!(record.kind, Kind::Response | Kind::Revisit);
    let answer = answer.then(|| archive::parse_http(&record.block).ok()).flatten();
    answer.map(|answer| answer.status)
}

/// Captures of a URL that cannot be read.
struct Missing {
    /// Captures in missing or truncated files.
    gone: Vec<CdxLine>,
    /// Captures in damaged records, and damaged places with unknown contents.
    unreadable: Vec<CdxLine>,
}

impl Missing {
    fn read(collection: &collection::Collection, folder: &Archive, url: &Url) -> Result<Missing> {
        let (frontier, url) = (collection.frontier_dir(), url.as_str());
        let gone = crawl::missing_captures(&frontier, folder, url)?;
        Ok(Missing { gone, unreadable: crawl::unreadable_captures(&frontier, folder, url)? })
    }
}

fn get(
    collection: &collection::Collection,
    url: &str,
    headers: bool,
    context: &Context,
) -> Result<Exit> {
    let folder = Archive::open(&collection.archive_dir())?;
    let asked = read_url(url)?;
    let (url, mut captures) = find(&folder, &asked, collection, context)?;
    if url != asked {
        console::say(context.quiet, &format!("a crawl visits it as {url}"));
    }
    // The best capture is last: failed visits, revisits (they have no body) and temporary errors sort before.
    let is_vain = |status| crawl::keeps_previous(Purpose::Page, status);
    captures.sort_by_key(|capture| {
        let is_answer = capture.status.is_some();
        let tells = !capture.status.is_some_and(is_vain);
        (is_answer, !capture.is_revisit(), tells, capture.date_s, capture.date_us)
    });
    let missing = Missing::read(collection, &folder, &url)?;
    let is_lost = !captures.is_empty() && !captures.iter().any(stands);
    if let Some(lost) = missing.gone.iter().rfind(|line| crawl::is_answer(line)).filter(|_| is_lost)
    {
        return in_vain(&folder, &url, lost, &captures, context);
    }
    let is_behind = |last: &CdxLine| {
        captures.iter().any(|line| line.is_revisit() && moment(line) > moment(last))
    };
    if captures.last().is_some_and(|last| {
        last.is_revisit() || last.status.is_some_and(is_vain) || is_behind(last)
    }) {
        check_body(&folder, &url, &captures, &missing)?;
    }
    let revisited = captures.iter().filter(|line| line.is_revisit()).map(moment).max();
    let Some((capture, record, damaged)) = newest(&folder, &url, captures)? else {
        return Ok(unfound(&folder, &url, &missing, context));
    };
    for said in &damaged {
        console::say(context.quiet, said);
    }
    // A later revisit record confirms this capture.
    let since = revisited.max(Some(moment(&capture)));
    for said in newer(&folder, &url, since, &missing) {
        console::say(context.quiet, &said);
    }
    if record.kind == Kind::Metadata {
        console::say(context.quiet, &console::plain(&without_body(&record)));
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
    let target = target(&url, &record);
    if let Some(status) = answer.as_ref().map(|answer| answer.status).filter(|&it| it != 200) {
        let date = archive::date_text(record.date_s);
        let leads = target.as_ref().map(|target| format!(", and leads to {target}"));
        let said = format!("the server answered {status} at {date}{}", leads.unwrap_or_default());
        console::say(context.quiet, &console::plain(&said));
    }
    if context.json {
        context.print_json(&json!({
            "url": url, "date_s": record.date_s, "microseconds": record.date_us,
            "status": capture.status, "leads_to": target,
            "headers": answer.as_ref().map(|answer| &answer.headers),
            "body": String::from_utf8_lossy(&body),
        }))?;
        return Ok(Exit::Done);
    }
    write_out(if headers { &record.block } else { &body })?;
    Ok(Exit::Done)
}

/// Writes bytes to standard output; a terminal gets no control characters.
fn write_out(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        out.write_all(visible(bytes).as_bytes())?;
    } else {
        out.write_all(bytes)?;
    }
    out.flush()
}

/// Makes text for a terminal: control characters become escapes, except newlines and tabs.
fn visible(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let mut visible = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\n' | '\t') || page::is_harmless(c) {
            visible.push(c);
        } else {
            visible.extend(c.escape_unicode());
        }
    }
    visible
}

/// Returns the last readable capture, its record, and messages about newer captures; `None` without captures.
///
/// Fails if a revisit record refers to an unreadable capture, or if no older answer is left.
fn newest(
    folder: &Archive,
    url: &Url,
    mut captures: Vec<CdxLine>,
) -> Result<Option<(CdxLine, Record, Vec<String>)>> {
    let mut damaged = Vec::new();
    while let Some(capture) = captures.pop() {
        let error = match folder.read(&capture.location) {
            Ok(record) => return Ok(Some((capture, record, damaged))),
            Err(error) => error,
        };
        let is_same = |line: &CdxLine| line.is_revisit() && moment(line) > moment(&capture);
        let is_older = captures.last().is_some_and(crawl::is_answer);
        if matches!(error, ArchiveError::Io { .. }) || !is_older || captures.iter().any(is_same) {
            return Err(error).with_context(|| unreadable(url, &capture));
        }
        damaged.push(format!("{}: {}", unreadable(url, &capture), place(&capture)));
    }
    Ok(None)
}

/// Returns whether a capture is a conclusive answer or a revisit.
fn stands(line: &CdxLine) -> bool {
    line.is_revisit() || crawl::is_answer(line)
}

/// Says that the answer is lost, and how the last visit since then failed.
fn in_vain(
    folder: &Archive,
    url: &Url,
    lost: &CdxLine,
    captures: &[CdxLine],
    context: &Context,
) -> Result<Exit> {
    let (date, file) = (archive::date_text(lost.date_s), &lost.location.file);
    let fate = crawl::describe_loss(folder, file);
    let what = format!("{url} was visited at {date}; the answer was in {file}, which {fate}");
    console::say(context.quiet, &what);
    let last = captures.iter().max_by_key(|line| moment(line));
    if let Some(last) = last.filter(|last| moment(last) > moment(lost)) {
        let record = folder.read(&last.location).with_context(|| unreadable(url, last))?;
        let date = archive::date_text(last.date_s);
        let said = match (crawl::read_failure(&record), last.status) {
            (Some(failure), _) => format!("asked again at {date}, it ended with {failure}"),
            (None, Some(status)) => format!("asked again at {date}, the server answered {status}"),
            (None, None) => without_body(&record),
        };
        console::say(context.quiet, &console::plain(&said));
    }
    Ok(Exit::NothingFound)
}

fn moment(line: &CdxLine) -> (i64, u32) {
    (line.date_s, line.date_us)
}

/// Describes captures after `since` that cannot be read.
fn newer(folder: &Archive, url: &Url, since: Option<(i64, u32)>, missing: &Missing) -> Vec<String> {
    let places = missing.unreadable.iter().filter(|line| Some(moment(line)) > since);
    let said = places.map(|line| format!("{}: {}", unreadable(url, line), place(line)));
    let mut said: Vec<String> = said.collect();
    let newest = missing.gone.iter().rfind(|line| crawl::is_answer(line));
    said.extend(newest.filter(|line| Some(moment(line)) > since).map(|line| {
        let (date, file) = (archive::date_text(line.date_s), &line.location.file);
        let fate = crawl::describe_loss(folder, file);
        format!("a newer capture of {url}, of {date}, is lost: it was in {file}, which {fate}")
    }));
    said
}

/// Fails if the capture that the last revisit record refers to is missing or damaged.
fn check_body(folder: &Archive, url: &Url, captures: &[CdxLine], missing: &Missing) -> Result<()> {
    let revisits = captures.iter().filter(|capture| capture.is_revisit());
    let Some(last) = revisits.max_by_key(|line| (line.date_s, line.date_us)) else { return Ok(()) };
    let record = folder.read(&last.location).with_context(|| unreadable(url, last))?;
    let Some(Moment { s, us }) = VisitRecord::read(&record).and_then(|told| told.refers_to) else {
        return Ok(());
    };
    // Some records have no microseconds.
    let is_body = |line: &&CdxLine| line.date_s == s && (line.date_us == us || us == 0);
    if captures.iter().filter(is_body).any(|line| !line.is_revisit()) {
        return Ok(());
    }
    let (date, then) = (archive::date_text(last.date_s), archive::date_text(s));
    let Missing { gone, unreadable } = missing;
    let what = match (unreadable.iter().find(is_body), gone.iter().find(is_body)) {
        (Some(line), _) => format!("that capture cannot be read: {}", place(line)),
        (None, Some(line)) => {
            let file = &line.location.file;
            format!("that capture was in {file}, which {}", crawl::describe_loss(folder, file))
        }
        (None, None) => "that capture is missing from the archive".to_owned(),
    };
    bail!("{url} had not changed at {date} since {then}, but {what}")
}

/// Returns the captures of a URL, or else of its normalised form. Unreadable captures are included only if no other is
/// conclusive.
fn find(
    folder: &Archive,
    asked: &Url,
    collection: &collection::Collection,
    context: &Context,
) -> Result<(Url, Vec<CdxLine>)> {
    let captures_of = |url: &Url| -> Result<Vec<CdxLine>> {
        let captures = folder.captures(url.as_str())?;
        let frontier = collection.frontier_dir();
        let mut unreadable = crawl::unreadable_captures(&frontier, folder, url.as_str())?;
        unreadable.retain(|line| !line.url.is_empty() && (captures.is_empty() || stands(line)));
        let is_told = unreadable.is_empty() || captures.iter().any(stands);
        Ok(if is_told { captures } else { unreadable })
    };
    let captures = captures_of(asked)?;
    if !captures.is_empty() {
        return Ok((asked.clone(), captures));
    }
    let rules = context.config(collection)?.crawl.normalise;
    let visited = Normalisation::apply(&rules, asked.clone());
    let captures = captures_of(&visited)?;
    Ok((visited, captures))
}

/// Returns the target of a redirect.
fn target(url: &Url, record: &Record) -> Option<String> {
    let told = VisitRecord::read(record)?.location?;
    let target = page::normalise(&told, Some(url), &page::Limits::default());
    Some(target.map_or(told, String::from))
}

/// Says that there is no capture, and possible reasons.
fn unfound(folder: &Archive, url: &Url, missing: &Missing, context: &Context) -> Exit {
    let Missing { gone, unreadable: places } = missing;
    console::say(context.quiet, &format!("the archive has no capture of {url}"));
    for line in gone {
        let (date, file) = (archive::date_text(line.date_s), &line.location.file);
        let fate = crawl::describe_loss(folder, file);
        let said = format!("it was visited at {date}; the answer was in {file}, which {fate}");
        console::say(context.quiet, &said);
    }
    if !places.is_empty() {
        let shown: Vec<String> = places.iter().take(PLACES_SHOWN_MAX).map(place).collect();
        let others = places.len() - shown.len();
        let others = if others > 0 { format!(", and {others} more") } else { String::new() };
        let shown = format!("{}{others}", shown.join(", "));
        let said = format!("but {shown}; the URLs of these records are unknown");
        console::say(context.quiet, &said);
    }
    Exit::NothingFound
}

fn unreadable(url: &Url, capture: &CdxLine) -> String {
    let date = archive::date_text(capture.date_s);
    format!("the capture of {url} at {date} cannot be read")
}

/// Formats the place of a damaged record.
fn place(line: &CdxLine) -> String {
    format!("{} is damaged at byte {}", line.location.file, line.location.offset)
}

/// Describes a visit without an archived answer.
fn without_body(record: &Record) -> String {
    let date = archive::date_text(record.date_s);
    if let Some(failure) = crawl::read_failure(record) {
        let what = match failure.kind {
            FailureKind::TooLarge | FailureKind::Room => {
                return format!("the answer at {date} was not kept: {failure}");
            }
            FailureKind::Address | FailureKind::Contact => "it was never asked for",
            FailureKind::Timeout | FailureKind::Protocol => "it was never answered in full",
            _ => "it was never answered",
        };
        return format!("{what}; the last try, at {date}, ended with {failure}");
    }
    match VisitRecord::read(record).and_then(|told| told.status) {
        Some(status) => format!(
            "the server answered {status} at {date}, and `store_filter` kept the answer out of the archive"
        ),
        None => format!("the archive has only metadata of it, from {date}"),
    }
}

fn with_causes(error: ArchiveError) -> String {
    format!("{:#}", anyhow::Error::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_control_characters() {
        let page = "<p>\u{1b}[2J\u{9b}1m\u{202e}é\r\n\tb\rc\u{7f}".as_bytes();
        let shown = visible(page);
        assert_eq!(shown, "<p>\\u{1b}[2J\\u{9b}1m\\u{202e}é\n\tb\\u{d}c\\u{7f}");
        assert_eq!(visible(b"\xff\x9b"), "\u{fffd}\u{fffd}");
    }
}
