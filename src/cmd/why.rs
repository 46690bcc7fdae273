//! `crivello why`: everything the collection knows about one URL.

use std::io::Write as _;

use anyhow::Result;
use archive::{Archive, Record};
use jobs::{Collection, Folding, PageTable};
use page::Url;
use serde::Serialize;

use crate::config::Config;
use crate::context::{Context, Exit, Usage};

/// Linking pages that are listed.
const LINKING_MAX: usize = 20;

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
    /// Why a crawl would not take it.
    refused: Option<String>,
    /// What robots.txt of its host says.
    robots: Option<String>,
    /// Date and status of each capture.
    captures: Vec<Capture>,
    /// What the newest capture is.
    standing: Option<String>,
    /// Which page represents it, if another does.
    folded_behind: Option<String>,
    /// Pages that stand behind it.
    copies: Vec<String>,
    /// Pages that link to it.
    linked_from: Vec<String>,
}

#[derive(Serialize)]
struct Capture {
    date_s: i64,
    status: String,
    file: String,
    offset: u64,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let config = context.config(&collection)?;
    let url = read(&args.url).map_err(|error| Usage(format!("{}: {error}", args.url)))?;
    let mut why = Why { url: url.to_string(), ..Why::default() };
    ask_crawl(&mut why, &url, &collection, &config)?;
    ask_pages(&mut why, &collection)?;
    let unknown = why.captures.is_empty() && why.standing.is_none() && why.linked_from.is_empty();
    if context.json {
        context.print_json(&why)?;
    } else {
        print(&why, unknown)?;
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
    let rules = crawl::Rules::new(&config.crawl, &seeds);
    if url.has_host() {
        why.refused = rules.check(url).err().map(|refusal| refusal.to_string());
    }
    for capture in archive.captures(url.as_str())? {
        why.captures.push(Capture {
            date_s: capture.date_s,
            status: capture.status.map_or_else(|| "-".to_owned(), |status| status.to_string()),
            file: capture.location.file,
            offset: capture.location.offset,
        });
    }
    if let Some(record) = robots_of(&archive, url)? {
        why.robots = crawl::explain_robots(&record, url, &config.crawl.user_agent).map(|saying| saying.why);
    }
    Ok(())
}

/// The newest answer to the question for the robots.txt of a URL's host, redirects followed.
fn robots_of(archive: &Archive, url: &Url) -> Result<Option<Record>> {
    let Ok(mut at) = url.join("/robots.txt") else { return Ok(None) };
    for _ in 0..=ROBOTS_HOPS_MAX {
        let captures = archive.captures(at.as_str())?;
        let answered = captures.into_iter().rfind(|capture| capture.status.is_some());
        let Some(capture) = answered else { return Ok(None) };
        let record = archive.read(&capture.location)?;
        let redirect = matches!(capture.status, Some(300..=399));
        let next = archive::parse_http(&record.block).ok().filter(|_| redirect);
        let next = next.and_then(|answer| at.join(answer.header("location")?).ok());
        match next {
            Some(next) => at = next,
            None => return Ok(Some(record)),
        }
    }
    Ok(None)
}

/// The page table, the duplicates and the links.
fn ask_pages(why: &mut Why, collection: &Collection) -> Result<()> {
    if !collection.pages_dir().join("directory").is_file() {
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
    table.each_live(&mut |place, page| {
        let links = page.links.iter().any(|link| link.url == why.url);
        if links && why.linked_from.len() < LINKING_MAX {
            why.linked_from.push(entries[place].url.clone());
        }
        Ok(())
    })?;
    Ok(())
}

fn print(why: &Why, unknown: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", why.url)?;
    if unknown {
        writeln!(out, "  never seen: not fetched, and no page of the collection links to it")?;
    }
    if let Some(refused) = &why.refused {
        writeln!(out, "  a crawl refuses it: {refused}")?;
    }
    if let Some(robots) = &why.robots {
        writeln!(out, "  robots.txt: {robots}")?;
    }
    for capture in &why.captures {
        let (status, file) = (&capture.status, &capture.file);
        let date = archive::date_text(capture.date_s);
        writeln!(out, "  captured {date}, status {status}, in {file} at {}", capture.offset)?;
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
    for from in &why.linked_from {
        writeln!(out, "  linked from {from}")?;
    }
    Ok(())
}
