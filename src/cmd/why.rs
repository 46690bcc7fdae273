//! `crivello why`: everything the collection knows about one URL.
//!
//! What lives here: the questions, and how the answers are told. Where a URL was found is asked of
//! [`found_on`] alone. What does not: the rules of a crawl and how records are read (`crawl`).
//!
//! **Invariant.** The verdict is the first thing that holds, in the order in which a crawl decides:
//! fetched, imported, never seen, visited under another name, refused, given up, its host set aside,
//! forbidden, failed, not to be followed, dropped by a limit (`why/limit.rs`), waiting.

mod cut;
mod limit;

use std::io::Write as _;

use anyhow::Result;
use archive::{Archive, ArchiveError, CdxLine, Kind, Record};
use crawl::{AsideHost, Mention, Mentions, Report, RobotsSaying};
use jobs::{Collection, Folding, PageTable};
use page::Url;
use serde::Serialize;

use crate::config::Config;
use crate::context::{Context, Exit, Usage};
use crate::pipeline::extract_options;
use crate::talk;

use limit::Limits;

/// Places where it was found that are listed.
const FOUND_MAX: usize = 20;

/// The type of a capture that has no page of its own.
const REVISIT: &str = "warc/revisit";

/// Redirects of a robots.txt that are followed, as a crawl does.
const ROBOTS_HOPS_MAX: usize = 5;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello why https://example.org/private/ --dir my-web")]
pub(crate) struct Args {
    /// The URL
    url: String,
}

/// The answer.
#[derive(Default, Serialize)]
struct Why {
    url: String,
    /// In one sentence.
    verdict: String,
    /// Whether a crawl began with it.
    seed: bool,
    /// Why a crawl would not take it.
    refused: Option<String>,
    /// The URL it is visited under, if another.
    visited_as: Option<String>,
    /// What robots.txt of its host says.
    robots: Option<String>,
    /// Whether that is a no.
    forbidden: bool,
    /// Why its host was set aside when the last crawl ended.
    aside: Option<AsideHost>,
    /// Every visit, oldest first.
    captures: Vec<Capture>,
    /// Which limits cut the newest page.
    cuts: Vec<String>,
    /// What the newest capture is.
    standing: Option<String>,
    /// Which page represents it, if another does.
    folded_behind: Option<String>,
    /// Pages that stand behind it.
    copies: Vec<String>,
    /// Where it was found, the first of them.
    found_on: Vec<Found>,
}

/// A visit.
#[derive(Serialize)]
struct Capture {
    date_s: i64,
    /// The status of the answer, or `-`.
    status: String,
    /// Whether there is an answer that `store_filter` kept out of the archive.
    unstored: bool,
    /// Why there was no answer.
    failure: Option<String>,
    /// Whether it is a document that was imported, and not an answer.
    #[serde(skip)]
    imported: bool,
    /// Whether another try would end the same.
    #[serde(skip)]
    is_final: bool,
    file: String,
    offset: u64,
}

/// A place where a URL was found.
#[derive(Serialize)]
struct Found {
    url: String,
    date_s: i64,
    how: Mention,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let config = context.config(&collection)?;
    let url = read(&args.url).map_err(|error| Usage(format!("{}: {error}", args.url)))?;
    let mut why = Why { url: url.to_string(), ..Why::default() };
    let report = crawl::read_report(&collection.frontier_dir())?.unwrap_or_default();
    why.found_on = found_on(&url, &collection, &config)?;
    ask_crawl(&mut why, &url, &collection, &config)?;
    ask_report(&mut why, &url, &report);
    ask_pages(&mut why, &collection)?;
    let unknown =
        why.captures.is_empty() && why.standing.is_none() && why.found_on.is_empty() && !why.seed;
    why.verdict = if let Some(verdict) = verdict(&why, &config) {
        verdict
    } else {
        let archive = &Archive::open(&collection.archive_dir())?;
        let limits = Limits { archive, report: &report, config: &config.crawl };
        limits.verdict(&url, why.seed, &why.found_on)?
    };
    if context.json {
        context.print_json(&why)?;
    } else {
        print(&why)?;
    }
    Ok(if unknown { Exit::NothingFound } else { Exit::Done })
}

/// A web address, or the name of an imported document that has none.
fn read(text: &str) -> Result<Url> {
    if text.starts_with("urn:crivello:") {
        return Ok(Url::parse(text)?);
    }
    Ok(page::normalise(text, None, &page::Limits::default())?)
}

/// Rules, robots.txt and the archive.
fn ask_crawl(why: &mut Why, url: &Url, collection: &Collection, config: &Config) -> Result<()> {
    let archive = Archive::open(&collection.archive_dir())?;
    let seeds = crawl::read_seeds(&collection.frontier_dir())?;
    why.seed = seeds.contains(url);
    let rules = crawl::Rules::new(&config.crawl, &seeds)?;
    // What is named as a sitemap is visited as it is spelt, whatever it ends with.
    let is_sitemap = why.found_on.iter().any(|found| found.how.is_of_sitemap());
    if url.has_host() && !(is_sitemap && rules.check_sitemap(url).is_ok()) {
        let verdict = rules.check(url).and_then(|()| rules.check_links_to(url));
        why.refused = verdict.err().map(|refusal| refusal.to_string());
        let visited = rules.normalise(url.clone());
        why.visited_as = (visited != *url).then(|| visited.into());
    }
    for capture in archive.captures(url.as_str())? {
        let (mut failure, mut unstored, mut imported) = (None, None, false);
        if capture.status.is_none() {
            let record = archive.read(&capture.location)?;
            imported = record.kind == Kind::Resource;
            failure = crawl::read_failure(&record);
            unstored = crawl::read_unstored_status(&record);
        }
        let status = capture.status.or(unstored);
        why.captures.push(Capture {
            date_s: capture.date_s,
            status: status.map_or_else(|| "-".to_owned(), |status| status.to_string()),
            unstored: unstored.is_some(),
            imported,
            is_final: failure
                .as_ref()
                .is_some_and(|failure| !failure.kind.is_passing() && !failure.kind.is_of_host()),
            failure: failure.map(|failure| failure.to_string()),
            file: capture.location.file,
            offset: capture.location.offset,
        });
    }
    why.cuts = cuts_of(&archive, url, config)?;
    if let Some(saying) = robots_of(&archive, url, &config.crawl.user_agent)? {
        (why.forbidden, why.robots) = (!saying.allowed, Some(saying.why));
    }
    Ok(())
}

/// Which limits cut the newest capture of a page.
fn cuts_of(archive: &Archive, url: &Url, config: &Config) -> Result<Vec<String>> {
    let captures = archive.captures(url.as_str())?;
    let is_page = |capture: &&CdxLine| capture.status == Some(200) && capture.mime != REVISIT;
    let Some(last) = captures.iter().rfind(is_page) else { return Ok(Vec::new()) };
    cut::cuts(&archive.read(&last.location)?, url, &config.crawl)
}

/// What the newest robots.txt of a URL's host says of it, redirects followed.
fn robots_of(archive: &Archive, url: &Url, user_agent: &str) -> Result<Option<RobotsSaying>> {
    let Ok(mut at) = url.join("/robots.txt") else { return Ok(None) };
    for _ in 0..=ROBOTS_HOPS_MAX {
        let mut captures = archive.captures(at.as_str())?;
        let answered = captures.iter().rposition(|capture| capture.status.is_some());
        let Some(answered) = answered else {
            let Some(last) = captures.last() else { return Ok(None) };
            let failure = crawl::read_failure(&archive.read(&last.location)?);
            return Ok(failure.map(|failure| RobotsSaying {
                allowed: false,
                why: format!("it cannot be had ({failure}), so nothing is allowed"),
            }));
        };
        let capture = captures.swap_remove(answered);
        let record = archive.read(&capture.location)?;
        let redirect = matches!(capture.status, Some(300..=399));
        match location(&record, &at).filter(|_| redirect) {
            Some(next) => at = next,
            None => return Ok(crawl::explain_robots(&record, url, user_agent)),
        }
    }
    Ok(None)
}

fn location(record: &Record, base: &Url) -> Option<Url> {
    let answer = archive::parse_http(&record.block).ok()?;
    base.join(answer.header("location")?).ok()
}

/// What the last crawl said of its host when it ended.
fn ask_report(why: &mut Why, url: &Url, report: &Report) {
    let host = url.origin().ascii_serialization();
    why.aside = report.aside.iter().find(|aside| aside.host == host).cloned();
}

/// The page table and the duplicates.
fn ask_pages(why: &mut Why, collection: &Collection) -> Result<()> {
    if !has_table(collection) {
        return Ok(());
    }
    let table = PageTable::open(&collection.pages_dir())?;
    let directory = table.directory();
    let entries = directory.entries();
    if let Some(place) = directory.find(&why.url) {
        let noindex = if entries[place].noindex { ", which asks not to be found" } else { "" };
        why.standing = Some(format!("a page{noindex}"));
        if let Some(folding) = Folding::open(collection, directory)? {
            let head = folding.representative(place).filter(|&head| head != place);
            why.folded_behind = head.map(|head| entries[head].url.clone());
            why.copies = folding.behind(place).map(|copy| entries[copy].url.clone()).collect();
        }
    } else if let Some(target) = directory.redirect(&why.url) {
        why.standing = Some(format!("a redirect to {target}"));
    } else if let Some(what) = directory.other(&why.url) {
        why.standing = Some(format!("no page: {what}"));
    }
    Ok(())
}

fn has_table(collection: &Collection) -> bool {
    collection.pages_dir().join("directory").is_file()
}

/// Where a URL was found: in the page table if that is as new as the archive and has it, otherwise in
/// the archive itself, which also knows of redirects and sitemaps.
fn found_on(url: &Url, collection: &Collection, config: &Config) -> Result<Vec<Found>> {
    if has_table(collection) && jobs::is_extracted(collection, &extract_options(&config.crawl))? {
        let found = found_in_table(url, collection)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    found_in_archive(url, collection, config)
}

fn found_in_table(url: &Url, collection: &Collection) -> Result<Vec<Found>> {
    let table = PageTable::open(&collection.pages_dir())?;
    let entries = table.directory().entries();
    let mut found = Vec::new();
    table.each_live(&mut |place, page| {
        let mut links = page.links.iter().filter(|link| link.url == url.as_str()).peekable();
        if links.peek().is_some() && found.len() < FOUND_MAX {
            let nofollow = links.all(|link| link.nofollow);
            found.push(Found {
                url: entries[place].url.clone(),
                date_s: entries[place].date_s,
                how: if nofollow { Mention::Nofollow } else { Mention::Link },
            });
        }
        Ok(())
    })?;
    Ok(found)
}

fn found_in_archive(url: &Url, collection: &Collection, config: &Config) -> Result<Vec<Found>> {
    let archive = Archive::open(&collection.archive_dir())?;
    let mentions = Mentions::new(&config.crawl)?;
    let mut found = Vec::new();
    for record in archive.records() {
        let record = match record {
            Ok(record) => record,
            Err(error @ ArchiveError::Io { .. }) => return Err(error.into()),
            // What cannot be read says nothing.
            Err(_) => continue,
        };
        if let Some(how) = mentions.find(&record, url.as_str()) {
            let from = record.target.unwrap_or_default();
            found.push(Found { url: from, date_s: record.date_s, how });
        }
        if found.len() == FOUND_MAX {
            break;
        }
    }
    Ok(found)
}

/// What became of it, in a sentence; `None` if all that is left is the queue and its limits.
fn verdict(why: &Why, config: &Config) -> Option<String> {
    if let Some(last) = why.captures.iter().rfind(|capture| capture.failure.is_none()) {
        if last.imported {
            return Some("imported".to_owned());
        }
        let answered = answered(&last.status, why.captures.len());
        let note = if last.unstored { "; `store_filter` keeps it out of the archive" } else { "" };
        return Some(answered + note);
    }
    let followed = why.seed || why.found_on.iter().any(|found| found.how.is_followed());
    if !followed && why.found_on.is_empty() && why.captures.is_empty() {
        return Some("never seen: not fetched, and nothing that was fetched names it".to_owned());
    }
    if let Some(visited) = &why.visited_as {
        return Some(format!("visited under another name: {visited}, which is the one to ask for"));
    }
    if let Some(refused) = &why.refused {
        return Some(format!("refused: {refused}"));
    }
    let tries = why.captures.len();
    let is_final = why.captures.last().is_some_and(|capture| capture.is_final);
    let last = why.captures.last().and_then(|capture| capture.failure.as_deref());
    if let Some(last) = last.filter(|_| is_final || tries > usize::from(config.crawl.retries)) {
        let failures = talk::count(tries as u64, "failure");
        return Some(format!("given up after {failures}, at last {last}"));
    }
    if let Some(aside) = &why.aside {
        return Some(format!("waiting, because its host is set aside: {}", aside.why));
    }
    if let Some(robots) = why.robots.as_ref().filter(|_| why.forbidden) {
        return Some(format!("forbidden by robots.txt: {robots}"));
    }
    if let Some(last) = last {
        return Some(format!("failed {tries} times, at last {last}; a crawl tries it again"));
    }
    if followed {
        return None;
    }
    Some(if why.found_on.iter().any(|found| found.how == Mention::Beyond) {
        format!(
            "dropped: it is linked only after the first {} links of a page (`links_per_page_max`)",
            config.crawl.links_per_page_max
        )
    } else {
        "not followed: only links that say nofollow lead to it".to_owned()
    })
}

/// What the last answer was, after so many visits.
fn answered(status: &str, visits: usize) -> String {
    match status {
        // 304 says that an earlier capture still holds.
        "200" | "304" => "fetched".to_owned(),
        "301" | "302" | "303" | "307" | "308" => "fetched: it redirects".to_owned(),
        status if status == "429" || status.starts_with('5') => {
            format!("failed: the server answered {status} to the last of {visits} requests")
        }
        status => format!("fetched: the server answered {status}"),
    }
}

fn print(why: &Why) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", why.url)?;
    writeln!(out, "  {}", talk::plain(&why.verdict))?;
    if let Some(refused) = &why.refused {
        writeln!(out, "  a crawl refuses it: {refused}")?;
    }
    if let Some(visited) = &why.visited_as {
        writeln!(out, "  a crawl visits it as {visited} (`normalise`)")?;
    }
    if let Some(robots) = &why.robots {
        writeln!(out, "  robots.txt: {robots}")?;
    }
    if let Some(aside) = &why.aside {
        let until = aside.until_s.map(archive::date_text);
        let until =
            until.map_or_else(|| "until a later crawl".to_owned(), |s| format!("until {s}"));
        writeln!(out, "  its host was set aside {until}: {}", talk::plain(&aside.why))?;
    }
    for capture in &why.captures {
        let (file, date) = (&capture.file, archive::date_text(capture.date_s));
        let what = match &capture.failure {
            Some(failure) => format!("failed {date}, {}", talk::plain(failure)),
            None if capture.unstored => format!("visited {date}, status {}", capture.status),
            None => format!("captured {date}, status {}", capture.status),
        };
        writeln!(out, "  {what}, in {file} at {}", capture.offset)?;
    }
    for cut in &why.cuts {
        writeln!(out, "  {cut}")?;
    }
    if let Some(standing) = &why.standing {
        writeln!(out, "  it is {standing}")?;
    }
    if let Some(head) = &why.folded_behind {
        writeln!(out, "  folded behind {head}")?;
    }
    for copy in &why.copies {
        writeln!(out, "  represents {copy}")?;
    }
    if why.seed {
        writeln!(out, "  a crawl began with it")?;
    }
    for Found { url, date_s, how } in &why.found_on {
        let how = match how {
            Mention::Link => "linked from",
            Mention::Nofollow => "linked with nofollow from",
            Mention::Beyond => "linked, after more links than are kept, from",
            Mention::Redirect => "redirected to from",
            Mention::Sitemap => "in the sitemap",
            Mention::Index => "in the index of sitemaps",
            Mention::Robots => "a sitemap named in",
        };
        writeln!(out, "  {how} {url}, {}", archive::date_text(*date_s))?;
    }
    Ok(())
}
