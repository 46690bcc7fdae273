//! `crivello crawl`: fetches politely into the archive, and goes on where it was.
//!
//! What lives here: flags and seeds, and the view of a crawl that runs. What does not: what is said when it is over
//! (`crawl/summary.rs`).
//!
//! **Invariant.** A flag counts for one command and is never written to the configuration; seeds and `--list`
//! are kept.

pub(crate) mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ::crawl::{
    AsideHost, Board, Config, Dirs, Recrawl, Report, Snapshot, Standing, SystemClock, is_unbegun,
    read_seeds,
};
use anyhow::{Context as _, Result};
use archive::Archive;
use clap::ValueEnum as _;
use collection::Collection;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::sample::Sample;
use super::signals::{Stop, runtime};
use crate::context::{Context, Exit, Usage};
use crate::talk::{self, Line};

use summary::Summary;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello crawl https://example.org --dir my-web
  crivello crawl --dir my-web                      goes on after Ctrl-C, a crash or a full disk
  crivello crawl --list URL URL --dir my-web       these pages and no other, whatever else waits
  crivello crawl --seeds urls.txt --dir my-web     one address a line; - for standard input
  crivello crawl --sitemap https://example.org/sitemap.xml --list --dir my-web
  crivello crawl --recrawl --dir my-web            asks again for what it has: what is new, changed, gone?
  crivello crawl --recrawl --list URL --dir my-web asks again for this page and for no other
  crivello crawl --metrics 127.0.0.1:9700 --dir my-web
  touch my-web/frontier/pause                      holds a running crawl until the file is removed")]
pub(crate) struct Args {
    /// Addresses to begin with; none to go on with those of earlier runs
    seeds: Vec<String>,
    /// More addresses, one a line; `-` for standard input
    #[arg(long = "seeds", value_name = "FILE")]
    seed_files: Vec<String>,
    /// A sitemap whose pages are to be visited
    #[arg(long, value_name = "URL")]
    sitemap: Vec<String>,
    /// Stop when the collection has that many pages; 0: never [default: `crawl.pages_max`]
    #[arg(long, value_name = "N")]
    max_pages: Option<u64>,
    /// Stop when the collection has received that many bytes; 0: never [default: `crawl.bytes_max`]
    #[arg(long, value_name = "N")]
    max_bytes: Option<u64>,
    /// Stop after that time; 0: never [default: `crawl.time_s_max`]
    #[arg(long, value_name = "SECONDS")]
    max_time: Option<u64>,
    /// Take only pages at most that many links from the first of their site; 0: all [default: `crawl.depth_max`]
    #[arg(long, value_name = "N")]
    max_depth: Option<u16>,
    /// Ask for the given addresses and for nothing else, or without any for those of earlier runs; what waits goes
    /// on waiting. A crawl that is begun so follows no link in later runs, either
    #[arg(long)]
    list: bool,
    /// Follow links from now on in a crawl that was begun with --list
    #[arg(long, conflicts_with = "list")]
    follow: bool,
    /// Where to tell how the crawl stands, as a page and for Prometheus [default: `crawl.metrics`]
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
    /// Go on with an earlier crawl; an error where there was none
    #[arg(long, conflicts_with_all = ["seeds", "seed_files", "sitemap"])]
    resume: bool,
    /// Ask again for pages that the collection has: all of them, with `=due` those that are due, with `=given` those
    /// that are named; with --list in every case no others than it names
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    recrawl: Option<Which>,
}

/// Which pages are asked for again.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Which {
    All,
    Due,
    Given,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let seeds = seeds(args)?;
    let collection = context.collection()?;
    if args.resume {
        ::crawl::check_seeds(&collection.frontier_dir())?;
    }
    if args.resume && read_seeds(&collection.frontier_dir())?.is_empty() {
        let dir = context.dir_or(".");
        return Err(Usage(format!(
            "there is no crawl in {} to go on with: begin one with `crivello crawl URL`",
            dir.display()
        ))
        .into());
    }
    let config = context.config(&collection)?;
    context.check_files(&collection, &config)?;
    let mut config = config.crawl;
    if let Some(pages_max) = args.max_pages {
        config.pages_max = pages_max;
    }
    config.bytes_max = args.max_bytes.unwrap_or(config.bytes_max);
    config.time_s_max = args.max_time.unwrap_or(config.time_s_max);
    config.depth_max = args.max_depth.unwrap_or(config.depth_max);
    config.follow = !args.list && (args.follow || config.follow);
    config.alone = args.list;
    match args.recrawl {
        Some(Which::Given) if seeds.is_empty() => {
            let why = "--recrawl=given asks again for the addresses that are given with it, and there are none";
            return Err(Usage(why.to_owned()).into());
        }
        Some(Which::Given) => config.recrawl = Recrawl::Given,
        Some(Which::All) => config.recrawl = Recrawl::All,
        Some(Which::Due) => config.recrawl = Recrawl::Due,
        None => {}
    }
    if let Some(address) = args.metrics {
        config.metrics = address.to_string();
    }
    let _lock = collection.lock("crawl")?;
    let runtime = runtime()?;
    let stop = Stop::catch(&runtime)?;
    let sample = Sample::of(&collection, &seeds, &mut config, context)?;
    let frontier = collection.frontier_dir();
    // A list that was killed before it had seeds has begun nothing.
    if args.follow || is_unbegun(&frontier)? {
        Standing::keep_list(&frontier, args.list)?;
    }
    let told = fetch(&collection, &config, &seeds, &runtime, stop.flag(), context);
    if told.is_err() && is_unbegun(&frontier)? {
        Standing::keep_list(&frontier, false)?;
    }
    let told = told?;
    drop(sample);
    if context.json {
        context.print_json(&told)?;
    }
    told.check()?;
    Ok(if told.report.interrupted { Exit::Interrupted } else { Exit::Done })
}

/// The addresses of the command line, of the files it names and of the sitemaps.
fn seeds(args: &Args) -> Result<Vec<String>> {
    let mut seeds = args.seeds.clone();
    if let Some(which) = seeds.iter().find(|seed| Which::from_str(seed, true).is_ok())
        && args.recrawl.is_some()
    {
        let why = format!("{which:?} was taken for an address; write --recrawl={which}, with `=`");
        return Err(Usage(why).into());
    }
    check_arguments(&seeds)?;
    for file in &args.seed_files {
        let text = if file == "-" {
            std::io::read_to_string(std::io::stdin()).context("cannot read standard input")?
        } else {
            fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?
        };
        let count = seeds.len();
        let lines = ::crawl::seed_lines(&text).enumerate();
        for (at, line) in lines.filter(|(_, line)| !line.is_empty()) {
            ::crawl::check_seed(line).with_context(|| format!("line {} of {file}", at + 1))?;
            seeds.push(line.to_owned());
        }
        if seeds.len() == count {
            return Err(Usage(format!("{file} holds no address")).into());
        }
    }
    for url in &args.sitemap {
        ::crawl::check_seed(url).context("--sitemap")?;
        seeds.push(format!("sitemap:{url}"));
    }
    Ok(seeds)
}

/// Whether the addresses of a command line are some; the first that is none is named.
pub(crate) fn check_arguments(addresses: &[String]) -> Result<()> {
    for (at, address) in addresses.iter().enumerate() {
        ::crawl::check_seed(address).with_context(|| format!("address {}", at + 1))?;
        if Path::new(address).is_file() {
            let at = at + 1;
            return Err(Usage(format!(
                "address {at}: {address:?} is a file here; `--seeds {address}` reads addresses from it, and \
                 http://{address} is the host"
            ))
            .into());
        }
    }
    Ok(())
}

/// Crawls with progress, and says how it went; whether that is [enough](Summary::check) is for the caller to ask.
pub(crate) fn fetch(
    collection: &Collection,
    config: &Config,
    seeds: &[String],
    runtime: &Runtime,
    stop: &Arc<AtomicBool>,
    context: &Context,
) -> Result<Summary> {
    let (archive, frontier) = (collection.archive_dir(), collection.frontier_dir());
    let dirs = Dirs { archive, frontier, named: collection::files_read(collection) };
    let standing = Standing::read(&dirs.frontier)?;
    if standing.paused {
        let why = "frontier/pause is there; nothing is asked for until it is removed";
        talk::say(context.quiet, &format!("paused   {why}"));
    }
    if let Some(remark) = unfinished(&standing, config, seeds.is_empty()) {
        talk::say(context.quiet, &remark);
    }
    if standing.list && config.follow {
        let remark = "list     begun with --list: no link is followed; --follow changes that";
        talk::say(context.quiet, remark);
    }
    let config = &Config { follow: config.follow && !standing.list, ..config.clone() };
    for remark in ::crawl::unsent_credentials(config, &dirs.frontier, seeds)? {
        talk::say(context.quiet, &format!("note     {remark}"));
    }
    let board = Arc::new(Board::default());
    let metrics = serve_board(&config.metrics, runtime, &board, context)?;
    let line = Line::start(context.quiet);
    let show = |now: &Snapshot| {
        board.post(now);
        line.show(view(now));
    };
    let report = ::crawl::run(&dirs, config, seeds, Arc::new(SystemClock::new()), stop, &show);
    line.clear();
    if let Some(metrics) = metrics {
        metrics.abort();
    }
    let report = report?;
    // What cannot be read any more is `doctor`'s to tell, and no reason to keep the summary back.
    let lost = still_lost(&dirs, &report)
        .unwrap_or_else(|_| report.gone.iter().chain(&report.shortened).cloned().collect());
    let told = Summary::of(report, config, !seeds.is_empty(), &lost);
    told.say(context.quiet);
    let report = &told.report;
    if let Some(limit) = &report.recrawl_unbegun {
        talk::say(context.quiet, &format!("recrawl  not begun: `{limit}` leaves no room for it"));
    }
    if let Some(since_s) = report.recrawl_waits_s {
        let since = archive::date_text(since_s);
        let fate = "is not over, and goes on waiting: --list asks for what it names alone";
        talk::say(context.quiet, &format!("recrawl  that since {since} {fate}"));
    }
    if report.pages == 0 && !report.unread && is_of_others(report) {
        let why = "none of the URLs known so far is for this agent";
        talk::say(context.quiet, &format!("         {why}; its inboxes may bring some"));
        return Ok(told);
    }
    if report.requests > 0 && report.statuses.is_empty() && told.check().is_ok() {
        let stays = "the pages of earlier runs stay as they are";
        talk::say(context.quiet, &format!("         nothing answered; {stays}"));
    }
    Ok(told)
}

/// The archive files that are told to be lost after a run that has told of some, too.
fn still_lost(dirs: &Dirs, report: &Report) -> Result<BTreeSet<String>> {
    if report.gone.is_empty() && report.shortened.is_empty() {
        return Ok(BTreeSet::new());
    }
    Ok(::crawl::lost_files(&dirs.frontier, &Archive::open(&dirs.archive)?)?)
}

/// What becomes of a host that is set aside.
pub(crate) fn aside_fate(aside: &AsideHost) -> String {
    match aside.until_s {
        _ if aside.refused => "no crawl visits it as long as that is so".to_owned(),
        Some(until_s) => format!("no crawl asks it before {}", archive::date_text(until_s)),
        None if aside.idle => "none of its pages is left to ask for".to_owned(),
        None => "the next crawl tries it again".to_owned(),
    }
}

/// Whether there is nothing of its own because all is for other agents, also what its own URLs redirect to.
fn is_of_others(report: &Report) -> bool {
    let mut statuses = report.page_statuses.keys();
    let is_well = report.failures.is_empty() && report.dropped.is_empty() && report.waiting == 0;
    report.sent > 0
        && is_well
        && report.limit.is_none()
        && statuses.all(|status| (300..400).contains(status))
}

/// What becomes of a recrawl that is not over, by what is asked for now. A list of all addresses goes on with every other
/// one. Whether one waits for a list is known when the addresses are that the list leads to, and told at the end.
fn unfinished(standing: &Standing, config: &Config, is_of_all: bool) -> Option<String> {
    if config.alone {
        let since = archive::date_text(standing.list_since_s.filter(|_| is_of_all)?);
        return Some(format!("recrawl  of a list since {since} is not over: it goes on"));
    }
    let since = archive::date_text(standing.recrawl_since_s?);
    let fate = match (standing.recrawl?, config.recrawl) {
        (_, Recrawl::Never | Recrawl::Given) if standing.recrawl_rest => {
            "has left hosts that were set aside: they are asked now"
        }
        _ if standing.recrawl_rest => "has left hosts that were set aside: another one begins",
        (Recrawl::Due, Recrawl::All) => "of what was due is not over: it now asks for everything",
        (Recrawl::Given, Recrawl::All) => {
            "of what was given is not over: one of everything takes its place"
        }
        (Recrawl::Given, Recrawl::Due) => {
            "of what was given is not over: it goes on, and asks for what is due besides"
        }
        (Recrawl::Due, Recrawl::Due) => "is not over: it goes on, with what is due by now",
        (Recrawl::All, Recrawl::Due) => {
            "of everything is not over: it goes on with all that is left"
        }
        (Recrawl::All | Recrawl::Due, Recrawl::Given) => {
            "is not over: it goes on with all that is left, and asks for what is given besides"
        }
        _ => "is not over: it goes on",
    };
    Some(format!("recrawl  that since {since} {fate}"))
}

/// Serves the board where the configuration says, if it says so.
fn serve_board(
    address: &str,
    runtime: &Runtime,
    board: &Arc<Board>,
    context: &Context,
) -> Result<Option<tokio::task::JoinHandle<()>>> {
    if address.is_empty() {
        return Ok(None);
    }
    let listener = runtime
        .block_on(TcpListener::bind(address))
        .with_context(|| format!("cannot listen on {address} for the metrics of the crawl"))?;
    let address = listener.local_addr().context("the address of the metrics")?;
    talk::say(context.quiet, &format!("watch    http://{address}/, http://{address}/metrics"));
    Ok(Some(runtime.spawn(::crawl::serve_metrics(listener, Arc::clone(board)))))
}

/// How a crawl stands, in a few lines.
fn view(now: &Snapshot) -> String {
    let (census, sieve) = (&now.census, &now.sieve);
    let verb = if now.paused { "paused by frontier/pause" } else { "crawling" };
    let mut text = format!(
        "{verb}  {}, {:.1}/s now, {:.1}/s on average, {}, {} s\n  \
         requests  {} made, {} under way; {} waiting\n  \
         hosts     {} known: {} ready, {} resting, {} in back-off, {} visited, {} aside\n  \
         sieve     {} offered, {} new, {}",
        talk::count(now.pages, "page"),
        now.pages_per_s,
        now.mean_pages_per_s(),
        talk::bytes(now.bytes),
        now.elapsed_ms / 1000,
        now.requests,
        now.under_way,
        talk::count(now.waiting, "URL"),
        now.hosts,
        census.ready,
        census.resting + census.asking,
        census.back_off,
        census.visiting,
        census.aside,
        talk::count(sieve.offered, "URL"),
        sieve.emitted,
        talk::bytes(sieve.memory_bytes + sieve.disk_bytes),
    );
    let robots = BTreeMap::from([("robots.txt", now.forbidden_by_robots)]);
    for (name, counts) in [
        ("recrawl", list(&now.again())),
        ("answers", list(&now.statuses)),
        ("failed", by_key(&now.failures)),
        ("refused", by_key(&now.refused)),
        ("forbidden", list(&robots)),
        ("dropped", by_key(&now.dropped)),
    ] {
        if !counts.is_empty() {
            let _ = write!(text, "\n  {name:9} {counts}");
        }
    }
    text
}

/// The same by the keys that say so, where one does.
fn by_key(counts: &BTreeMap<String, u64>) -> String {
    list(&counts.iter().map(|(name, times)| (summary::named(name), *times)).collect())
}

/// `connect 3, timeout 1`; what never happened is left out.
pub(crate) fn list<K: Display>(counts: &BTreeMap<K, u64>) -> String {
    let happened = counts.iter().filter(|(_, times)| **times > 0);
    let all: Vec<String> = happened.map(|(what, times)| format!("{what} {times}")).collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_whose_urls_all_lead_to_others_has_nothing_of_its_own() {
        let page_statuses = BTreeMap::from([(302, 3)]);
        let moved = Report { sent: 3, requests: 4, page_statuses, ..Report::default() };
        assert!(is_of_others(&moved) && is_of_others(&Report { sent: 1, ..Report::default() }));
        let page_statuses = BTreeMap::from([(302, 3), (404, 1)]);
        assert!(!is_of_others(&Report { page_statuses, ..moved.clone() }));
        let failures = BTreeMap::from([("connect".to_owned(), 1)]);
        assert!(!is_of_others(&Report { failures, ..moved.clone() }));
        assert!(!is_of_others(&Report { sent: 0, ..moved }));
    }

    #[test]
    fn the_view_tells_of_troubles_only_where_there_are_some() {
        let calm = Snapshot { pages: 7, pages_new: 5, elapsed_ms: 2_000, ..Snapshot::default() };
        let text = view(&calm);
        assert!(text.starts_with("crawling  7 pages, 0.0/s now, 2.5/s on average"), "{text}");
        assert_eq!(text.lines().count(), 4, "{text}");
        let text = view(&Snapshot { paused: true, ..calm.clone() });
        assert!(text.starts_with("paused by frontier/pause  7 pages"), "{text}");
        let failures = BTreeMap::from([("connect".to_owned(), 3), ("dns".to_owned(), 1)]);
        let text = view(&Snapshot { failures, forbidden_by_robots: 2, ..calm });
        assert!(
            text.contains("\n  failed    connect 3, dns 1\n  forbidden robots.txt 2"),
            "{text}"
        );
    }
}
