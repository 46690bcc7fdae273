//! `crivello why`: everything the collection knows about one URL.
//!
//! What lives here: the facts about the URL, and the choice of the verdict. What does not: the rules of a crawl and the
//! format of records (`crawl`).
//!
//! | module | subject |
//! |---|---|
//! | `captures.rs` | visits |
//! | `blockers.rs` | reasons why no crawl fetches a URL |
//! | `found.rs` | pages and sitemaps that name it |
//! | `robots.rs` | robots.txt |
//! | `limit.rs` | limits that dropped it |
//! | `waiting.rs` | settings of the last crawl |
//! | `truncation.rs` | parts of a page that are not read |
//! | `sitemap.rs` | names as a sitemap |
//! | `print.rs` | text output |
//!
//! **Invariant.** The verdict is the first that applies, in the order in which a crawl decides: fetched, imported, never
//! seen, refused, given up, left to another agent, forbidden, not followed, dropped. If none of these applies: host set
//! aside or unreachable, failed, waiting. `http` and `https` are two URLs. `normalise` applies first.

mod blockers;
mod captures;
mod found;
mod limit;
mod print;
mod robots;
mod sitemap;
mod truncation;
mod waiting;

use anyhow::Result;
use archive::Archive;
use collection::{Clusters, Collection, PageTable, Writer};
use crawl::{
    AsideHost, Clock as _, CrawlStatus, Normalisation, Purpose, Reference, Report, Rules,
    SystemClock, VisitRecord,
};
use index::{Index, IndexError};
use page::Url;
use serde::Serialize;

use super::crawl::aside_fate;
use super::url_arg::{URL_BYTES_MAX, read_url};
use crate::config::Config;
use crate::console;
use crate::context::{Context, Exit};

pub(crate) use blockers::KnownBlockers;
use blockers::{Blocker, Blockers};
use captures::{Capture, Next};
use found::Found;
use limit::Limits;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello why https://example.org/private/ --dir my-web")]
pub(crate) struct Args {
    /// The URL to explain
    url: String,
}

/// The answer.
#[derive(Default, Serialize)]
struct Why {
    /// The URL as the user wrote it.
    url: String,
    /// The result in one sentence.
    verdict: String,
    /// Whether it is a seed.
    seed: bool,
    /// Whether another agent found it.
    inbox: bool,
    /// Redirects between a link and the URL that the other agent found.
    #[serde(skip)]
    inbox_hops: Option<u8>,
    /// Why the rules of the crawl refuse it.
    refused: Option<String>,
    /// The normalised URL, if it differs. Then all other fields are about that URL.
    visited_as: Option<String>,
    /// The rules of `normalise` that changed the URL.
    normalised_by: Vec<&'static str>,
    /// The command that is writing to the collection.
    running: Option<Writer>,
    /// The rule of robots.txt for it.
    robots: Option<String>,
    /// Whether robots.txt forbids it.
    forbidden: bool,
    /// Why robots.txt is missing or lost. Until it is fetched, nothing else of the host is.
    unheard: Option<String>,
    /// Set if the record of robots.txt cannot be read.
    unread: Option<String>,
    /// Set if its host was set aside when the last crawl ended.
    aside: Option<AsideHost>,
    /// Why it was dropped and not left to the other agent: every way to it is too long.
    #[serde(skip)]
    far: Option<String>,
    /// The agent that crawls its host, if not this one.
    agent: Option<u16>,
    /// Every visit, oldest first.
    captures: Vec<Capture>,
    /// Visits whose archive file is missing or truncated, oldest first.
    gone: Vec<Gone>,
    /// Why no crawl fetches it. Computed only if there is no valid answer.
    #[serde(skip)]
    bar: Option<Blocker>,
    /// Which crawl fetches it again: after a failure or a loss, or in an unfinished recrawl.
    #[serde(skip)]
    next: Option<Next>,
    /// End of the wait that its host requested (Retry-After), in seconds since 1970, if in the future.
    not_before_s: Option<i64>,
    /// Whether search finds the page, in words.
    #[serde(skip)]
    place: String,
    /// Why the newest page is not indexed.
    #[serde(skip)]
    kept_out: Option<&'static str>,
    /// Which limits cut the newest page.
    cuts: Vec<String>,
    /// The kind of the newest capture: a page, a redirect or neither.
    standing: Option<String>,
    /// The page of which it is a duplicate.
    folded_behind: Option<String>,
    /// Similarity of the two texts without dates, from 0 to 1.
    similarity: Option<f64>,
    /// Its canonical URL, as the page names it.
    canonical: Option<String>,
    /// Pages that are duplicates of it.
    copies: Vec<String>,
    /// The source that names this page as a sitemap: the URL of a robots.txt or sitemap index, or `seeds`. A recrawl
    /// fetches it as a sitemap.
    named_as_sitemap_by: Option<String>,
    /// Places where it was found, at most [`found::FOUND_MAX`].
    found_on: Vec<Found>,
}

/// A visit whose record is lost.
#[derive(Serialize)]
struct Gone {
    date_s: i64,
    status: Option<u16>,
    /// The archive file of the record.
    file: String,
    #[serde(skip)]
    date_us: u32,
    /// Whether it was a conclusive answer.
    #[serde(skip)]
    is_answer: bool,
    /// Whether the file is truncated; otherwise it is missing.
    shortened: bool,
    #[serde(skip)]
    fate: &'static str,
}

/// The source of a sitemap that the user gave.
const SEEDS: &str = "seeds";

impl Why {
    /// Returns whether a seed, an inbox or a page names it.
    fn is_named(&self) -> bool {
        self.seed || self.inbox || !self.found_on.is_empty()
    }

    /// Returns whether no visit and no mention is known.
    fn is_unseen(&self) -> bool {
        !self.is_named() && self.captures.is_empty() && self.gone.is_empty()
    }

    /// Returns the last lost answer, if no valid answer is left. If no capture is left either, any lost visit counts.
    fn lost(&self) -> Option<&Gone> {
        let answer = self.gone.iter().rfind(|gone| gone.is_answer);
        let lost = answer.or_else(|| self.gone.last().filter(|_| self.captures.is_empty()));
        lost.filter(|_| !captures::has_standing(&self.captures))
    }

    /// Says whether search finds the page.
    fn place_in_index(&self, has_index: bool) -> String {
        let is_page = self.standing.as_ref().is_some_and(|standing| standing.starts_with("a page"));
        match (self.kept_out, &self.folded_behind) {
            (Some(why), _) => format!("not in the index: {why}"),
            (None, _) if !has_index => "there is no index yet".to_owned(),
            (None, _) if !is_page => "not in the index yet".to_owned(),
            (None, Some(head)) => format!("{head} represents it in the index"),
            (None, None) => "in the index".to_owned(),
        }
    }

    /// Returns whether a crawl is running.
    fn is_crawling(&self) -> bool {
        self.running
            .as_ref()
            .is_some_and(|writer| matches!(writer.command.as_str(), "crawl" | "up"))
    }

    /// Returns whether it was fetched, or is named, as a sitemap.
    fn is_sitemap(&self) -> bool {
        self.captures.iter().any(|capture| capture.purpose == Some(Purpose::Sitemap))
            || self.found_on.iter().any(|found| found.how.is_of_sitemap())
    }

    /// Returns why `rules` refuse `url` as a page or sitemap; `None` if they allow it.
    fn refusal(&self, url: &Url, rules: &Rules) -> Option<String> {
        let verdict = if self.is_sitemap() {
            rules.check_sitemap(url)
        } else {
            rules.check(url).and_then(|()| rules.check_links_to(url))
        };
        verdict.err().map(|refusal| refusal.to_string())
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let mut config = context.config(&collection)?;
    config.crawl.follow &= !CrawlStatus::read(&collection.frontier_dir())?.list;
    let asked = read_url(&args.url)?;
    let archive = Archive::open(&collection.archive_dir())?;
    let report = crawl::known_report(&collection.frontier_dir())?;
    let url = visited(&asked, &archive, &collection, &config)?;
    let mut why = Why { url: asked.to_string(), running: collection.writer(), ..Why::default() };
    if url != asked {
        let rules = Normalisation::changing(&config.crawl.normalise, &asked);
        why.normalised_by = rules.into_iter().map(Normalisation::name).collect();
        why.visited_as = Some(url.to_string());
    }
    ask_archive(&mut why, &url, &collection, &archive, &config)?;
    ask_pages(&mut why, &url, &collection)?;
    why.place = why.place_in_index(has_index(&collection));
    why.found_on = found::found_on(&url, &collection, &config)?;
    ask_rules(&mut why, &url, &collection, &config)?;
    ask_sitemaps(&mut why, &url, &collection, &archive, &config)?;
    ask_report(&mut why, &url, &report);
    ask_host(&mut why, &url, &collection, &archive)?;
    if why.agent.is_some() {
        let frontier = &collection.frontier_dir();
        let limits = Limits { archive: &archive, frontier, report: &report, config: &config.crawl };
        let far = limits.too_far(&url, &why.found_on)?;
        why.far = far.or_else(|| waiting::too_far(&why, &config));
    }
    let (collection, archive) = (&collection, &archive);
    let bars =
        Blockers { why: &why, url: &url, collection, archive, report: &report, config: &config };
    let (bar, next) = (barring(&bars)?, next(&bars)?);
    (why.bar, why.next) = (bar, next);
    let unknown = why.is_unseen() && why.standing.is_none();
    why.verdict = match verdict(&why, &config) {
        Some(verdict) => verdict,
        None => waiting::verdict(&why, &url, collection, archive, &report, &config)?,
    };
    if let Some(visited) = &why.visited_as {
        let rules = why.normalised_by.join(", ");
        why.verdict = format!("visited as {visited} (`normalise`: {rules}): {}", why.verdict);
    }
    if context.json {
        context.print_json(&why)?;
    } else {
        print::print(&why)?;
    }
    Ok(if unknown { Exit::NothingFound } else { Exit::Done })
}

/// Returns the URL that a crawl visits for `asked`: the normalised one. Sitemaps, targets of redirects and URLs with
/// captures keep their spelling.
fn visited(
    asked: &Url,
    archive: &Archive,
    collection: &Collection,
    config: &Config,
) -> Result<Url> {
    let visited = Normalisation::apply(&config.crawl.normalise, asked.clone());
    if visited == *asked || !asked.has_host() || !captures::lines(archive, asked)?.is_empty() {
        return Ok(asked.clone());
    }
    let insists = |how: Reference| how.is_of_sitemap() || how == Reference::Redirect;
    let found = found::found_on(asked, collection, config)?;
    let is_kept = found.iter().any(|found| insists(found.how));
    Ok(if is_kept { asked.clone() } else { visited })
}

/// Adds the visits and robots.txt.
fn ask_archive(
    why: &mut Why,
    url: &Url,
    collection: &Collection,
    archive: &Archive,
    config: &Config,
) -> Result<()> {
    let frontier = &collection.frontier_dir();
    why.captures = captures::read(archive, frontier, url, config.crawl.agent_name())?;
    let gone = crawl::missing_captures(frontier, archive, url.as_str())?;
    why.gone = gone
        .into_iter()
        .map(|line| {
            let (is_answer, file) = (crawl::is_answer(&line), line.location.file);
            let (date_s, date_us, status) = (line.date_s, line.date_us, line.status);
            let (shortened, fate) =
                (archive.files().contains(&file), crawl::describe_loss(archive, &file));
            Gone { date_s, status, file, date_us, is_answer, shortened, fate }
        })
        .collect();
    why.cuts = captures::cuts(archive, url, &config.crawl)?;
    (why.canonical, why.kept_out) = captures::newest(archive, url, &config.crawl)?;
    let lost = crawl::LostRobots::read(frontier, archive)?;
    let saying = robots::saying(archive, frontier, &lost, url, &config.crawl.user_agent)?;
    if let Some(saying) = saying {
        why.forbidden = !saying.allowed;
        let said = if saying.is_had { &mut why.robots } else { &mut why.unheard };
        *said = Some(saying.why);
    } else if !is_robots(url) {
        why.unread = robots::unread(archive, frontier, url)?;
    }
    Ok(())
}

/// Adds the seeds, the inbox and the rules of the present configuration.
fn ask_rules(why: &mut Why, url: &Url, collection: &Collection, config: &Config) -> Result<()> {
    // The rules depend on the seeds.
    crawl::check_seeds(&collection.frontier_dir())?;
    let seeds = crawl::read_seeds(&collection.frontier_dir())?;
    why.seed = seeds.contains(url);
    why.inbox_hops = crawl::inbox_hops(&collection.frontier_dir(), url.as_str(), &config.crawl)?;
    why.inbox = why.inbox_hops.is_some();
    if !url.has_host() {
        return Ok(());
    }
    why.refused = why.refusal(url, &Rules::new(&config.crawl, &seeds)?);
    why.agent = blockers::other_agent(url, &config.crawl);
    Ok(())
}

/// Adds the source that names a page as a sitemap.
fn ask_sitemaps(
    why: &mut Why,
    url: &Url,
    collection: &Collection,
    archive: &Archive,
    config: &Config,
) -> Result<()> {
    if !sitemap::is_page(&why.captures) {
        return Ok(());
    }
    let is_given = crawl::read_sitemap_seeds(&collection.frontier_dir())?.contains(url);
    why.named_as_sitemap_by = if is_given {
        Some(SEEDS.to_owned())
    } else {
        sitemap::named_by(url, &why.found_on, archive, &config.crawl)?
    };
    Ok(())
}

/// Returns why no crawl fetches it, if there is no valid answer.
fn barring(bars: &Blockers<'_>) -> Result<Option<Blocker>> {
    let why = bars.why;
    if captures::has_standing(&why.captures) || why.is_unseen() {
        return Ok(None);
    }
    bars.found()
}

/// Returns which crawl fetches it again: after a failed visit, if the archive lost it, or in an unfinished recrawl.
fn next(bars: &Blockers<'_>) -> Result<Option<Next>> {
    let Blockers { why, url, collection, archive, config, .. } = *bars;
    let nobody = |bar: Blocker| Next::Nobody(bar.reason());
    let retries = config.crawl.retries;
    let gap = captures::gap(&why.captures);
    let is_asked = || {
        let frontier = collection.frontier_dir();
        crawl::is_recrawl_pending(archive, &frontier, &config.crawl, url.as_str())
    };
    if is_robots(url) && (gap.is_some() || why.lost().is_some()) {
        return Ok(Some(Next::Robots));
    }
    let is_torn = || captures::is_torn(archive, &why.captures);
    let Some(is_given_up) = captures::is_given_up(&why.captures, retries) else {
        return Ok(match gap {
            Some(captures::Gap::Damaged) if is_torn()? => {
                Some(bars.known(true)?.map_or(Next::Crawl, nobody))
            }
            Some(captures::Gap::Lost) => Some(bars.known(true)?.map_or(Next::Crawl, nobody)),
            Some(captures::Gap::Damaged) => {
                let is_begun = is_asked()?;
                let next = if is_begun { Next::Open } else { Next::Recrawl };
                Some(bars.known(is_begun)?.map_or(next, nobody))
            }
            None => {
                let is_due = captures::has_standing(&why.captures)
                    && is_asked()?
                    && bars.known(true)?.is_none();
                is_due.then_some(Next::Due)
            }
        });
    };
    let is_lost = gap == Some(captures::Gap::Lost);
    let is_standing = captures::has_standing(&why.captures);
    if (is_standing || is_given_up) && !is_lost && !is_asked()? {
        return Ok(Some(bars.known(false)?.map_or(Next::Recrawl, nobody)));
    }
    let is_anew = is_given_up && !is_lost;
    let next = if is_anew { Next::Open } else { Next::Crawl };
    if is_standing || is_anew || is_lost {
        return Ok(Some(bars.known(true)?.map_or(next, nobody)));
    }
    let Some(bar) = bars.found()? else { return Ok(Some(next)) };
    // A recrawl needs no link to it.
    let is_open = is_asked()? && bars.known(true)?.is_none();
    Ok(Some(match bar {
        _ if is_open => Next::Open,
        Blocker::Unfollowed(_) if why.lost().is_some() && why.found_on.is_empty() => Next::IfFound,
        bar => nobody(bar),
    }))
}

fn is_robots(url: &Url) -> bool {
    url.path() == "/robots.txt" && url.query().is_none()
}

/// Adds the state of its host at the end of the last crawl.
fn ask_report(why: &mut Why, url: &Url, report: &Report) {
    let host = url.origin().ascii_serialization();
    // A running crawl retries the other hosts.
    let still_holds = |aside: &AsideHost| aside.refused || aside.until_s.is_some();
    let mut asides = report.aside.iter().filter(|aside| aside.host == host);
    why.aside = asides.find(|aside| !why.is_crawling() || still_holds(aside)).cloned();
}

/// Adds the end of the wait that its host requested.
fn ask_host(why: &mut Why, url: &Url, collection: &Collection, archive: &Archive) -> Result<()> {
    let by_host =
        VisitRecord::host_not_before_s(archive, &collection.frontier_dir(), url.as_str())?;
    // A running crawl may have fetched other pages of the host since; this page still waits.
    let by_page = captures::not_before_s(&why.captures).filter(|_| why.is_crawling());
    let now_s = SystemClock::new().unix_s();
    why.not_before_s = by_host.max(by_page).filter(|&until_s| until_s > now_s);
    Ok(())
}

/// Returns whether there is an index, damaged or not.
fn has_index(collection: &Collection) -> bool {
    let index = Index::open(&collection.index_dir());
    !matches!(index, Err(IndexError::NotAnIndex { .. } | IndexError::Version { .. }))
}

/// Adds the page table's row and the duplicates.
fn ask_pages(why: &mut Why, url: &Url, collection: &Collection) -> Result<()> {
    let Some(table) = PageTable::open_current(&collection.pages_dir())? else { return Ok(()) };
    let directory = table.directory();
    let entries = directory.entries();
    if let Some(place) = directory.find(url.as_str()) {
        let noindex = if entries[place].noindex { " with noindex" } else { "" };
        why.standing = Some(format!("a page{noindex}"));
        if let Some(folding) = Clusters::open(collection, directory)? {
            let head = folding.representative(place).filter(|&head| head != place);
            why.folded_behind = head.map(|head| entries[head].url.clone());
            why.similarity = match head {
                Some(head) => jobs::similarity(&table, place, head)?,
                None => None,
            };
            why.copies = folding.behind(place).map(|copy| entries[copy].url.clone()).collect();
        }
    } else if let Some(target) = directory.redirect(url.as_str()) {
        why.standing = Some(format!("a redirect to {target}"));
    } else if let Some(what) = directory.other(url.as_str()) {
        why.standing = Some(format!("no page: {what}"));
    }
    Ok(())
}

/// Returns the verdict; `None` if the URL may be in the queue, which `last` decides.
fn verdict(why: &Why, config: &Config) -> Option<String> {
    let retries = config.crawl.retries;
    let next = why.next.as_ref();
    let turn = next.map(|next| (next, why.not_before_s));
    if let Some(lost) = lost(why, retries) {
        return Some(lost);
    }
    if let Some(verdict) = captures::answered(&why.captures, retries, turn, &why.place) {
        let due = next.filter(|next| **next == Next::Due).map(|next| next.told(why.not_before_s));
        return Some(due.map_or(verdict.clone(), |due| format!("{verdict}; {due}")));
    }
    if why.is_unseen() {
        return Some("never seen: not fetched, and no fetched page or sitemap names it".to_owned());
    }
    if let Some(refused @ Blocker::Refused(_)) = &why.bar {
        return Some(refused.verdict());
    }
    let failed = captures::failed(&why.captures, retries);
    if let Some(failed) = failed.as_ref().filter(|failed| failed.is_final) {
        let failures = console::count(failed.tries, "failure");
        let next = why.next.as_ref().map(|next| format!("; {}", next.told(why.not_before_s)));
        let next = next.unwrap_or_default();
        return Some(format!("given up after {failures}, the last: {}{next}", failed.last));
    }
    // A failed visit is the verdict, unless its whole host is barred. Other bars are in `next`.
    let is_tried = failed.is_some();
    let is_told =
        |bar: &&Blocker| !is_tried || matches!(bar, Blocker::Agent(_) | Blocker::Forbidden(_));
    if let Some(bar) = why.bar.as_ref().filter(is_told) {
        return Some(bar.verdict());
    }
    if why.bar.is_none() {
        if let Some(aside) = &why.aside {
            let (why, fate) = (&aside.why, aside_fate(aside));
            return Some(format!("waiting, because its host is set aside: {why}; {fate}"));
        }
        if let Some(unread) = &why.unread {
            return Some(format!("waiting: {unread}"));
        }
        if let Some(unheard) = &why.unheard {
            let who = if why.is_crawling() { "the running crawl" } else { "the next crawl" };
            let until = captures::not_before(why.not_before_s);
            return Some(format!("waiting: {unheard}; {who} retries it{until}"));
        }
    }
    let failed = failed?;
    let (times, next) =
        (console::count(failed.tries, "time"), why.next.clone().unwrap_or_default());
    Some(format!("failed {times}, the last: {}; {}", failed.last, next.told(why.not_before_s)))
}

/// Returns the verdict about a URL whose answer is lost, with later failed visits; `None` if it is not lost.
fn lost(why: &Why, retries: u8) -> Option<String> {
    let Gone { date_s, date_us, file, fate, .. } = why.lost()?;
    let date = archive::date_text(*date_s);
    let what = format!("lost: it was visited at {date}; the answer was in {file}, which {fate}");
    let turn = why.next.as_ref().map(|next| (next, why.not_before_s));
    let vain = captures::since(&why.captures, (*date_s, *date_us), retries, turn);
    let next = match &why.bar {
        _ if why.next == Some(Next::Robots) => Next::Robots.asked(why.not_before_s),
        _ if vain.is_some() => vain.map(|vain| format!("after that, {vain}"))?,
        None => Next::Crawl.asked(why.not_before_s),
        // The links to it may be lost as well, and a crawl may find them again.
        Some(Blocker::Unfollowed(_)) if why.found_on.is_empty() => Next::IfFound.asked(None),
        Some(bar) => Next::Nobody(bar.reason()).asked(None),
    };
    Some(format!("{what}; {next}"))
}
