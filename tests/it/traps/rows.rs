//! Each row of docweb's table of traps in a crawl of its own. Bytes, time and memory are bounded. The report, the
//! archive or `crivello why` gives the reason for the end.
//!
//! **Invariant.** A crawl has the default limits, except those that its test sets.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Debug;
use std::fs;
use std::time::Duration;

use serde_json::Value;

use super::{Cost, Traps, addresses, found, run};
use crate::sandbox::{Sandbox, get};

/// The most memory for a crawl of one page.
const PAGE_RESIDENT_KIB_MAX: u64 = 128 << 10;
/// The most processor time, in a build without optimisation.
const PAGE_CPU_MAX: Duration = Duration::from_secs(5);
/// The most time for pages that hang, on a busy machine.
const HANGING_TIME_MAX: Duration = Duration::from_secs(20);

/// A crawl of some paths of the trap host, and its results.
struct Row {
    sandbox: Sandbox,
    traps: Traps,
    cost: Cost,
    report: Value,
}

impl Row {
    /// Crawls from `paths`, restricted to paths that begin with one of `below`.
    fn crawl(paths: &[&str], below: &[&str], keys: &str) -> Row {
        let sandbox = Sandbox::new();
        let traps = Traps::start(&sandbox);
        let url = |path: &&str| format!("http://traps.docweb.test:{}{path}", traps.port);
        let prefixes: Vec<String> = below.iter().map(url).collect();
        let scope = if below.is_empty() { "any" } else { "prefix" };
        let settings = format!(
            "[crawl]\nscope = \"{scope}\"\nscope_prefixes = {prefixes:?}\ndelay_ms = 1\n\
             ip_delay_ms = 0\nretry_ms = 50\nretries = 1\n{keys}\n{}",
            addresses()
        );
        fs::create_dir(sandbox.path("web")).expect("a folder");
        fs::write(sandbox.path("web/crivello.toml"), settings).expect("a file");
        let seeds: Vec<String> = paths.iter().map(url).collect();
        let seeds = seeds.iter().map(String::as_str);
        let arguments: Vec<&str> =
            ["crawl", "--dir", "web", "--quiet"].into_iter().chain(seeds).collect();
        let cost = run(&sandbox, &arguments);
        let report = fs::read(sandbox.path("web/frontier/report.json")).expect("a report");
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        // A crawl without a page fails.
        assert_eq!(cost.code, i32::from(report["pages"] == 0), "{report:#}");
        Row { sandbox, traps, cost, report }
    }

    fn url(&self, path: &str) -> String {
        if path.contains("://") {
            return path.to_owned();
        }
        format!("http://traps.docweb.test:{}{path}", self.traps.port)
    }

    /// Returns a count of the report; 0 if it is missing.
    fn count(&self, name: &str) -> u64 {
        name.split('/').fold(&self.report, |value, key| &value[key]).as_u64().unwrap_or(0)
    }

    #[track_caller]
    fn check_counts<const N: usize>(&self, counts: [(&str, u64); N]) {
        let had = counts.map(|(name, _)| (name, self.count(name)));
        assert_eq!(had, counts, "{:#}", self.report);
    }

    fn why(&self, path: &str) -> Value {
        let ran = self.sandbox.run(&["why", "--dir", "web", "--json", &self.url(path)]);
        serde_json::from_str(&ran.stdout).expect("JSON")
    }

    /// Checks the beginning of the verdict about a path.
    #[track_caller]
    fn check_verdict(&self, path: &str, expected: &str) {
        let why = self.why(path);
        let verdict = why["verdict"].as_str().expect("a verdict");
        assert!(verdict.starts_with(expected), "{path}: {why:#}");
    }

    /// Checks the kind of a path in the page table.
    #[track_caller]
    fn check_standing(&self, path: &str, expected: &str) {
        let why = self.why(path);
        assert!(why["standing"].as_str().is_some_and(|is| is.starts_with(expected)), "{why:#}");
    }

    /// Checks that a page was cut, and that `why` names the limit.
    #[track_caller]
    fn check_cut(&self, path: &str, expected: &str) {
        let why = self.why(path);
        assert!(why["cuts"][0].as_str().is_some_and(|cut| cut.starts_with(expected)), "{why:#}");
    }

    fn index(&self) -> Cost {
        let cost = run(&self.sandbox, &["index", "--dir", "web"]);
        assert_eq!(cost.code, 0);
        cost
    }

    /// Checks that a word finds exactly these paths.
    #[track_caller]
    fn check_found(&self, word: &str, paths: &[&str]) {
        let wanted: Vec<String> = paths.iter().map(|path| self.url(path)).collect();
        assert_eq!(found(&self.sandbox, word), wanted, "{word}");
    }
}

#[track_caller]
fn check_cost(cost: Cost) {
    assert!(cost.resident_kib < PAGE_RESIDENT_KIB_MAX && cost.cpu < PAGE_CPU_MAX, "{cost:?}");
}

/// Checks that the server's log has none of these paths.
#[track_caller]
fn check_never_asked<P: AsRef<str> + Debug>(row: &Row, paths: &[P]) {
    let asked: BTreeSet<String> = row.traps.asked().into_iter().map(|(_, path)| path).collect();
    assert!(asked.len() > 1, "the log has the others: {asked:?}");
    for path in paths {
        assert!(!asked.contains(path.as_ref()), "{path:?} was asked for");
    }
}

#[test]
fn needs_shared_redirect_loops_are_abandoned() {
    let row = Row::crawl(&["/loop/a", "/self"], &["/"], "");
    row.check_counts([("requests", 4), ("redirects", 3), ("pages", 0), ("waiting", 0)]);
    for path in ["/loop/a", "/loop/b", "/self"] {
        row.check_verdict(path, "fetched: it redirects");
    }
}

#[test]
fn needs_shared_three_redirects_work_and_forty_are_abandoned() {
    let row = Row::crawl(&["/chain/3", "/chain/40"], &["/"], "");
    row.check_counts([("pages", 1), ("redirects", 3 + 6), ("dropped/redirects", 1)]);
    row.check_verdict("/chain/35", "fetched: it redirects");
    row.check_verdict("/chain/34", "dropped: 6 redirects led to it, one more than `redirects_max`");
    row.index();
    row.check_found("chainend", &["/chain/0"]);
}

#[test]
fn needs_shared_a_calendar_is_limited_by_its_years() {
    let row = Row::crawl(&["/cal/2026/01"], &["/cal/"], "calendar_years = [2020, 2030]");
    let months = (2030 - 2020 + 1) * 12;
    row.check_counts([("pages", months), ("requests", months + 1), ("refused/calendar", 2)]);
    row.check_verdict("/cal/2031/01", "refused: it speaks of the year 2031");
    row.check_verdict("/cal/2019/12", "refused: it speaks of the year 2019");
    check_cost(row.cost);
}

#[test]
fn needs_shared_a_recursive_folder_is_limited_by_its_repetitions() {
    let row = Row::crawl(&["/deep/"], &["/deep/"], "");
    // All words of the letters x and y that have at most three of each: C(8, 4) - 1.
    row.check_counts([("pages", 69), ("requests", 70), ("waiting", 0)]);
    assert!(row.count("refused/repetition") > 0, "{:#}", row.report);
    row.check_verdict("/deep/x/x/x/x/", "refused: the segment \"x\" comes 4 times");
}

#[test]
fn needs_shared_a_shop_with_session_ids_has_ten_pages() {
    let row = Row::crawl(&["/shop/1"], &["/shop/"], "");
    row.check_counts([("pages", 10), ("requests", 11), ("waiting", 0)]);
    row.index();
    // Each is linked with a session id alone, and the link reaches it all the same.
    for number in 1..=10 {
        let why = row.why(&format!("/shop/{number}"));
        assert_eq!(why["verdict"], "fetched", "{why:#}");
        assert_eq!(why["found_on"].as_array().map(Vec::len), Some(10), "{why:#}");
    }
    let visited = row.url("/shop/3");
    assert_eq!(row.why("/shop/3?sid=00000000")["visited_as"].as_str(), Some(visited.as_str()));
}

#[test]
fn needs_shared_facets_are_limited_by_pages_per_host() {
    let row = Row::crawl(&["/facets"], &["/facets"], "pages_per_host_max = 40");
    row.check_counts([("pages", 40), ("requests", 41), ("waiting", 0)]);
    assert!(row.count("dropped/host-limit") > 100, "{:#}", row.report);
    row.check_verdict("/facets?color=0", "fetched");
    row.check_verdict(
        "/facets?sort=9",
        "dropped: its host has reached its limit of 40 pages (`pages_per_host_max`)",
    );
    check_cost(row.cost);
}

#[test]
fn needs_shared_soft_404_pages_are_limited_by_requests_per_host() {
    let row = Row::crawl(&["/soft404/start"], &["/soft404/"], "requests_per_host_max = 30");
    row.check_counts([("pages", 30), ("requests", 31), ("waiting", 0)]);
    assert!(row.count("dropped/host-limit") > 50, "{:#}", row.report);
    // The crawl is breadth-first, so the page after its last one is known.
    let address = format!("127.0.1.22:{}", row.traps.port);
    let mut queue = VecDeque::from(["/soft404/start".to_owned()]);
    let mut order: Vec<String> = queue.iter().cloned().collect();
    while order.len() <= 30 {
        let page = get(&address, &queue.pop_front().expect("it is endless")).1;
        for link in page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            queue.push_back(link.to_owned());
            order.push(link.to_owned());
        }
    }
    row.check_verdict(&order[29], "fetched");
    row.check_verdict(
        &order[30],
        "dropped: its host has reached its limit of 30 requests (`requests_per_host_max`)",
    );
}

#[test]
fn needs_shared_a_page_of_64_mib_is_not_kept() {
    let row = Row::crawl(&["/large"], &["/"], "");
    row.check_counts([("pages", 0), ("failures/too-large", 1), ("requests", 2)]);
    row.check_verdict("/large", "given up after 1 failure, the last: too-large: ");
    check_cost(row.cost);
    row.index();
    row.check_verdict("/large", "given up after 1 failure, the last: too-large: ");
    row.check_standing("/large", "no page: too-large");
}

#[test]
fn needs_shared_real_and_falsely_declared_gzip_are_read() {
    let row = Row::crawl(&["/gz/good", "/gz/lying"], &["/"], "");
    row.check_counts([("statuses/200", 3), ("waiting", 0)]);
    row.index();
    row.check_found("gzipgood", &["/gz/good"]);
    // It is parsed as its real type.
    row.check_found("gziplying", &["/gz/lying"]);
    row.check_standing("/gz/lying", "a page");
}

#[test]
fn needs_shared_a_gzip_bomb_costs_at_most_one_page() {
    let row = Row::crawl(&["/gz/bomb"], &["/"], "");
    row.check_counts([("statuses/200", 2), ("waiting", 0)]);
    row.check_verdict("/gz/bomb", "fetched");
    check_cost(row.cost);
    check_cost(row.index());
    row.check_standing("/gz/bomb", "a page");
    row.check_cut("/gz/bomb", "only the first 33554432 bytes of its body are read");
}

#[test]
fn needs_shared_binary_content_has_no_words() {
    let row = Row::crawl(&["/binary/png.html", "/binary/zip"], &["/"], "");
    row.check_counts([("statuses/200", 3), ("waiting", 0)]);
    row.index();
    for path in ["/binary/png.html", "/binary/zip"] {
        row.check_verdict(path, "fetched");
        row.check_standing(path, "no page: ");
    }
    for word in ["PNG", "IHDR", "PK", "binary"] {
        row.check_found(word, &[]);
    }
}

#[test]
fn needs_shared_a_truncated_answer_is_not_a_page() {
    // A page that answers shows that the host is well.
    let row = Row::crawl(&["/trunc", "/gz/good"], &["/"], "");
    row.check_counts([("pages", 1), ("failures/protocol", 1), ("requests", 4)]);
    row.check_verdict("/trunc", "given up after 2 failures, the last: protocol: ");
}

#[test]
fn needs_shared_slow_hanging_and_silent_servers_are_abandoned() {
    let keys = "timeout_ms = 500\nbody_timeout_ms = 700";
    let row = Row::crawl(&["/drip", "/hang", "/empty", "/gz/good"], &["/"], keys);
    row.check_counts([("pages", 1), ("failures/timeout", 2), ("failures/protocol", 1)]);
    assert!(row.cost.time < HANGING_TIME_MAX, "{:?}", row.cost);
    for (path, kind) in [("/drip", "timeout"), ("/hang", "timeout"), ("/empty", "protocol")] {
        row.check_verdict(path, &format!("given up after 2 failures, the last: {kind}: "));
    }
}

#[test]
fn needs_shared_200_kb_of_headers_are_refused() {
    let row = Row::crawl(&["/bighead", "/gz/good"], &["/"], "");
    row.check_counts([("pages", 1), ("failures/protocol", 1)]);
    row.check_verdict("/bighead", "given up after 2 failures, the last: protocol: ");
    check_cost(row.cost);
}

#[test]
fn needs_shared_every_status_gets_its_verdict() {
    let paths = [429, 500, 503, 204, 301, 403, 404, 410].map(|status| format!("/status/{status}"));
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let row = Row::crawl(&paths, &["/"], "");
    row.check_counts([("pages", 0), ("redirects", 1), ("waiting", 0)]);
    for path in &paths {
        let status = path.rsplit('/').next().expect("a status");
        row.check_verdict(
            path,
            &match status {
                "301" => "fetched: the server answered 301 without a valid Location".to_owned(),
                "429" | "500" | "503" => {
                    format!("failed: the server answered {status} to the last of 2 requests")
                }
                _ => format!("fetched: the server answered {status}"),
            },
        );
    }
}

#[test]
fn needs_shared_noindex_and_nofollow_are_obeyed() {
    let seeds = ["/meta/noindex", "/meta/xrobots", "/meta/nofollow"];
    let row = Row::crawl(&seeds, &["/"], "");
    row.check_counts([("pages", 4), ("requests", 5)]);
    row.index();
    row.check_found("foundword", &["/meta/found"]);
    row.check_found("nofollowword", &["/meta/nofollow"]);
    for word in ["noindexword", "xrobotsword", "secret1word", "secret2word", "secret3word"] {
        row.check_found(word, &[]);
    }
    let secrets = ["/meta/secret1", "/meta/secret2", "/meta/secret3"];
    for path in secrets {
        row.check_verdict(path, "not followed: all links to it have nofollow");
    }
    check_never_asked(&row, &secrets);
}

#[test]
fn needs_shared_five_addresses_of_one_page_are_one_result() {
    let row = Row::crawl(&["/canon/3"], &["/canon/"], "");
    row.check_counts([("pages", 5)]);
    row.index();
    row.check_found("canonword", &["/canon/1"]);
    let folded = row.why("/canon/3")["folded_behind"].clone();
    assert_eq!(folded.as_str(), Some(row.url("/canon/1").as_str()));
}

#[test]
fn needs_shared_refresh_and_base_targets_are_followed() {
    let row = Row::crawl(&["/refresh", "/base/page"], &["/"], "");
    row.check_counts([("pages", 4)]);
    row.index();
    row.check_found("refreshword", &["/refresh/target"]);
    row.check_found("baseword", &["/elsewhere/one.html"]);
}

#[test]
fn needs_shared_eleven_url_spellings_are_one_page() {
    let row = Row::crawl(&["/norm"], &["/norm"], "");
    row.check_counts([("pages", 2), ("requests", 3)]);
    row.index();
    row.check_found("normword", &["/norm/t"]);
}

#[test]
fn needs_shared_scripts_comments_and_private_paths_are_not_fetched() {
    let row = Row::crawl(&["/js", "/private/no.html", "/js?secret=1"], &["/"], "");
    row.check_counts([("pages", 1), ("requests", 2), ("forbidden_by_robots", 2)]);
    row.check_verdict("/private/no.html", "forbidden by robots.txt: forbidden by line 2");
    row.check_verdict("/js?secret=1", "forbidden by robots.txt: forbidden by line 3");
    row.check_verdict("/js/hidden", "never seen");
    check_never_asked(&row, &["/js/hidden", "/js/comment", "/private/no.html", "/js?secret=1"]);
}

#[test]
fn needs_shared_a_redirect_to_a_link_local_address_is_not_followed() {
    let row = Row::crawl(&["/offsite"], &[], "");
    // Without `contact`, the crawl requests nothing from other hosts. With `contact` this address is refused as well;
    // `crates/crawl/src/frontier/tests/politeness.rs` tests that without a network.
    row.check_counts([("pages", 0), ("requests", 2), ("failures/contact", 1)]);
    row.check_verdict("/offsite", "fetched: it redirects");
    row.check_verdict(
        "http://169.254.169.254/latest/meta-data/",
        "refused: contact: 169.254.169.254 at 169.254.169.254 belongs to others",
    );
}

#[test]
fn needs_shared_deeply_nested_elements_cost_at_most_one_page() {
    let row = Row::crawl(&["/nesting"], &["/"], "");
    row.check_counts([("pages", 1), ("requests", 2)]);
    check_cost(row.cost);
    check_cost(row.index());
    row.check_found("nestedword", &["/nesting"]);
}

#[test]
fn needs_shared_excess_links_are_cut_and_limited_by_host() {
    let row = Row::crawl(&["/manylinks"], &["/"], "requests_per_host_max = 20");
    row.check_counts([("pages", 1), ("requests", 21), ("statuses/404", 19)]);
    row.check_counts([("dropped/host-limit", 20_000 - 19)]);
    check_cost(row.cost);
    row.check_verdict("/status/404?0", "fetched: the server answered 404");
    row.check_verdict(
        "/status/404?19999",
        "dropped: its host has reached its limit of 20 requests (`requests_per_host_max`)",
    );
    row.check_verdict(
        "/status/404?20000",
        "dropped: it is linked only after the first 20,000 links of a page (`links_per_page_max`)",
    );
    check_cost(row.index());
    row.check_cut("/manylinks", "only the first 20000 of its links are read");
}

#[test]
fn needs_shared_bom_nul_chunked_and_http10_answers_are_read() {
    let row = Row::crawl(&["/utf8bom", "/nul", "/chunked", "/http10"], &["/"], "");
    row.check_counts([("pages", 4)]);
    row.index();
    row.check_found("naïve", &["/utf8bom"]);
    row.check_found("beforeafter OR before", &["/nul"]);
    row.check_found("chunkedword", &["/chunked"]);
    row.check_found("http10word", &["/http10"]);
}
