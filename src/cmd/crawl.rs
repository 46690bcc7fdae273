//! `crivello crawl`: fetches pages politely into the archive and continues earlier crawls.
//!
//! What lives here: flags, seeds and the view of a running crawl. What does not: the summary (`crawl/summary.rs`).
//!
//! **Invariant.** A flag holds for one command and is never written to the configuration. Seeds and `--list` are
//! stored.

pub(crate) mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ::crawl::{
    AsideHost, Board, Config, CrawlStatus, Dirs, Recrawl, Report, Snapshot, SystemClock,
    has_not_begun, read_seeds,
};
use anyhow::{Context as _, Result};
use archive::Archive;
use clap::ValueEnum as _;
use collection::Collection;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use super::sample::Sample;
use super::signals::{Stop, runtime};
use crate::console::{self, Fact, Line, count, thousands};
use crate::context::{Context, Exit, Usage, command_line};

use summary::{Run, Summary, by_key};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello crawl https://example.org --dir my-web
  crivello crawl --dir my-web                      continues after Ctrl-C, a crash or a full disk
  crivello crawl --list URL URL --dir my-web       fetches only these pages
  crivello crawl --seeds urls.txt --dir my-web     one address a line; - for standard input
  crivello crawl --sitemap https://example.org/sitemap.xml --list --dir my-web
  crivello crawl --recrawl --dir my-web            fetches all pages again to find changes
  crivello crawl --recrawl --list URL --dir my-web fetches only this page again
  crivello crawl --metrics 127.0.0.1:9700 --dir my-web
  touch my-web/frontier/pause                      pauses a crawl until the file is removed")]
pub(crate) struct Args {
    /// Addresses to start from [default: those of earlier runs]
    seeds: Vec<String>,
    /// More addresses, one a line; `-` for standard input
    #[arg(long = "seeds", value_name = "FILE")]
    seed_files: Vec<String>,
    /// Sitemap whose pages to fetch
    #[arg(long, value_name = "URL")]
    sitemap: Vec<String>,
    /// Stop at this number of pages in the collection; 0: never [default: `crawl.pages_max`]
    #[arg(long, value_name = "N")]
    max_pages: Option<u64>,
    /// Stop at this number of bytes that the collection received; 0: never [default: `crawl.bytes_max`]
    #[arg(long, value_name = "N")]
    max_bytes: Option<u64>,
    /// Stop after this time; 0: never [default: `crawl.time_s_max`]
    #[arg(long, value_name = "SECONDS")]
    max_time: Option<u64>,
    /// Fetch only pages within this number of links from the first of their site; 0: all [default: `crawl.depth_max`]
    #[arg(long, value_name = "N")]
    max_depth: Option<u16>,
    /// Fetch only the given addresses, or those of earlier runs. A crawl that begins so does not follow links in
    /// later runs
    #[arg(long)]
    list: bool,
    /// Follow links from now on in a crawl that began with --list
    #[arg(long, conflicts_with = "list")]
    follow: bool,
    /// Serve the state of the crawl as a page and for Prometheus [default: `crawl.metrics`]
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
    /// Continue an earlier crawl, or fail without one
    #[arg(long, conflicts_with_all = ["seeds", "seed_files", "sitemap"])]
    resume: bool,
    /// Fetch pages of the collection again: all, with `=due` the due ones, with `=given` the given ones. --list
    /// limits each to the given ones
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    recrawl: Option<Which>,
}

/// The pages to fetch again.
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
            "no crawl in {} to continue; start one with `crivello crawl URL`",
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
            let why = "--recrawl=given needs addresses to fetch again, and none is given";
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
    // A list that was killed before it stored seeds is not begun.
    if args.follow || has_not_begun(&frontier)? {
        CrawlStatus::keep_list(&frontier, args.list)?;
    }
    let told = fetch(&collection, &config, &seeds, &runtime, stop.flag(), context);
    if told.is_err() && has_not_begun(&frontier)? {
        CrawlStatus::keep_list(&frontier, false)?;
    }
    let told = told?;
    drop(sample);
    if context.json {
        context.print_json(&told)?;
    }
    told.check()?;
    Ok(if told.report.interrupted { Exit::Interrupted } else { Exit::Done })
}

/// Collects the addresses of the command line, of its files and of sitemaps.
fn seeds(args: &Args) -> Result<Vec<String>> {
    let mut seeds = args.seeds.clone();
    if let Some(which) = seeds.iter().find(|seed| Which::from_str(seed, true).is_ok())
        && args.recrawl.is_some()
    {
        let why = format!("{which:?} is not an address; write --recrawl={which}, with `=`");
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
            return Err(Usage(format!("{file} has no address")).into());
        }
    }
    for url in &args.sitemap {
        ::crawl::check_seed(url).context("--sitemap")?;
        seeds.push(format!("sitemap:{url}"));
    }
    Ok(seeds)
}

/// Checks the addresses of a command line. The error names the first that is not valid.
pub(crate) fn check_arguments(addresses: &[String]) -> Result<()> {
    for (at, address) in addresses.iter().enumerate() {
        ::crawl::check_seed(address).with_context(|| format!("address {}", at + 1))?;
        if Path::new(address).is_file() {
            let at = at + 1;
            return Err(Usage(format!(
                "address {at}: {address:?} is a file; `--seeds {address}` reads addresses from it, \
                 http://{address} is the host"
            ))
            .into());
        }
    }
    Ok(())
}

/// Crawls with progress and prints the summary. The caller [checks](Summary::check) it.
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
    let standing = CrawlStatus::read(&dirs.frontier)?;
    if standing.paused {
        context.say("Paused", "by the file frontier/pause, until it is removed");
    }
    if let Some(remark) = unfinished(&standing, config, seeds.is_empty()) {
        context.say("Recrawl", remark);
    }
    if standing.list && config.follow {
        context.say(
            "List",
            "links are not followed, since the crawl began with --list; --follow changes that",
        );
    }
    let config = &Config { follow: config.follow && !standing.list, ..config.clone() };
    for remark in ::crawl::unsent_credentials(config, &dirs.frontier, seeds)? {
        context.say("Note", remark);
    }
    let board = Arc::new(Board::default());
    let metrics = serve_board(&config.metrics, runtime, &board, context)?;
    let line = Line::start(context.quiet);
    let show = |now: &Snapshot| {
        board.post(now);
        let facts = view(now, config.delay_ms).into_iter().filter(|fact| context.shows(fact));
        line.show(&facts.collect::<Vec<_>>());
    };
    let report = ::crawl::run(&dirs, config, seeds, Arc::new(SystemClock::new()), stop, &show);
    line.clear();
    if let Some(metrics) = metrics {
        metrics.abort();
    }
    let report = report?;
    // An error is left to `doctor`: the summary does not depend on it.
    let lost = still_lost(&dirs, &report)
        .unwrap_or_else(|_| report.gone.iter().chain(&report.shortened).cloned().collect());
    let (is_given, crawl) = (!seeds.is_empty(), &command_line(collection, "crawl"));
    let told = Summary::of(report, &Run { config, is_given, lost: &lost, crawl });
    told.say(context);
    let report = &told.report;
    if let Some(limit) = &report.recrawl_unbegun {
        context.say("Recrawl", format!("not started, since `{limit}` is reached"));
    }
    if let Some(since_s) = report.recrawl_waits_s {
        let since = archive::date_text(since_s);
        context.say(
            "Recrawl",
            format!("started {since} waits, since --list fetches only its own pages"),
        );
    }
    if report.pages == 0 && !report.unread && is_of_others(report) {
        context.say(
            "Note",
            "all known URLs belong to other agents; the inbox may bring some for this one",
        );
        return Ok(told);
    }
    if report.requests > 0 && report.statuses.is_empty() && told.check().is_ok() {
        context.say("Note", "no site answered; the pages of earlier runs are kept");
    }
    Ok(told)
}

/// The archive files with lost URLs after a run that reported some.
fn still_lost(dirs: &Dirs, report: &Report) -> Result<BTreeSet<String>> {
    if report.gone.is_empty() && report.shortened.is_empty() {
        return Ok(BTreeSet::new());
    }
    Ok(::crawl::lost_files(&dirs.frontier, &Archive::open(&dirs.archive)?)?)
}

/// When a host that is set aside is visited again.
pub(crate) fn aside_fate(aside: &AsideHost) -> String {
    match aside.until_s {
        _ if aside.refused => "no crawl visits it while this holds".to_owned(),
        Some(until_s) => format!("no crawl visits it before {}", archive::date_text(until_s)),
        None if aside.idle => "none of its pages is waiting".to_owned(),
        None => "the next crawl tries it again".to_owned(),
    }
}

/// Returns whether all URLs, also the targets of redirects, belong to other agents.
fn is_of_others(report: &Report) -> bool {
    let mut statuses = report.page_statuses.keys();
    let is_well = report.failures.is_empty() && report.dropped.is_empty() && report.waiting == 0;
    report.sent > 0
        && is_well
        && report.limit.is_none()
        && statuses.all(|status| (300..400).contains(status))
}

/// The effect of this run on an unfinished recrawl. A recrawl of all addresses of lists continues any other one. Whether
/// a recrawl waits for a list is known, and reported, only at the end.
fn unfinished(standing: &CrawlStatus, config: &Config, is_of_all: bool) -> Option<String> {
    if config.alone {
        let since = archive::date_text(standing.list_since_s.filter(|_| is_of_all)?);
        return Some(format!("of a list, started {since}, continues"));
    }
    let since = archive::date_text(standing.recrawl_since_s?);
    let (of, fate) = match (standing.recrawl?, config.recrawl) {
        (_, Recrawl::Never | Recrawl::Given) if standing.recrawl_rest => {
            ("", "has left sites that were set aside; they are tried now")
        }
        _ if standing.recrawl_rest => ("", "has left sites that were set aside; a new one starts"),
        (Recrawl::Due, Recrawl::All) => ("of due pages, ", "continues with all pages"),
        (Recrawl::Given, Recrawl::All) => ("of given pages, ", "is replaced by one of all pages"),
        (Recrawl::Given, Recrawl::Due) => {
            ("of given pages, ", "continues with the due pages as well")
        }
        (Recrawl::Due, Recrawl::Due) => ("", "continues with the pages that are due now"),
        (Recrawl::All, Recrawl::Due) => ("of all pages, ", "continues"),
        (Recrawl::All | Recrawl::Due, Recrawl::Given) => {
            ("", "continues with the given pages as well")
        }
        _ => ("", "continues"),
    };
    Some(format!("{of}started {since}, {fate}"))
}

/// Serves the board at the configured address, if there is one.
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
    context.say("Watch", format!("http://{address}/ and http://{address}/metrics"));
    Ok(Some(runtime.spawn(::crawl::serve_metrics(listener, Arc::clone(board)))))
}

/// The state of a running crawl: one fact, and details.
fn view(now: &Snapshot, delay_ms: u64) -> Vec<Fact> {
    let (census, sieve) = (&now.census, &now.report.sieve);
    let (pages, all) =
        (thousands(now.report.pages), thousands(now.report.pages + now.report.waiting));
    let mut text = format!("{pages} of about {all} pages");
    if now.paused {
        text.push_str(" until frontier/pause is removed");
    } else {
        let rate = now.pages_per_s;
        text = format!("{text}, {rate:.*} a second", usize::from(rate < 10.0));
        if let Some(left) = time_left(now) {
            text = format!("{text}, {left} left");
        }
        match census.back_off + now.hosts_aside {
            0 if now.report.hosts == 1 && delay_ms > 0 => {
                text = format!("{text}; {} ms between requests (`delay_ms`)", thousands(delay_ms));
            }
            0 => {}
            waiting => text = format!("{text}; {} waiting", count(waiting, "site")),
        }
    }
    let label = if now.paused { "Paused" } else { "Crawling" };
    let robots = BTreeMap::from([("robots.txt", now.report.forbidden_by_robots)]);
    let details = [
        ("Requests", format!("{}, {} open", thousands(now.report.requests), now.under_way)),
        ("Received", console::bytes(now.report.bytes)),
        (
            "Sites",
            format!(
                "{} known: {} ready, {} in their delay, {} in backoff, {} active, {} set aside",
                thousands(now.report.hosts),
                census.ready,
                census.resting + census.asking,
                census.back_off,
                census.visiting,
                census.aside,
            ),
        ),
        (
            "Sieve",
            format!(
                "{} found, {} new, {}",
                count(sieve.offered, "URL"),
                thousands(sieve.emitted),
                console::bytes(sieve.memory_bytes + sieve.disk_bytes),
            ),
        ),
        ("Recrawled", list(&now.report.again())),
        ("Answers", list(&now.report.statuses)),
        ("Failed", by_key(&now.report.failures)),
        ("Excluded", by_key(&now.report.refused)),
        ("Forbidden", list(&robots)),
        ("Limited", by_key(&now.report.dropped)),
    ];
    let details = details.into_iter().filter(|(_, text)| !text.is_empty());
    let details = details.map(|(label, text)| Fact::detail(label, text));
    std::iter::once(Fact::new(label, text)).chain(details).collect()
}

/// How long the waiting URLs take at the mean rate.
fn time_left(now: &Snapshot) -> Option<String> {
    let rate = now.report.mean_pages_per_s();
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let seconds = (rate > 0.0).then(|| now.report.waiting as f64 / rate)?;
    Some(match seconds {
        ..100.0 => format!("{seconds:.0} s"),
        ..6_000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} h", seconds / 3_600.0),
    })
}

/// `connect 3, timeout 1`, without those that are 0.
pub(crate) fn list<K: Display>(counts: &BTreeMap<K, u64>) -> String {
    let happened = counts.iter().filter(|(_, times)| **times > 0);
    let all: Vec<String> =
        happened.map(|(what, times)| format!("{what} {}", thousands(*times))).collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_alone_mean_all_urls_belong_to_others() {
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
    fn progress_has_one_main_fact_and_details() {
        let report = Report {
            pages: 312,
            pages_new: 312,
            waiting: 1000,
            hosts: 7,
            elapsed_ms: 11_140,
            failures: BTreeMap::from([("connect".to_owned(), 3), ("dns".to_owned(), 1)]),
            ..Report::default()
        };
        let now = Snapshot { report, hosts_aside: 3, pages_per_s: 28.3, ..Snapshot::default() };
        let facts = view(&now, 1000);
        let text = "Crawling 312 of about 1,312 pages, 28 a second, 36 s left; 3 sites waiting";
        assert_eq!(facts[0].to_string(), text);
        assert!(!facts[0].is_detail && facts[1..].iter().all(|fact| fact.is_detail));
        assert!(facts.contains(&Fact::detail("Failed", "connect 3, dns 1")));
        let paused = view(&Snapshot { paused: true, ..now }, 1000);
        assert!(paused[0].to_string().starts_with("Paused 312 of about"));
    }
}
