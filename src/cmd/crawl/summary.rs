//! What a crawl says when it is over.
//!
//! What lives here: the [`Summary`] of a [`Report`], for people and in `--json`: what came, what ended the run, what
//! was left out and by which key, and where to look further. What does not: the counts themselves (`crawl::Report`),
//! the view of a running crawl (`crawl.rs`).
//!
//! **Invariant.** Whatever is not in the collection though it was found is in a line: given up, without a page,
//! dropped, forbidden, refused, or left. A rule or limit is named by its key, so that it can be changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use ::crawl::{Config, Recrawl, Report, Visited};
use anyhow::{Result, bail};
use page::StatusClass;
use serde::Serialize;

use super::{aside_fate, is_of_others, list};
use crate::talk;

/// Hosts set aside that are named one by one.
const ASIDES_SHOWN_MAX: usize = 6;

/// A report and the lines that are said of it.
#[derive(Serialize)]
pub(crate) struct Summary {
    #[serde(flatten)]
    pub(crate) report: Report,
    /// The lines, the first the most important.
    pub(crate) summary: Vec<String>,
}

impl Summary {
    /// Of a run by a configuration that was `given` addresses, or went on with earlier ones; `doctor` tells of archive files
    /// that are `lost`.
    pub(super) fn of(
        report: Report,
        config: &Config,
        given: bool,
        lost: &BTreeSet<String>,
    ) -> Summary {
        let fetchers = config.fetchers;
        let mut summary = vec![sentence(&report)];
        // Where no recrawl was begun that would have asked for them, that is why they were not asked for.
        let is_begun = report.recrawl_unbegun.is_none();
        if given
            && is_begun
            && let Some(known) = known(&report.visited, "given URL")
        {
            summary.push(format!("{known}; {}", who_asks_again(config)));
        }
        let left_out = left_out(&report);
        if !left_out.is_empty() {
            summary.push(left_out.join("; "));
            summary.push(
                "`crivello status` has these counts, `crivello why URL` what became of one URL"
                    .to_owned(),
            );
        }
        if let Some(damage) = &report.damage {
            let fate = "a crawl asks again for pages that are missing in it";
            summary.push(format!("the archive is damaged: {damage}; {fate}; {MORE}"));
        }
        for (gone, shortened) in [(&report.gone[..], &[][..]), (&[], &report.shortened)] {
            let is_told = gone.iter().chain(shortened).any(|name| lost.contains(name));
            let more = if is_told { format!("; {MORE}") } else { String::new() };
            let fate =
                "what was in no other file is asked for again where links or seeds lead to it";
            let files = talk::lost_files(gone, shortened).into_iter();
            summary.extend(files.map(|files| format!("{files}; {fate}{more}")));
        }
        summary.extend(lost_pages(&report));
        if (1..fetchers as u64).contains(&report.fetchers) {
            let got = talk::count(report.fetchers, "fetcher");
            let why = "the system allows no more open files (ulimit -n)";
            summary.push(format!("{got} instead of {fetchers}: {why}"));
        }
        for aside in report.aside.iter().take(ASIDES_SHOWN_MAX) {
            let (why, fate) = (talk::plain(&aside.why), aside_fate(aside));
            summary.push(format!("set aside {}: {why}; {fate}", aside.host));
        }
        if let Some(more @ 1..) = report.aside.len().checked_sub(ASIDES_SHOWN_MAX) {
            let hosts = talk::count(more as u64, "more host");
            summary.push(format!("set aside {hosts}: see `crivello status`"));
        }
        Summary { report, summary }
    }

    /// Fails if the collection has no page after the run. Where it has pages of earlier runs, it can be used however
    /// this one went: a crawl of many hosts meets dead ones each time, and what they cost is in the counts.
    pub(crate) fn check(&self) -> Result<()> {
        let report = &self.report;
        if report.pages > 0 || report.interrupted || report.unread || is_of_others(report) {
            return Ok(());
        }
        bail!("no page could be fetched{}", reasons(report))
    }

    /// Says all of it.
    pub(super) fn say(&self, quiet: bool) {
        for (line, text) in self.summary.iter().enumerate() {
            talk::say(quiet, &format!("{}  {text}", if line == 0 { "crawled" } else { "       " }));
        }
    }
}

/// Who knows more about a loss.
const MORE: &str = "`crivello doctor archive` tells more";

/// What became of pages that the archive has lost; `None` if it has lost none.
fn lost_pages(report: &Report) -> Option<String> {
    let lost = Some(report.lost).filter(|&lost| lost > 0)?;
    let (pages, back) =
        (talk::count(lost, "page"), talk::count(lost.saturating_sub(report.missing), "page"));
    let (them, all) = if lost == 1 { ("it", "it was") } else { ("them", "all of them were") };
    let fate = match missing(report) {
        None => format!("{all} asked for again"),
        Some(missing) => format!("{back} asked for again, {missing}"),
    };
    Some(format!(
        "{pages} had been lost from the archive, where only later visits told of {them}; {fate}"
    ))
}

/// How many pages are missing; `None` if none is.
pub(crate) fn missing(report: &Report) -> Option<String> {
    let missing = Some(report.missing).filter(|&missing| missing > 0)?;
    let pages = talk::count(missing, "page");
    let kept_out = report.missing_kept_out.min(missing);
    let who = "by the configuration, robots.txt or a limit as they are now: `crivello doctor archive` names them";
    Some(match missing - kept_out {
        _ if kept_out == 0 => format!("{pages} still missing, for which the next crawl asks"),
        0 => format!("{pages} still missing, and kept out {who}"),
        asked => format!(
            "{pages} still missing; the next crawl asks for {asked}, and {kept_out} are kept out {who}"
        ),
    })
}

/// What asks for a given address that this run did not ask for, since it was visited before.
fn who_asks_again(config: &Config) -> &'static str {
    match (config.recrawl, config.alone) {
        (Recrawl::Given, _) | (Recrawl::All, true) => {
            "the recrawl that was gone on with has this answer, and the next one asks again"
        }
        (Recrawl::Due, true) => "it is not due; `crivello crawl --recrawl --list URL` asks again",
        (Recrawl::Never, true) => "`crivello crawl --recrawl --list URL` asks again",
        _ => "`crivello crawl --recrawl=given URL` asks again",
    }
}

fn sentence(report: &Report) -> String {
    let mut text = format!(
        "{} with {}, {} in {:.1} s",
        talk::count(report.pages_new, "new page"),
        talk::count(report.requests, "request"),
        talk::bytes(report.bytes),
        Duration::from_millis(report.elapsed_ms).as_secs_f64(),
    );
    if report.pages != report.pages_new {
        let _ = write!(text, "; {} archived in all", report.pages);
    }
    if report.recrawled {
        let _ = write!(text, "; {}", again(report));
    }
    if report.paused_ms >= 1000 {
        let _ = write!(text, "; paused for {} s", report.paused_ms / 1000);
    }
    if report.sieve.false_positive_rate > 0.0 {
        let rate = report.sieve.false_positive_rate;
        let _ = write!(text, "; the sieve takes a new URL for known at a rate of {rate:.1e}");
    }
    if let Some(left) = left(report) {
        let _ = write!(text, "; {left}");
    }
    if report.held > 0 {
        let held = talk::count(report.held, "URL");
        let _ =
            write!(text, "; {held} of sitemaps and redirects left for a crawl that follows links");
    }
    text
}

/// What ended the run, and what it and those before it have left; `None` if that is nothing.
pub(crate) fn left(report: &Report) -> Option<String> {
    let ending = ending(report);
    if report.put_off == 0 {
        return ending;
    }
    let urls = format!("{} of earlier runs", talk::count(report.put_off, "URL"));
    Some(match ending.as_ref().map(|ending| (ending, ending.strip_suffix(GOES_ON))) {
        Some((_, Some(own))) => format!("{own}, and {urls}{GOES_ON}"),
        Some((ending, None)) => format!("{ending}; {urls} left{GOES_ON}"),
        None => format!("{urls} left{GOES_ON}"),
    })
}

/// Who goes on with what is left.
const GOES_ON: &str = ": `crivello crawl` goes on with them";

/// What ended the run, and what it has left; `None` if that is nothing.
fn ending(report: &Report) -> Option<String> {
    if report.unread {
        let limit = report.limit.as_ref().map(|limit| format!(" by `{limit}`"));
        let by = limit.unwrap_or_default();
        return Some(format!(
            "stopped{by} while what earlier runs archived was read; the same command goes on with that"
        ));
    }
    let waiting = talk::count(report.waiting, "URL");
    let is_old = report.requests == 0;
    Some(match &report.limit {
        Some(limit) if report.waiting == 0 => {
            let reached = if is_old { "was reached before" } else { "is reached" };
            let which = if report.put_off > 0 { "no URL of its own" } else { "no URL" };
            format!("`{limit}` {reached}, and {which} is left")
        }
        Some(limit) if limit != "time_s_max" && is_old => format!(
            "stopped by `{limit}`, which was reached before; {waiting} left for a crawl with more"
        ),
        // It counts what earlier runs have, so the next one ends at once.
        Some(limit) if limit != "time_s_max" => {
            format!("stopped by `{limit}`, {waiting} left for a crawl with more")
        }
        Some(limit) => {
            format!("stopped by `{limit}`, {waiting} left{GOES_ON}")
        }
        None if report.waiting == 0 => return None,
        None if report.interrupted => format!("{waiting} left{GOES_ON}"),
        None => format!("{waiting} left of hosts that were set aside"),
    })
}

/// What was wanted and not asked for, since earlier runs had an answer; `None` if there is nothing.
fn known(visited: &Visited, noun: &str) -> Option<String> {
    let all: u64 = visited.outcomes.values().sum();
    let first = visited.first.first()?;
    let (outcome, date) = (&first.outcome, archive::date_text(first.date_s));
    let which = format!("{} ({outcome} at {date})", talk::plain(&first.url));
    let urls = talk::count(all, noun);
    Some(if all == 1 {
        format!("{urls} not asked for, since it was visited before: {which}")
    } else {
        let outcomes = list(&visited.outcomes);
        format!("{urls} not asked for, since they were visited before ({outcomes}), as {which}")
    })
}

/// What a recrawl asked for and found; the numbers add to what it asked for, sitemaps left out. Visits that are made again
/// until they tell something are none of them.
pub(crate) fn again(report: &Report) -> String {
    let Report { unchanged, changed, moved, deleted, failed, .. } = report;
    let asked = talk::count(report.asked, "known URL");
    let sitemaps = match report.asked_sitemaps {
        0 => String::new(),
        sitemaps => format!(" and {}", talk::count(sitemaps, "known sitemap")),
    };
    let found = format!(
        "{unchanged} unchanged, {changed} changed, {moved} moved, {deleted} gone, {failed} failed"
    );
    if report.asked == 0 && report.asked_sitemaps > 0 {
        return format!("asked for {} again", talk::count(report.asked_sitemaps, "known sitemap"));
    }
    let mut vain = report.retried.clone();
    for (name, times) in &report.put_aside {
        *vain.entry(name.clone()).or_default() += times;
    }
    match part("in vain, made again or to be made again", "visit", &vain) {
        Some(vain) if report.asked == 0 => format!("asked for known URLs again: {vain}"),
        Some(vain) => format!("asked for {asked}{sitemaps} again: {found}; {vain}"),
        None => format!("asked for {asked}{sitemaps} again: {found}"),
    }
}

/// What the run met and is no page of the collection, by its reason; empty if nothing is.
pub(crate) fn left_out(report: &Report) -> Vec<String> {
    let no_page = report.page_statuses.iter().filter(|(status, _)| is_no_page(**status));
    let no_page = no_page.filter_map(|(status, times)| {
        // What was given up is told as that.
        let given_up = report.failures.get(&format!("http-{status}")).copied().unwrap_or(0);
        let times = times.saturating_sub(given_up);
        (times > 0).then(|| (format!("status {status}"), times))
    });
    let no_page: BTreeMap<String, u64> = no_page.collect();
    let mut dropped = report.dropped.clone();
    if report.pruned > 0 {
        dropped.insert(PRUNED.to_owned(), report.pruned);
    }
    // What these count is no link.
    let mut refused = report.refused.clone();
    let mut of_refused =
        |name: &str| -> BTreeMap<String, u64> { refused.remove_entry(name).into_iter().collect() };
    let (unread, cut, unstored) =
        (of_refused("parse-filter"), of_refused("sitemap-cut"), of_refused("store-filter"));
    let unreadable = refused.remove("unreadable").unwrap_or(0);
    let asides = &report.put_aside;
    let given_up = report.failures.iter().map(|(name, times)| {
        let aside = asides.get(name).copied().unwrap_or(0);
        (name.clone(), times.saturating_sub(aside))
    });
    let failures: BTreeMap<String, u64> = given_up.collect();
    let broken = refused.remove("sitemap-broken").unwrap_or(0);
    let mut parts: Vec<String> = [
        ("given up", "visit", &failures),
        ("in vain, whose hosts were set aside", "visit", asides),
        ("without a page", "URL", &no_page),
        ("dropped", "URL", &dropped),
        ("refused", "link", &refused),
        ("not read for links", "page", &unread),
        ("not read to the end", "sitemap", &cut),
        ("kept out of the archive", "answer", &unstored),
    ]
    .into_iter()
    .filter_map(|(what, noun, counts)| part(what, noun, counts))
    .collect();
    if report.forbidden_by_robots > 0 {
        let urls = talk::count(report.forbidden_by_robots, "URL");
        parts.push(format!("{urls} forbidden by robots.txt"));
    }
    if report.bad_lines > 0 {
        let first = report.bad_line.as_deref().map(talk::plain).unwrap_or_default();
        let lines = talk::count(report.bad_lines, "line");
        parts.push(format!("{lines} of inboxes not understood, the first: {first}"));
    }
    if broken > 0 {
        let sitemaps = talk::count(broken, "sitemap");
        parts.push(format!("{sitemaps} read up to where the end is missing or cannot be unpacked"));
    }
    if unreadable > 0 {
        let pages = talk::count(unreadable, "page");
        parts.push(format!(
            "{pages} archived whose type or coding is not read, and not found by search"
        ));
    }
    parts
}

/// Whether an answer is neither a page nor leads to one, and is not tried again.
fn is_no_page(status: u16) -> bool {
    match StatusClass::of(status) {
        StatusClass::Page | StatusClass::Moved | StatusClass::Passing => false,
        StatusClass::Gone => true,
        // To a condition it is as good as a page.
        StatusClass::Odd => status != 304,
    }
}

/// How many there are and by what, the reasons in parentheses; `None` if there are none.
fn part(what: &str, noun: &str, counts: &BTreeMap<String, u64>) -> Option<String> {
    let all: u64 = counts.values().sum();
    let named = |(name, times): (&String, &u64)| {
        if *times == all { named(name) } else { format!("{} {times}", named(name)) }
    };
    let reasons: Vec<String> = counts.iter().filter(|(_, times)| **times > 0).map(named).collect();
    (all > 0).then(|| format!("{} {what} ({})", talk::count(all, noun), reasons.join(", ")))
}

/// What people are told of a class of failures, a rule or a limit: the key that says so, if one does.
pub(super) fn named(name: &str) -> String {
    let keys: Vec<String> = keys_of(name).iter().map(|key| format!("`{key}`")).collect();
    let keys = keys.join(" or ");
    match keys.as_str() {
        "" => name.to_owned(),
        _ if name == TOO_LARGE => format!("{name} by {keys}"),
        _ => keys,
    }
}

/// The one class of failures that is a limit of ours.
const TOO_LARGE: &str = "too-large";
/// What `turn_s_max` keeps out is counted by itself.
const PRUNED: &str = "pruned";

/// The keys of the configuration that decide about a class of failures, a rule or a limit.
fn keys_of(name: &str) -> &'static [&'static str] {
    match name {
        TOO_LARGE => &["body_bytes_max"],
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

/// Which hosts ask not to be asked, and until when: the first that may be asked again is named; `None` if none does.
fn resting(report: &Report) -> Option<String> {
    let resting = report.aside.iter().filter_map(|aside| Some((aside.until_s?, &aside.host)));
    let others = resting.clone().count().checked_sub(1)?;
    let (until_s, host) = resting.min()?;
    let until = archive::date_text(until_s);
    let more = match others {
        0 => String::new(),
        others => format!(", and {} later", talk::count(others as u64, "more host")),
    };
    Some(format!("{host} rests, and is not asked before {until}{more}"))
}

/// Why there is no page, behind a colon: what ended the run or kept URLs out, then what became of the visits. What a
/// robots.txt answered is no reason; what it forbids is.
fn reasons(report: &Report) -> String {
    let limit = report.limit.iter().map(|limit| format!("stopped by `{limit}`"));
    let sent = (report.sent > 0).then(|| {
        let urls = talk::count(report.sent, "URL");
        format!("{urls} left to other agents")
    });
    let left_out = left_out(report).into_iter();
    // Answers that are tried again are among these, until they are given up.
    let tried = report.page_statuses.iter().filter(|(status, _)| **status != 200);
    let tried = tried.filter(|(status, _)| !is_no_page(**status));
    let tried = tried.map(|(status, times)| format!("status {status} ({times}×)"));
    let retried = part("to be tried again", "visit", &report.retried);
    let known = known(&report.visited, "seed");
    let known = known.map(|known| format!("{known}; `crivello crawl --recrawl` asks again"));
    let told = limit.chain(sent).chain(left_out).chain(tried).chain(retried);
    let all: Vec<String> = told.chain(resting(report)).chain(known).collect();
    if all.is_empty() { String::new() } else { format!(": {}", all.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A configuration of no fetchers: all that were to be there are.
    fn none() -> Config {
        Config { fetchers: 0, ..Config::default() }
    }

    fn counts<const N: usize>(counts: [(&str, u64); N]) -> BTreeMap<String, u64> {
        counts.map(|(name, times)| (name.to_owned(), times)).into()
    }

    #[test]
    fn an_answer_is_told_as_given_up_or_as_no_page() {
        let report = Report {
            page_statuses: [(200, 7), (206, 3), (300, 1), (302, 1), (304, 5), (404, 1), (408, 3)]
                .into(),
            failures: counts([("http-206", 2), ("http-408", 1)]),
            ..Report::default()
        };
        let wanted = [
            "3 visits given up (http-206 2, http-408 1)",
            "3 URLs without a page (status 206 1, status 300 1, status 404 1)",
        ];
        assert_eq!(left_out(&report), wanted);
    }

    #[test]
    fn what_is_left_out_is_told_with_the_key_that_says_so() {
        let report = Report {
            pages: 7,
            pages_new: 7,
            requests: 12,
            page_statuses: [(200, 7), (204, 1), (404, 1), (500, 2)].into(),
            failures: counts([("http-500", 1), ("too-large", 2)]),
            dropped: counts([("host-limit", 6)]),
            refused: counts([
                ("extension", 1),
                ("parse-filter", 3),
                ("scope", 2),
                ("sitemap-cut", 1),
                ("store-filter", 8),
            ]),
            forbidden_by_robots: 1,
            pruned: 2,
            ..Report::default()
        };
        let said = Summary::of(report, &none(), false, &BTreeSet::new()).summary;
        assert_eq!(said[0], "7 new pages with 12 requests, 0 B in 0.0 s");
        assert_eq!(
            said[1],
            "3 visits given up (http-500 1, too-large by `body_bytes_max` 2); \
             2 URLs without a page (status 204 1, status 404 1); 8 URLs dropped (`pages_per_host_max` or \
             `requests_per_host_max` 6, `turn_s_max` 2); 3 links refused (`skip_extensions` 1, `scope` 2); \
             3 pages not read for links (`parse_filter`); \
             1 sitemap not read to the end (`sitemap_bytes_max`); \
             8 answers kept out of the archive (`store_filter`); 1 URL forbidden by robots.txt"
        );
        assert!(said[2].contains("`crivello status`") && said[2].contains("`crivello why"));
        let list = Report { pages: 1, pages_new: 1, held: 40, ..Report::default() };
        let said = &Summary::of(list, &none(), false, &BTreeSet::new()).summary[0];
        let left = "; 40 URLs of sitemaps and redirects left for a crawl that follows links";
        assert!(said.ends_with(left), "{said}");
        let calm = Report { pages: 1, pages_new: 1, ..Report::default() };
        assert_eq!(Summary::of(calm, &none(), false, &BTreeSet::new()).summary.len(), 1);
    }

    #[test]
    fn a_limit_says_whether_the_next_run_goes_on() {
        let said = |limit: &str, waiting: u64| {
            let limit = Some(limit.to_owned());
            let report = Report { limit, waiting, requests: 1, ..Report::default() };
            Summary::of(report, &none(), false, &BTreeSet::new()).summary.remove(0)
        };
        assert!(
            said("pages_max", 1)
                .ends_with("stopped by `pages_max`, 1 URL left for a crawl with more")
        );
        assert!(said("time_s_max", 2).ends_with("2 URLs left: `crivello crawl` goes on with them"));
        assert!(said("pages_max", 0).ends_with("`pages_max` is reached, and no URL is left"));
    }

    #[test]
    fn a_visit_that_sets_its_host_aside_is_not_given_up() {
        let counts = |times: u64| BTreeMap::from([("protocol".to_owned(), times)]);
        let said = |given_up: u64, aside: u64| {
            let (failures, put_aside) = (counts(given_up + aside), counts(aside));
            left_out(&Report { failures, put_aside, ..Report::default() }).join("; ")
        };
        let aside = "1 visit in vain, whose hosts were set aside (protocol)";
        assert_eq!(said(0, 1), aside);
        assert_eq!(said(2, 1), format!("2 visits given up (protocol); {aside}"));
        assert_eq!(said(2, 0), "2 visits given up (protocol)");
    }

    #[test]
    fn a_host_of_which_nothing_waits_is_not_said_to_be_tried_again() {
        let said = |idle: bool| {
            let aside = serde_json::json!({ "host": "http://a", "why": "w", "idle": idle });
            let aside = vec![serde_json::from_value(aside).expect("the rest has defaults")];
            Summary::of(Report { aside, ..Report::default() }, &none(), false, &BTreeSet::new())
                .summary
                .remove(1)
        };
        assert_eq!(said(false), "set aside http://a: w; the next crawl tries it again");
        assert_eq!(said(true), "set aside http://a: w; none of its pages is left to ask for");
    }

    #[test]
    fn where_there_is_no_page_since_hosts_rest_it_is_said_until_when() {
        let said = |untils: &[Option<i64>]| {
            let aside = untils.iter().enumerate().map(|(at, until_s)| {
                let host = format!("http://{}", ["a", "b", "c"][at]);
                let aside = serde_json::json!({ "host": host, "until_s": until_s });
                serde_json::from_value(aside).expect("the rest has defaults")
            });
            let report = Report { aside: aside.collect(), ..Report::default() };
            let told =
                Summary::of(report, &none(), false, &BTreeSet::new()).check().expect_err("no page");
            told.to_string()
        };
        let none = "no page could be fetched";
        assert_eq!(said(&[]), none);
        assert_eq!(said(&[None]), none, "the next crawl asks");
        let rests = ": http://b rests, and is not asked before 1970-01-01T00:00:10Z";
        assert_eq!(said(&[None, Some(10)]), format!("{none}{rests}"));
        let later = ", and 1 more host later";
        assert_eq!(said(&[Some(11), Some(10)]), format!("{none}{rests}{later}"));
    }

    #[test]
    fn of_many_hosts_set_aside_the_first_are_named() {
        let aside = serde_json::json!({ "host": "http://a" });
        let aside: ::crawl::AsideHost =
            serde_json::from_value(aside).expect("the rest has defaults");
        let report = Report { aside: vec![aside; ASIDES_SHOWN_MAX + 20], ..Report::default() };
        let said = Summary::of(report, &none(), false, &BTreeSet::new()).summary;
        assert_eq!(said.len(), 1 + ASIDES_SHOWN_MAX + 1);
        assert_eq!(said.last().expect("a line"), "set aside 20 more hosts: see `crivello status`");
    }

    #[test]
    fn who_goes_on_is_said_once() {
        let report = Report { interrupted: true, waiting: 1, put_off: 2, ..Report::default() };
        let said = "1 URL left, and 2 URLs of earlier runs: `crivello crawl` goes on with them";
        assert_eq!(left(&report).as_deref(), Some(said));
        let report = Report { put_off: 2, ..Report::default() };
        let said = "2 URLs of earlier runs left: `crivello crawl` goes on with them";
        assert_eq!(left(&report).as_deref(), Some(said));
        assert_eq!(left(&Report::default()), None);
    }
}
