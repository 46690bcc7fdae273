//! `crivello why`: everything the collection knows about one URL.
//!
//! What lives here: the questions, and which answer is the verdict. `why/captures.rs` is what was visited, `why/bar.rs`
//! what keeps every crawl from asking for a URL, `why/found.rs` where the URL was found, `why/robots.rs` what robots.txt says of it, `why/limit.rs` which
//! limit dropped it, `why/last.rs` what keeps one waiting that nothing refuses now, `why/cut.rs` what of it was not
//! read, `why/sitemap.rs` who calls a page a sitemap, `why/print.rs` how all that is told. What does not: the rules of a crawl and how records are read (`crawl`).
//!
//! **Invariant.** The verdict is the first thing that holds, in the order in which a crawl decides:
//! fetched, imported, never seen, refused, given up, its host another agent's, forbidden, not to be followed, dropped by a
//! limit; and only of what nothing of that bars: its host set aside or not reached, failed, waiting. A URL is its scheme, too: http and https are two. A URL
//! that a crawl spells otherwise is answered for as the crawl spells it.

mod bar;
mod captures;
mod cut;
mod found;
mod last;
mod limit;
mod print;
mod robots;
mod sitemap;

use anyhow::Result;
use archive::Archive;
use collection::{Collection, Folding, PageTable, Writer};
use crawl::{
    AsideHost, Clock as _, Mention, Normalisation, Purpose, Report, Rules, Standing, SystemClock,
    Told,
};
use index::{Index, IndexError};
use page::Url;
use serde::Serialize;

use super::crawl::aside_fate;
use super::question::{URL_BYTES_MAX, read_url};
use crate::config::Config;
use crate::context::{Context, Exit};
use crate::talk;

pub(crate) use bar::KnownBars;
use bar::{Bar, Bars};
use captures::{Capture, Next};
use found::Found;
use limit::Limits;

#[derive(clap::Args)]
#[command(after_help = "Example:\n  crivello why https://example.org/private/ --dir my-web")]
pub(crate) struct Args {
    /// The URL
    url: String,
}

/// The answer.
#[derive(Default, Serialize)]
struct Why {
    /// As it was asked for.
    url: String,
    /// In one sentence.
    verdict: String,
    /// Whether a crawl began with it.
    seed: bool,
    /// Whether another agent found it.
    inbox: bool,
    /// How many redirects led to it then.
    #[serde(skip)]
    inbox_hops: Option<u8>,
    /// Why a crawl would not take it.
    refused: Option<String>,
    /// The URL it is visited under, if another: then that is what everything else is about.
    visited_as: Option<String>,
    /// The rules of `normalise` that make it that.
    normalised_by: Vec<&'static str>,
    /// Who writes to the collection while the question is answered.
    running: Option<Writer>,
    /// What robots.txt of its host says.
    robots: Option<String>,
    /// Whether that is a no.
    forbidden: bool,
    /// Why it cannot be had, or that it is lost, which forbids everything until it is there.
    unheard: Option<String>,
    /// What cannot be told, since its robots.txt cannot be read.
    unread: Option<String>,
    /// Why its host was set aside when the last crawl ended.
    aside: Option<AsideHost>,
    /// Why it was not left to another agent, whose host it is: every way to it is too long.
    #[serde(skip)]
    far: Option<String>,
    /// The agent that crawls its host, if another.
    agent: Option<u16>,
    /// Every visit, oldest first.
    captures: Vec<Capture>,
    /// Its visits that went with archive files, oldest first.
    gone: Vec<Gone>,
    /// Why no crawl asks for it, if none does; looked for where no answer stands.
    #[serde(skip)]
    bar: Option<Bar>,
    /// Who asks for it again, if the last was in vain or is missing, or a recrawl is not over.
    #[serde(skip)]
    next: Option<Next>,
    /// Before which moment its host does not want to be asked, in seconds since 1970, if that is to come.
    not_before_s: Option<i64>,
    /// Where a page that stands is to whoever searches.
    #[serde(skip)]
    place: String,
    /// What keeps the newest page out of the index.
    #[serde(skip)]
    kept_out: Option<&'static str>,
    /// Which limits cut the newest page.
    cuts: Vec<String>,
    /// What the newest capture is.
    standing: Option<String>,
    /// Which page represents it, if another does.
    folded_behind: Option<String>,
    /// How similar the texts of the two are, dates left out, from 0 to 1.
    similarity: Option<f64>,
    /// Which address it names as its canonical one.
    canonical: Option<String>,
    /// Pages that stand behind it.
    copies: Vec<String>,
    /// Who says of a page that it is a sitemap, so that a recrawl asks for it as one: the URL of a robots.txt or an index,
    /// or `seeds`.
    named_as_sitemap_by: Option<String>,
    /// Where it was found, the first of them.
    found_on: Vec<Found>,
}

/// A visit of which only is left that there was one.
#[derive(Serialize)]
struct Gone {
    date_s: i64,
    status: Option<u16>,
    /// The archive file that had it.
    file: String,
    #[serde(skip)]
    date_us: u32,
    /// Whether it told what the URL is.
    #[serde(skip)]
    is_answer: bool,
    /// Whether that is there, and has become shorter.
    shortened: bool,
    #[serde(skip)]
    fate: &'static str,
}

/// Who says so if it was given as one.
const SEEDS: &str = "seeds";

impl Why {
    /// Whether anything names it.
    fn is_named(&self) -> bool {
        self.seed || self.inbox || !self.found_on.is_empty()
    }

    /// Whether neither a visit nor a mention is known.
    fn is_unseen(&self) -> bool {
        !self.is_named() && self.captures.is_empty() && self.gone.is_empty()
    }

    /// The answer that went with a file, if no other stands: or else what else did, if nothing is left.
    fn lost(&self) -> Option<&Gone> {
        let answer = self.gone.iter().rfind(|gone| gone.is_answer);
        let lost = answer.or_else(|| self.gone.last().filter(|_| self.captures.is_empty()));
        lost.filter(|_| !captures::has_standing(&self.captures))
    }

    /// Where a page that stands is to whoever searches.
    fn place_in_index(&self, has_index: bool) -> String {
        let is_page = self.standing.as_ref().is_some_and(|standing| standing.starts_with("a page"));
        match (self.kept_out, &self.folded_behind) {
            (Some(why), _) => format!("but not in the index, since {why}"),
            (None, _) if !has_index => "and there is no index yet".to_owned(),
            (None, _) if !is_page => "but not in the index yet".to_owned(),
            (None, Some(head)) => format!("and {head} stands for it in the index"),
            (None, None) => "also in the index".to_owned(),
        }
    }

    /// Whether a crawl runs while the question is answered.
    fn is_crawling(&self) -> bool {
        self.running
            .as_ref()
            .is_some_and(|writer| matches!(writer.command.as_str(), "crawl" | "up"))
    }

    /// Whether it was asked for, or is named, as a sitemap.
    fn is_sitemap(&self) -> bool {
        self.captures.iter().any(|capture| capture.purpose == Some(Purpose::Sitemap))
            || self.found_on.iter().any(|found| found.how.is_of_sitemap())
    }

    /// Why these rules refuse `url`, for what it was asked for; `None` if they do not.
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
    config.crawl.follow &= !Standing::read(&collection.frontier_dir())?.list;
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
        why.far = far.or_else(|| last::too_far(&why, &config));
    }
    let (collection, archive) = (&collection, &archive);
    let bars = Bars { why: &why, url: &url, collection, archive, report: &report, config: &config };
    let (bar, next) = (barring(&bars)?, next(&bars)?);
    (why.bar, why.next) = (bar, next);
    let unknown = why.is_unseen() && why.standing.is_none();
    why.verdict = match verdict(&why, &config) {
        Some(verdict) => verdict,
        None => last::verdict(&why, &url, collection, archive, &report, &config)?,
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

/// The URL under which a crawl visits `asked`: what `normalise` makes of it, unless it is visited as it is spelt,
/// as sitemaps are, and what a redirect insists on.
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
    let insists = |how: Mention| how.is_of_sitemap() || how == Mention::Redirect;
    let found = found::found_on(asked, collection, config)?;
    let is_kept = found.iter().any(|found| insists(found.how));
    Ok(if is_kept { asked.clone() } else { visited })
}

/// The visits, and robots.txt.
fn ask_archive(
    why: &mut Why,
    url: &Url,
    collection: &Collection,
    archive: &Archive,
    config: &Config,
) -> Result<()> {
    let frontier = &collection.frontier_dir();
    why.captures = captures::read(archive, frontier, url, config.crawl.agent_name())?;
    let gone = crawl::gone_captures(frontier, archive, url.as_str())?;
    why.gone = gone
        .into_iter()
        .map(|line| {
            let (is_answer, file) = (crawl::is_answer(&line), line.location.file);
            let (date_s, date_us, status) = (line.date_s, line.date_us, line.status);
            let (shortened, fate) =
                (archive.files().contains(&file), crawl::fate_of_file(archive, &file));
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

/// What a crawl of this configuration would say to it.
fn ask_rules(why: &mut Why, url: &Url, collection: &Collection, config: &Config) -> Result<()> {
    // Without them nobody knows what a crawl would say.
    crawl::check_seeds(&collection.frontier_dir())?;
    let seeds = crawl::read_seeds(&collection.frontier_dir())?;
    why.seed = seeds.contains(url);
    why.inbox_hops = crawl::inbox_hops(&collection.frontier_dir(), url.as_str(), &config.crawl)?;
    why.inbox = why.inbox_hops.is_some();
    if !url.has_host() {
        return Ok(());
    }
    why.refused = why.refusal(url, &Rules::new(&config.crawl, &seeds)?);
    why.agent = bar::other_agent(url, &config.crawl);
    Ok(())
}

/// Who says of a page that it is a sitemap.
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

/// Why no crawl asks for it, where no answer stands.
fn barring(bars: &Bars<'_>) -> Result<Option<Bar>> {
    let why = bars.why;
    if captures::has_standing(&why.captures) || why.is_unseen() {
        return Ok(None);
    }
    bars.found()
}

/// Who asks for it again: what was visited in vain, what the archive has lost, and what a recrawl that is not over is yet
/// to ask for.
fn next(bars: &Bars<'_>) -> Result<Option<Next>> {
    let Bars { why, url, collection, archive, config, .. } = *bars;
    let nobody = |bar: Bar| Next::Nobody(bar.reason());
    let retries = config.crawl.retries;
    let gap = captures::gap(&why.captures);
    let is_asked = || {
        let frontier = collection.frontier_dir();
        crawl::recrawl_asks(archive, &frontier, &config.crawl, url.as_str())
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
    // A recrawl needs nothing that leads to it.
    let is_open = is_asked()? && bars.known(true)?.is_none();
    Ok(Some(match bar {
        _ if is_open => Next::Open,
        Bar::Unfollowed(_) if why.lost().is_some() && why.found_on.is_empty() => Next::IfFound,
        bar => nobody(bar),
    }))
}

fn is_robots(url: &Url) -> bool {
    url.path() == "/robots.txt" && url.query().is_none()
}

/// What the last crawl said of its host when it ended.
fn ask_report(why: &mut Why, url: &Url, report: &Report) {
    let host = url.origin().ascii_serialization();
    // A crawl that runs tries the others again.
    let still_holds = |aside: &AsideHost| aside.refused || aside.until_s.is_some();
    let mut asides = report.aside.iter().filter(|aside| aside.host == host);
    why.aside = asides.find(|aside| !why.is_crawling() || still_holds(aside)).cloned();
}

/// Until when its host wants to be left alone, which every crawl does.
fn ask_host(why: &mut Why, url: &Url, collection: &Collection, archive: &Archive) -> Result<()> {
    let by_host = Told::host_not_before_s(archive, &collection.frontier_dir(), url.as_str())?;
    // A crawl that runs may have asked for others since, and keeps the page waiting all the same.
    let by_page = captures::not_before_s(&why.captures).filter(|_| why.is_crawling());
    let now_s = SystemClock::new().unix_s();
    why.not_before_s = by_host.max(by_page).filter(|&until_s| until_s > now_s);
    Ok(())
}

/// Whether there is an index; one that is damaged is one.
fn has_index(collection: &Collection) -> bool {
    let index = Index::open(&collection.index_dir());
    !matches!(index, Err(IndexError::NotAnIndex { .. } | IndexError::Version { .. }))
}

/// The page table and the duplicates.
fn ask_pages(why: &mut Why, url: &Url, collection: &Collection) -> Result<()> {
    let Some(table) = PageTable::open_current(&collection.pages_dir())? else { return Ok(()) };
    let directory = table.directory();
    let entries = directory.entries();
    if let Some(place) = directory.find(url.as_str()) {
        let noindex = if entries[place].noindex { ", which asks not to be found" } else { "" };
        why.standing = Some(format!("a page{noindex}"));
        if let Some(folding) = Folding::open(collection, directory)? {
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

/// What became of it, in a sentence; `None` if all that is left is the queue.
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
        return Some("never seen: not fetched, and nothing that was fetched names it".to_owned());
    }
    if let Some(refused @ Bar::Refused(_)) = &why.bar {
        return Some(refused.verdict());
    }
    let failed = captures::failed(&why.captures, retries);
    if let Some(failed) = failed.as_ref().filter(|failed| failed.is_final) {
        let failures = talk::count(failed.tries, "failure");
        let next = why.next.as_ref().map(|next| format!("; {}", next.told(why.not_before_s)));
        let next = next.unwrap_or_default();
        return Some(format!("given up after {failures}, at last {}{next}", failed.last));
    }
    // What was tried is told with what bars it now; what bars its whole host comes before.
    let is_tried = failed.is_some();
    let is_told = |bar: &&Bar| !is_tried || matches!(bar, Bar::Agent(_) | Bar::Forbidden(_));
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
            let who =
                if why.is_crawling() { "the crawl that is running" } else { "the next crawl" };
            let until = captures::not_before(why.not_before_s);
            return Some(format!("waiting: {unheard}; {who} tries it again{until}"));
        }
    }
    let failed = failed?;
    let (times, next) = (talk::count(failed.tries, "time"), why.next.clone().unwrap_or_default());
    Some(format!("failed {times}, at last {}; {}", failed.last, next.told(why.not_before_s)))
}

/// What is said of one that only files had which are gone or shorter, also if it was asked for in vain since; `None` if that
/// is not so.
fn lost(why: &Why, retries: u8) -> Option<String> {
    let Gone { date_s, date_us, file, fate, .. } = why.lost()?;
    let date = archive::date_text(*date_s);
    let what = format!("lost: it was visited at {date}, and {file}, which had the answer, {fate}");
    let turn = why.next.as_ref().map(|next| (next, why.not_before_s));
    let vain = captures::since(&why.captures, (*date_s, *date_us), retries, turn);
    let next = match &why.bar {
        _ if why.next == Some(Next::Robots) => Next::Robots.asked(why.not_before_s),
        _ if vain.is_some() => vain.map(|vain| format!("asked again, {vain}"))?,
        None => Next::Crawl.asked(why.not_before_s),
        // What led there may be lost as well, and be found once more.
        Some(Bar::Unfollowed(_)) if why.found_on.is_empty() => Next::IfFound.asked(None),
        Some(bar) => Next::Nobody(bar.reason()).asked(None),
    };
    Some(format!("{what}; {next}"))
}
