//! The summary of a crawl: facts for people and for `--json`.
//!
//! What lives here: the [`Summary`] of a [`Report`], and the facts that `status` repeats. What does not: the counts
//! (`crawl::Report`) and the view of a running crawl (`crawl.rs`).
//!
//! **Invariant.** Every URL that was found but is not in the collection is counted in a fact. A fact about a rule
//! or a limit names its key.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ::crawl::{AsideHost, Config, FailureKind, Recrawl, Report, SieveReport, Visited};
use anyhow::{Result, bail};
use page::StatusClass;
use serde::Serialize;

use super::{aside_fate, is_of_others, list};
use crate::console::{self, Fact, count, thousands};
use crate::context::Context;

/// Number of hosts set aside that a crawl names one by one.
const ASIDES_SHOWN_MAX: usize = 6;

/// A report and its facts.
#[derive(Serialize)]
pub(crate) struct Summary {
    #[serde(flatten)]
    pub(crate) report: Report,
    /// The most important first.
    pub(crate) summary: Vec<Fact>,
}

/// The run of a summary.
pub(super) struct Run<'a> {
    pub(super) config: &'a Config,
    /// Whether addresses were given; otherwise the run continued with earlier ones.
    pub(super) is_given: bool,
    /// Archive files with lost URLs, which `doctor` lists.
    pub(super) lost: &'a BTreeSet<String>,
    /// The command that continues the crawl.
    pub(super) crawl: &'a str,
}

impl Summary {
    pub(super) fn of(report: Report, run: &Run<'_>) -> Summary {
        let Run { config, is_given, lost, crawl } = *run;
        let mut summary = facts(&report, crawl);
        // If a limit kept the recrawl from beginning, that is the reason.
        if is_given && report.recrawl_unbegun.is_none() {
            summary.extend(known(&report.visited, config));
        }
        if let Some(damage) = &report.damage {
            let text = format!(
                "archive: {damage}; the next crawl fetches missing pages again; {}",
                console::SEE_DOCTOR
            );
            summary.push(Fact::new("Damaged", text));
        }
        for (gone, shortened) in [(&report.gone[..], &[][..]), (&[], &report.shortened)] {
            let is_lost = gone.iter().chain(shortened).any(|name| lost.contains(name));
            let more = if is_lost { format!("; {}", console::SEE_DOCTOR) } else { String::new() };
            let fate = "lost pages are fetched again where links or seeds lead to them";
            let files = console::lost_files(gone, shortened).into_iter();
            summary
                .extend(files.map(|files| Fact::new("Missing", format!("{files}; {fate}{more}"))));
        }
        summary.extend(lost_pages(&report));
        if (1..config.fetchers as u64).contains(&report.fetchers) {
            let text = format!(
                "{} instead of {}: the system allows no more open files (ulimit -n)",
                report.fetchers, config.fetchers
            );
            summary.push(Fact::new("Fetchers", text));
        }
        summary.extend(report.aside.iter().take(ASIDES_SHOWN_MAX).map(waiting));
        if let Some(more @ 1..) = report.aside.len().checked_sub(ASIDES_SHOWN_MAX) {
            let sites = count(more as u64, "more site");
            summary.push(Fact::new("Waiting", format!("{sites}; see `crivello status`")));
        }
        if summary.iter().any(|fact| matches!(fact.label, "Failed" | "Forbidden" | "Limited")) {
            let text = "`crivello why URL` explains one URL; `crivello status -v` has all counts";
            summary.push(Fact::new("Details", text));
        }
        Summary { report, summary }
    }

    /// Fails if the collection has no page after the run. Pages of earlier runs are enough: a crawl of many hosts
    /// always meets some that do not answer.
    pub(crate) fn check(&self) -> Result<()> {
        let report = &self.report;
        if report.pages > 0 || report.interrupted || report.unread || is_of_others(report) {
            return Ok(());
        }
        bail!("no page could be fetched{}", reasons(report))
    }

    /// Prints the facts.
    pub(super) fn say(&self, context: &Context) {
        self.summary.iter().for_each(|fact| context.fact(fact));
    }
}

/// The facts that `crawl` and `status` share. `crawl` is the command that continues the crawl.
pub(crate) fn facts(report: &Report, crawl: &str) -> Vec<Fact> {
    let mut facts = vec![crawled(report)];
    if report.recrawled {
        facts.extend(recrawled(report));
    }
    if report.paused_ms >= 1000 {
        facts.push(Fact::new("Paused", format!("for {} s", thousands(report.paused_ms / 1000))));
    }
    facts.extend(left(report, crawl));
    if report.held > 0 {
        let urls = count(report.held, "URL");
        let text =
            format!("{urls} of sitemaps and redirects; a crawl that follows links fetches them");
        facts.push(Fact::new("Held", text));
    }
    facts.extend(left_out(report));
    facts.extend(sieve(&report.sieve));
    facts
}

fn crawled(report: &Report) -> Fact {
    let mut text = count(report.pages_new, "new page");
    if report.pages != report.pages_new {
        text = format!("{text}, {} in all,", thousands(report.pages));
    }
    let seconds = Duration::from_millis(report.elapsed_ms).as_secs_f64();
    let (requests, bytes) = (count(report.requests, "request"), console::bytes(report.bytes));
    Fact::new("Crawled", format!("{text} in {seconds:.1} s ({requests}, {bytes})"))
}

/// The outcome of a recrawl. The numbers add up to the URLs it requested, without sitemaps and without visits that are
/// still to be retried.
fn recrawled(report: &Report) -> Vec<Fact> {
    let Report { unchanged, changed, moved, deleted, failed, .. } = report;
    let pages = count(report.asked, "known URL");
    let [unchanged, changed, moved, deleted, failed] =
        [unchanged, changed, moved, deleted, failed].map(|&number| thousands(number));
    let mut facts = vec![Fact::new(
        "Recrawled",
        format!(
            "{pages}: {unchanged} unchanged, {changed} changed, {moved} moved, {deleted} gone, {failed} failed"
        ),
    )];
    if report.asked_sitemaps > 0 {
        facts.push(Fact::new("Recrawled", count(report.asked_sitemaps, "known sitemap")));
    }
    let mut retried = Failures::default();
    retried.add_classes(&report.retried);
    retried.add_classes(&report.put_aside);
    facts.extend(retried.text("request").map(|text| Fact::new("Retried", text)));
    facts
}

/// The limit that ended the run, and the URLs that are left.
fn left(report: &Report, crawl: &str) -> Vec<Fact> {
    let waiting = count(report.waiting, "URL");
    let mut facts = Vec::new();
    if report.unread {
        let by = report.limit.as_ref().map(|limit| format!("by `{limit}` "));
        let by = by.unwrap_or_default();
        let text = format!("{by}while earlier runs were read; the same command continues");
        facts.push(Fact::new("Stopped", text));
    } else if let Some(limit) = &report.limit {
        // `time_s_max` counts this run, the other limits count all runs: the next run would stop at once.
        let text = match (report.waiting, limit.as_str()) {
            (0, _) => format!("by `{limit}`; no URL is left"),
            (_, "time_s_max") => format!("by `{limit}`; {waiting} left: `{crawl}` continues"),
            _ => format!("by `{limit}`; {waiting} left for a crawl with a higher limit"),
        };
        facts.push(Fact::new("Stopped", text));
    } else if report.waiting > 0 {
        let text = if report.interrupted {
            format!("{waiting}; `{crawl}` continues")
        } else {
            format!("{waiting} of sites that were set aside")
        };
        facts.push(Fact::new("Left", text));
    }
    if report.put_off > 0 {
        let urls = count(report.put_off, "URL");
        facts.push(Fact::new("Left", format!("{urls} of earlier runs; `{crawl}` continues")));
    }
    facts
}

/// Failures in plain words, with their numbers.
#[derive(Default)]
struct Failures(BTreeMap<String, u64>);

impl Failures {
    fn add(&mut self, reason: impl Into<String>, times: u64) {
        if times > 0 {
            *self.0.entry(reason.into()).or_default() += times;
        }
    }

    fn add_classes(&mut self, classes: &BTreeMap<String, u64>) {
        for (class, times) in classes {
            self.add(class_words(class), *times);
        }
    }

    /// `3 pages: gone 2, timeout 1`, the most frequent first; `None` without a failure.
    fn text(&self, noun: &str) -> Option<String> {
        let all: u64 = self.0.values().sum();
        let mut sorted: Vec<_> = self.0.iter().collect();
        sorted.sort_by_key(|(_, times)| Reverse(**times));
        let parts = sorted.iter().map(|(reason, times)| format!("{reason} {}", thousands(**times)));
        let parts = parts.collect::<Vec<_>>().join(", ");
        (all > 0).then(|| format!("{}: {parts}", count(all, noun)))
    }
}

/// A class of failures in plain words.
fn class_words(class: &str) -> String {
    let status = class.strip_prefix("http-").and_then(|status| status.parse().ok());
    match (FailureKind::from_name(class), status) {
        (_, Some(status)) => status_words(status),
        (Some(kind), _) => match kind {
            FailureKind::Dns => "unknown host name",
            FailureKind::Address => "private address",
            FailureKind::Contact => "no contact configured",
            FailureKind::Connect => "site not reachable",
            FailureKind::Tls => "no secure connection",
            FailureKind::Timeout => "timeout",
            FailureKind::Protocol => "broken answer",
            FailureKind::Refused => "request refused",
            FailureKind::TooLarge => "too large",
            FailureKind::Room => "too many large answers at once",
            _ => class,
        }
        .to_owned(),
        _ => class.to_owned(),
    }
}

/// A status that is no page in plain words.
fn status_words(status: u16) -> String {
    match status {
        401 | 403 | 407 => "access denied".to_owned(),
        404 | 410 => "gone".to_owned(),
        429 => "too many requests".to_owned(),
        500..=599 => "server error".to_owned(),
        _ => format!("status {status}"),
    }
}

/// URLs that were found but are not in the collection, by reason.
fn left_out(report: &Report) -> Vec<Fact> {
    let statuses = no_page_statuses(report);
    let (mut failures, mut given_up) = (Failures::default(), report.failures.clone());
    for (class, times) in &mut given_up {
        let aside = report.put_aside.get(class).copied().unwrap_or(0).min(*times);
        *times -= aside;
        failures.add(class_words(class), *times);
        failures.add(class_words(FailureKind::Connect.name()), aside);
    }
    for (status, times) in &statuses {
        failures.add(status_words(*status), *times);
    }
    let mut dropped = report.dropped.clone();
    if report.pruned > 0 {
        dropped.insert(PRUNED.to_owned(), report.pruned);
    }
    // Five of these classes count pages, sitemaps and answers; the others count links.
    let mut refused = report.refused.clone();
    let mut take = |class: &str| refused.remove(class).unwrap_or(0);
    let (unfollowed, unstored) = (take("parse-filter"), take("store-filter"));
    let (cut, broken, unreadable) =
        (take("sitemap-cut"), take("sitemap-broken"), take("unreadable"));
    let by_key = |label, noun: &str, counts: &BTreeMap<String, u64>| {
        let all = counts.values().sum();
        let text = format!("{}: {}", count(all, noun), by_key(counts));
        (all > 0).then(|| Fact::detail(label, text))
    };
    let some = |label, number, noun: &str, text: &str| {
        (number > 0).then(|| Fact::new(label, format!("{} {text}", count(number, noun))))
    };
    let detail = |fact: Option<Fact>| fact.map(|fact| Fact { is_detail: true, ..fact });
    let limited = by_key("Limited", "URL", &dropped);
    let statuses = statuses.into_iter().map(|(status, times)| (format!("status {status}"), times));
    let bad_line = report.bad_line.as_deref().map(console::plain).unwrap_or_default();
    let kept = if unreadable == 1 {
        "in the archive, such as a PDF; its text is not searchable"
    } else {
        "in the archive, such as PDFs; their text is not searchable"
    };
    let facts = [
        failures.text("page").map(|text| Fact::new("Failed", text)),
        by_key("Given up", "visit", &given_up),
        by_key("Set aside", "visit", &report.put_aside),
        by_key("No page", "answer", &statuses.collect()),
        limited.map(|fact| Fact { is_detail: false, ..fact }),
        some("Forbidden", report.forbidden_by_robots, "URL", "by robots.txt"),
        some("Kept", unreadable, "file", kept),
        some("Cut", cut, "sitemap", "at `sitemap_bytes_max`"),
        some("Cut", broken, "sitemap", "where the end is missing or damaged"),
        some("Inbox", report.bad_lines, "invalid line", &format!("such as {bad_line}")),
        by_key("Excluded", "link", &refused),
        detail(some("Excluded", unstored, "answer", "from the archive by `store_filter`")),
        detail(some("Excluded", unfollowed, "page", "by `parse_filter`: no link is followed")),
    ];
    facts.into_iter().flatten().collect()
}

/// Answers that are neither a page nor lead to one, by status. Visits that were given up are not among them.
fn no_page_statuses(report: &Report) -> BTreeMap<u16, u64> {
    let statuses = report.page_statuses.iter().filter(|(status, _)| is_no_page(**status));
    let statuses = statuses.map(|(status, times)| {
        let given_up = report.failures.get(&format!("http-{status}")).copied().unwrap_or(0);
        (*status, times.saturating_sub(given_up))
    });
    statuses.filter(|(_, times)| *times > 0).collect()
}

/// Returns whether an answer is neither a page nor leads to one, and is not retried.
fn is_no_page(status: u16) -> bool {
    match StatusClass::of(status) {
        StatusClass::Page | StatusClass::Moved | StatusClass::Temporary => false,
        StatusClass::Gone => true,
        // 304 says that a known page has not changed.
        StatusClass::Odd => status != 304,
    }
}

/// Expected losses of the sieve, and its size.
fn sieve(sieve: &SieveReport) -> Vec<Fact> {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let lost = sieve.expected_collisions + sieve.false_positive_rate * sieve.emitted as f64;
    let lost = if lost < 0.5 { "none expected".to_owned() } else { format!("about {lost:.0}") };
    let hits = 100.0 * sieve.cache_hit_rate;
    let (memory, disk) = (console::bytes(sieve.memory_bytes), console::bytes(sieve.disk_bytes));
    let (offered, emitted) = (count(sieve.offered, "URL"), thousands(sieve.emitted));
    let kind = &sieve.kind;
    vec![
        Fact::detail(
            "Sieve",
            format!("{kind}: {offered} found, {emitted} new; cache hits {hits:.0} %"),
        ),
        Fact::detail("Sieve", format!("{memory} of memory, {disk} on disk")),
        Fact::detail("Sieve", format!("URLs lost to hash collisions: {lost}")),
    ]
}

/// A site that was set aside.
pub(crate) fn waiting(aside: &AsideHost) -> Fact {
    let site = aside.host.split_once("://").map_or(&*aside.host, |(_, site)| site);
    Fact::new("Waiting", format!("{site}: {}; {}", reason(&aside.why), aside_fate(aside)))
}

/// The innermost reason in plain words: `connection refused` of
/// `it cannot be reached (connect: Connection refused (os error 111))`.
fn reason(why: &str) -> String {
    let inner = why.strip_prefix("it cannot be reached (").and_then(|why| why.strip_suffix(')'));
    let inner = inner.unwrap_or(why);
    let of_class =
        inner.split_once(": ").filter(|(class, _)| FailureKind::from_name(class).is_some());
    let inner = of_class.map_or(inner, |(_, detail)| detail);
    let inner = inner.split(" (os error ").next().unwrap_or(inner);
    let mut letters = inner.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    console::plain(&first.into_iter().chain(letters).collect::<String>())
}

/// Pages that were missing from the archive when the run began.
fn lost_pages(report: &Report) -> Option<Fact> {
    let fetched = report.lost.saturating_sub(report.missing);
    let text = match missing(report) {
        None => format!("{} fetched again", count(fetched, "lost page")),
        Some(missing) => format!("{} fetched again; {}", count(fetched, "lost page"), missing.text),
    };
    (report.lost > 0).then(|| Fact::new("Missing", text))
}

/// Pages that are missing from the archive: only "not modified" records are left of them.
pub(crate) fn missing(report: &Report) -> Option<Fact> {
    let pages = count(report.missing, "page");
    let kept_out = report.missing_kept_out.min(report.missing);
    let retried = report.missing - kept_out;
    let why = "by the configuration, robots.txt or a limit: `crivello doctor archive` lists them";
    let text = match (kept_out, retried) {
        (0, _) => format!("{pages} still missing; the next crawl retries"),
        (_, 0) => format!("{pages} still missing and kept out {why}"),
        _ => format!(
            "{pages} still missing; the next crawl retries {}, and {} are kept out {why}",
            thousands(retried),
            thousands(kept_out)
        ),
    };
    (report.missing > 0).then(|| Fact::new("Missing", text))
}

/// The addresses that were given and not requested, since earlier runs had an answer.
fn known(visited: &Visited, config: &Config) -> Vec<Fact> {
    let all = visited.outcomes.values().sum();
    let (addresses, were, them) = if all == 1 {
        ("1 address".to_owned(), "was", "it")
    } else {
        (count(all, "address"), "were", "them")
    };
    let again = match (config.recrawl, config.alone) {
        (Recrawl::Given, _) | (Recrawl::All, true) => {
            format!("this recrawl has the answer, the next one visits {them} again")
        }
        (Recrawl::Due, true) => {
            format!(
                "{} not due, --recrawl --list visits {them} again",
                if all == 1 { "it is" } else { "they are" }
            )
        }
        (Recrawl::Never, true) => format!("--recrawl --list visits {them} again"),
        _ => format!("--recrawl=given visits {them} again"),
    };
    let Some(first) = visited.first.first() else { return Vec::new() };
    let (url, date) = (console::plain(&first.url), archive::date_text(first.date_s));
    let mut facts = vec![
        Fact::new("Known", format!("{addresses} you gave {were} visited before; {again}")),
        Fact::detail("Known", format!("{url}: {} at {date}", first.outcome)),
    ];
    if all > 1 {
        facts.push(Fact::detail("Known", list(&visited.outcomes)));
    }
    facts
}

/// A class of failures, a rule or a limit, by its key if it has one.
pub(super) fn named(name: &str) -> String {
    let keys: Vec<String> = keys_of(name).iter().map(|key| format!("`{key}`")).collect();
    let keys = keys.join(" or ");
    match keys.as_str() {
        "" => name.to_owned(),
        _ if name == FailureKind::TooLarge.name() => format!("{name} by {keys}"),
        _ => keys,
    }
}

/// These counts by key, the ones that are 0 left out.
pub(super) fn by_key(counts: &BTreeMap<String, u64>) -> String {
    list(&counts.iter().map(|(name, times)| (named(name), *times)).collect())
}

/// The class of URLs that `turn_s_max` excludes, which have a count of their own.
const PRUNED: &str = "pruned";

/// The keys of the configuration that decide about a class of failures, a rule or a limit.
fn keys_of(name: &str) -> &'static [&'static str] {
    match name {
        "too-large" => &["body_bytes_max"],
        "scope" => &["scope"],
        "length" => &["url_bytes_max"],
        "repetition" => &["path_repeats_max"],
        "parameters" => &["query_parameters_max"],
        "extension" => &["skip_extensions"],
        "calendar" => &["calendar_years"],
        "session" => &["normalise"],
        "fetch-filter" => &["fetch_filter"],
        "parse-filter" => &["parse_filter"],
        "store-filter" => &["store_filter"],
        "link-filter" => &["link_filter"],
        "depth" => &["depth_max"],
        "redirects" => &["redirects_max"],
        "host-limit" => &["pages_per_host_max", "requests_per_host_max"],
        "sitemap-cut" => &["sitemap_bytes_max"],
        "waiting-per-host" => &["waiting_per_host_max"],
        "waiting" => &["waiting_max"],
        "hosts" => &["hosts_max"],
        PRUNED => &["turn_s_max"],
        _ => &[],
    }
}

/// Why there is no page: the limit or the rules that excluded URLs, the failures, and the sites that have to wait.
fn reasons(report: &Report) -> String {
    let mut all = Vec::new();
    all.extend(report.limit.iter().map(|limit| format!("stopped by `{limit}`")));
    if report.sent > 0 {
        all.push(format!("{} left to other agents", count(report.sent, "URL")));
    }
    for fact in left_out(report) {
        match fact.label {
            "Given up" | "Set aside" | "No page" => {}
            label => all.push(format!("{} {}", label.to_lowercase(), fact.text)),
        }
    }
    let mut retried = Failures::default();
    retried.add_classes(&report.retried);
    all.extend(retried.text("failed request"));
    // Redirects lead to other URLs, which may have been excluded.
    let tried = report.page_statuses.keys().filter(|status| (300..400).contains(*status));
    let tried = tried.filter(|status| !is_no_page(**status));
    all.extend(tried.map(|status| format!("redirects with status {status}")));
    // The site that can be visited first.
    let first = report.aside.iter().min_by_key(|aside| aside.until_s);
    all.extend(first.map(|aside| waiting(aside).text));
    if let Some(more @ 1..) = report.aside.len().checked_sub(1) {
        all.push(format!("{} set aside", count(more as u64, "more site")));
    }
    let known = report.visited.outcomes.values().sum();
    if let (1.., Some(first)) = (known, report.visited.first.first()) {
        let (seeds, date) = (count(known, "seed"), archive::date_text(first.date_s));
        all.push(format!(
            "{seeds} visited before, such as {} ({} at {date}); `crivello crawl --recrawl` visits them again",
            console::plain(&first.url),
            first.outcome
        ));
    }
    if all.is_empty() { String::new() } else { format!(": {}", all.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts<const N: usize>(counts: [(&str, u64); N]) -> BTreeMap<String, u64> {
        counts.map(|(name, times)| (name.to_owned(), times)).into()
    }

    /// The facts that are shown without `--verbose`.
    fn shown(facts: &[Fact]) -> Vec<String> {
        facts.iter().filter(|fact| !fact.is_detail).map(Fact::to_string).collect()
    }

    fn summary(report: Report) -> Summary {
        // All of no fetchers are there.
        let config = Config { fetchers: 0, ..Config::default() };
        let lost = BTreeSet::new();
        let run = Run { config: &config, is_given: false, lost: &lost, crawl: "crivello crawl" };
        Summary::of(report, &run)
    }

    fn aside(host: &str, why: &str) -> AsideHost {
        let aside = serde_json::json!({ "host": host, "why": why });
        serde_json::from_value(aside).expect("the rest has defaults")
    }

    #[test]
    fn failures_are_reported_as_one_plain_fact() {
        let report = Report {
            page_statuses: [(200, 7), (206, 3), (302, 1), (304, 5), (404, 1), (410, 1)].into(),
            failures: counts([("http-206", 2), ("http-500", 1), ("connect", 1), ("protocol", 3)]),
            put_aside: counts([("connect", 1)]),
            ..Report::default()
        };
        let facts = left_out(&report);
        let failed = "Failed 10 pages: broken answer 3, status 206 3, gone 2, server error 1, site not reachable 1";
        assert_eq!(shown(&facts), [failed]);
        let details: Vec<String> = facts[1..].iter().map(Fact::to_string).collect();
        assert_eq!(
            details,
            [
                "Given up 6 visits: http-206 2, http-500 1, protocol 3",
                "Set aside 1 visit: connect 1",
                "No page 3 answers: status 206 1, status 404 1, status 410 1",
            ]
        );
    }

    #[test]
    fn a_rule_or_a_limit_is_named_by_its_key() {
        let report = Report {
            pages: 7,
            pages_new: 7,
            requests: 1200,
            failures: counts([("too-large", 2)]),
            dropped: counts([("host-limit", 6)]),
            refused: counts([
                ("extension", 1),
                ("scope", 2),
                ("sitemap-cut", 1),
                ("unreadable", 1),
            ]),
            forbidden_by_robots: 1,
            pruned: 2,
            ..Report::default()
        };
        let said = summary(report).summary;
        assert_eq!(
            shown(&said),
            [
                "Crawled 7 new pages in 0.0 s (1,200 requests, 0 B)",
                "Failed 2 pages: too large 2",
                "Limited 8 URLs: `pages_per_host_max` or `requests_per_host_max` 6, `turn_s_max` 2",
                "Forbidden 1 URL by robots.txt",
                "Kept 1 file in the archive, such as a PDF; its text is not searchable",
                "Cut 1 sitemap at `sitemap_bytes_max`",
                "Details `crivello why URL` explains one URL; `crivello status -v` has all counts",
            ]
        );
        let details = said.iter().filter(|fact| fact.is_detail).map(Fact::to_string);
        let details: Vec<String> = details.collect();
        assert!(details.contains(&"Excluded 3 links: `scope` 2, `skip_extensions` 1".to_owned()));
        assert!(details.contains(&"Sieve URLs lost to hash collisions: none expected".to_owned()));
    }

    #[test]
    fn a_limit_reports_whether_the_next_run_continues() {
        let said = |limit: &str, waiting: u64| {
            let limit = Some(limit.to_owned());
            let report = Report { limit, waiting, put_off: 2, ..Report::default() };
            shown(&left(&report, "crivello crawl"))
        };
        let put_off = "Left 2 URLs of earlier runs; `crivello crawl` continues";
        let stopped = "Stopped by `pages_max`; 1 URL left for a crawl with a higher limit";
        assert_eq!(said("pages_max", 1), [stopped, put_off]);
        let stopped = "Stopped by `time_s_max`; 2 URLs left: `crivello crawl` continues";
        assert_eq!(said("time_s_max", 2), [stopped, put_off]);
        assert_eq!(said("pages_max", 0), ["Stopped by `pages_max`; no URL is left", put_off]);
        assert!(left(&Report::default(), "").is_empty());
    }

    #[test]
    fn the_first_waiting_sites_are_reported_with_reasons() {
        let why = "it cannot be reached (connect: Connection refused (os error 111))";
        let aside = aside("http://dead.localhost", why);
        let fact = "Waiting dead.localhost: connection refused; the next crawl tries it again";
        assert_eq!(waiting(&aside).to_string(), fact);
        assert_eq!(reason("/a answers 503"), "/a answers 503");
        let report = Report { aside: vec![aside; ASIDES_SHOWN_MAX + 20], ..Report::default() };
        let said = shown(&summary(report).summary);
        assert_eq!(said.len(), 1 + ASIDES_SHOWN_MAX + 1);
        assert_eq!(said.last().expect("a fact"), "Waiting 20 more sites; see `crivello status`");
    }

    #[test]
    fn the_error_gives_reasons_if_no_page_was_fetched() {
        let said = |report: Report| summary(report).check().expect_err("no page").to_string();
        assert_eq!(said(Report::default()), "no page could be fetched");
        let why = "it cannot be reached (connect: Connection refused (os error 111))";
        let report = Report {
            failures: counts([("connect", 1)]),
            put_aside: counts([("connect", 1)]),
            retried: counts([("connect", 2)]),
            aside: vec![aside("http://a.test:9", why)],
            ..Report::default()
        };
        assert_eq!(
            said(report),
            "no page could be fetched: failed 1 page: site not reachable 1; 2 failed requests: site not reachable 2; \
             a.test:9: connection refused; the next crawl tries it again"
        );
    }
}
