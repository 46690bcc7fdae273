//! `--list` fetches exactly the given URLs, whatever recrawls and earlier runs left.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::sandbox::Sandbox;
use crate::why_servers::{HTML, Pages, page};

/// Pages that the first page links to.
const PAGES: usize = 10;

/// A site, and a collection for it.
struct Site {
    server: Pages,
    sandbox: Sandbox,
}

impl Site {
    fn serve() -> Site {
        let links: Vec<String> = (0..PAGES).map(|page| format!("/p{page}")).collect();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        let server = Pages::serve(&[("/", &page(&links)), ("*", HTML)]);
        let text = "[crawl]\ndelay_ms = 5\nip_delay_ms = 0\nretry_ms = 5\n";
        let sandbox = Sandbox::with_settings(text);
        Site { server, sandbox }
    }

    /// Returns the URL of a path. A sitemap `/sitemap-1-x.xml` names the pages `/p1` and `/px`.
    fn url(&self, path: &str) -> String {
        if let Some(pages) = path.strip_prefix("/sitemap-").and_then(|it| it.strip_suffix(".xml")) {
            let loc = |page| format!("<url><loc>ROOT/p{page}</loc></url>");
            let locs: String = pages.split('-').map(loc).collect();
            self.server.set(path, &format!("{HTML}<urlset>{locs}</urlset>"));
        }
        self.server.url(path)
    }

    /// Returns the paths that were requested since the last call, without robots.txt.
    fn asked(&self) -> Vec<String> {
        let requests = self.server.take_requests();
        let paths = requests.iter().filter_map(|head| head.split(' ').nth(1));
        paths.filter(|path| *path != "/robots.txt").map(str::to_owned).collect()
    }

    /// Crawls with these flags; paths become URLs of the site. Returns the report and the requested paths.
    fn crawl(&self, flags: &[&str]) -> (Value, Vec<String>) {
        let flags = flags.iter().map(|flag| match flag {
            path if path.starts_with('/') => self.url(path),
            flag => (*flag).to_owned(),
        });
        let flags: Vec<String> = flags.collect();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let report = self.sandbox.json(&[&["crawl", "--dir", "web"], &flags[..]].concat());
        let mut asked = self.asked();
        asked.sort_unstable();
        (report, asked)
    }

    /// Interrupts a full recrawl by its time limit. Returns the pages that it requested, and the others.
    fn stop_a_recrawl(&self) -> (Vec<String>, Vec<String>) {
        self.crawl(&["/"]);
        let short = ["--max-time", "2", "--set", "crawl.delay_ms=300"];
        let (_, asked) = self.crawl(&[&["--recrawl"], &short[..]].concat());
        let all = (0..PAGES).map(|page| format!("/p{page}"));
        let (done, left): (Vec<String>, Vec<String>) = all.partition(|page| asked.contains(page));
        assert!(done.len() > 1 && left.len() > 2, "{done:?} {left:?}");
        (done, left)
    }
}

#[test]
fn a_list_crawl_fetches_only_the_listed_urls() {
    let site = Site::serve();
    assert_eq!(site.crawl(&["/"]).1.len(), PAGES + 1);
    let soon = ["--set", "crawl.recrawl_min_s=0", "--set", "crawl.recrawl_max_s=0"];
    for (flags, wanted) in [
        (&["--list"][..], &[][..]),
        (&["--recrawl", "--list"], &["/"]),
        (&["--list", "/p3"], &[]),
        (&["--recrawl", "--list", "/p3"], &["/p3"]),
        (&["--recrawl=given", "--list", "/p3"], &["/p3"]),
        (&["--recrawl=due", "--list", "/p3"], &[]),
        (&[&["--recrawl=due", "--list", "/p3"], &soon[..]].concat(), &["/p3"]),
        (&["--set", "crawl.recrawl=all", "--list", "/p3"], &["/p3"]),
        (&[&["--set", "crawl.recrawl=due", "--list", "/p3"], &soon[..]].concat(), &["/p3"]),
        (&["--recrawl", "--list", "/p3", "/new"], &["/new", "/p3"]),
    ] {
        let (report, asked) = site.crawl(flags);
        assert_eq!(asked, wanted, "{flags:?}");
        assert_eq!((&report["waiting"], &report["put_off"]), (&0.into(), &0.into()), "{report}");
        assert!(!site.sandbox.path("web/frontier/recrawl").exists(), "{flags:?}");
    }
    let ran = site.sandbox.run(&["crawl", "--dir", "web", "--recrawl=given", "--list"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
}

#[test]
fn an_unfinished_recrawl_continues_after_a_list() {
    let site = Site::serve();
    let (done, mut left) = site.stop_a_recrawl();
    let page = left.pop().expect("some are left");
    let (report, asked) = site.crawl(&["--list", &page]);
    assert_eq!((&asked[..], &report["put_off"]), (&[page][..], &left.len().into()), "{report}");
    let page = left.pop().expect("some are left");
    let (report, asked) = site.crawl(&["--recrawl", "--list", &page]);
    assert_eq!((&asked[..], &report["put_off"]), (&[page][..], &left.len().into()), "{report}");
    // Fetched pages are fetched again only on request.
    assert_eq!(site.crawl(&["--recrawl", "--list", &done[0]]).1, [done[0].clone()]);
    let (report, asked) = site.crawl(&["--list", &done[0]]);
    assert!(asked.is_empty() && report["recrawled"] == false, "{report}");
    let asked = site.crawl(&[]).1;
    assert_eq!(asked, left, "and none of them twice");
    assert!(!site.sandbox.path("web/frontier/recrawl").exists());
    assert_eq!(site.crawl(&[]).1, [""; 0]);
}

/// The next run with the same command continues an interrupted one.
#[test]
fn given_urls_are_refetched_even_if_already_recrawled() {
    let site = Site::serve();
    let (done, left) = site.stop_a_recrawl();
    let (report, asked) = site.crawl(&["--recrawl=given", &done[0]]);
    let wanted: BTreeSet<&String> = left.iter().chain([&done[0]]).collect();
    assert_eq!(asked.iter().collect::<BTreeSet<_>>(), wanted, "{report}");
    assert_eq!(asked.len(), wanted.len(), "none of them twice: {asked:?}");
    assert!(!site.sandbox.path("web/frontier/recrawl").exists());
    let short = ["--max-time", "1", "--set", "crawl.delay_ms=600"];
    let given = ["--recrawl=given", "/p1", "/p2", "/p3"];
    let (_, first) = site.crawl(&[&given[..], &short[..]].concat());
    assert!((1..3).contains(&first.len()), "{first:?}");
    let (_, second) = site.crawl(&given);
    assert_eq!(first.len() + second.len(), 3, "{first:?} {second:?}");
    assert_eq!(site.crawl(&given).1, ["/p1", "/p2", "/p3"]);
}

/// A page that an open recrawl has fetched counts once if a list names it as well.
#[test]
fn pages_fetched_twice_in_a_recrawl_count_once() {
    let site = Site::serve();
    let (done, _) = site.stop_a_recrawl();
    assert!(!done.is_empty());
    let given: Vec<&str> = done.iter().map(String::as_str).collect();
    site.crawl(&[&["--recrawl", "--list"], &given[..]].concat());
    let (gone_on, _) = site.crawl(&[]);
    let (over, asked) = site.crawl(&[]);
    assert_eq!((&gone_on["pages"], &asked[..]), (&over["pages"], &[][..]), "{gone_on} {over}");
}

#[test]
fn earlier_seeds_wait_for_a_list_and_are_counted() {
    let site = Site::serve();
    let (_, first) = site.crawl(&["--list", "/a", "/b", "/c", "--max-pages", "1"]);
    assert_eq!(first.len(), 1);
    let (report, asked) = site.crawl(&["--list", "/d"]);
    assert_eq!((&asked[..], &report["put_off"]), (&["/d".to_owned()][..], &2.into()), "{report}");
    let (report, rest) = site.crawl(&[]);
    assert_eq!(first.len() + rest.len(), 3, "{first:?} {rest:?}");
    assert_eq!(report["put_off"], 0, "{report}");
}

/// The links of earlier runs are not read to count their targets.
#[test]
fn after_a_list_status_counts_only_listed_urls() {
    let site = Site::serve();
    let left = || {
        let crawl = site.sandbox.json(&["status", "--dir", "web"])["crawl"].take();
        (crawl["waiting"].clone(), crawl["alone"].clone())
    };
    let (root, other) = (site.url("/"), site.url("/other"));
    site.sandbox.done(&["crawl", &root, "--max-pages", "1", "--dir", "web"]);
    site.sandbox.done(&["crawl", "--list", &other, "--dir", "web"]);
    assert_eq!(left(), (0.into(), true.into()));
    site.sandbox.done(&["crawl", "--dir", "web"]);
    assert_eq!(left(), (0.into(), false.into()));
    assert_eq!(site.asked().len(), 2 + PAGES);
}

/// A list includes the URLs of its sitemaps, new or known.
#[test]
fn a_sitemap_list_refetches_all_urls_of_the_sitemap() {
    let site = Site::serve();
    let (done, left) = site.stop_a_recrawl();
    let sitemap = format!("/sitemap-{}-{}.xml", &done[0][2..], &left[0][2..]);
    let mut wanted = vec![done[0].clone(), left[0].clone(), sitemap.clone()];
    wanted.sort_unstable();
    for _ in 0..2 {
        let (report, asked) = site.crawl(&["--recrawl", "--list", "--sitemap", &sitemap]);
        assert_eq!(asked, wanted, "{report}");
        assert_eq!(report["put_off"], left.len() - 1, "{report}");
    }
    let (report, asked) = site.crawl(&["--list", "--sitemap", &sitemap]);
    assert!(asked.is_empty(), "nobody asks for it again: {report}");
    let (report, asked) = site.crawl(&[]);
    assert_eq!(asked, left[1..], "and none of them twice: {report}");
    assert!(!site.sandbox.path("web/frontier/recrawl").exists());
}

/// Also URLs that were unknown when it began.
#[test]
fn a_stopped_list_recrawl_continues_with_the_same_command() {
    let site = Site::serve();
    site.crawl(&["/"]);
    let sitemap = "/sitemap-0-1-2-3-4.xml";
    let list = ["--recrawl", "--list", "/p5", "/new", "--sitemap", sitemap];
    let short = ["--max-time", "3", "--set", "crawl.delay_ms=600"];
    let (_, first) = site.crawl(&[&list[..], &short[..]].concat());
    assert!((4..8).contains(&first.len()) && first.contains(&"/new".to_owned()), "{first:?}");
    let (report, second) = site.crawl(&list);
    let mut asked = [first, second].concat();
    asked.sort_unstable();
    let wanted = ["/new", "/p0", "/p1", "/p2", "/p3", "/p4", "/p5", sitemap];
    assert_eq!(asked, wanted, "none of them twice: {report}");
    assert_eq!((&report["pages"], &report["put_off"]), (&12.into(), &0.into()), "{report}");
    assert!(!site.sandbox.path("web/frontier/recrawl").exists());
    assert_eq!(site.crawl(&list).1, wanted, "and then all of them again");
}

/// Interrupted after the sitemap and before the known page in it: any crawl fetches the rest, and no finished page
/// again.
#[test]
fn a_list_stopped_after_its_sitemap_refetches_nothing() {
    let sitemap = "/sitemap-5-x1-x2-x3-x4.xml";
    let list = ["--recrawl", "--list", "/p0", "/p1", "--sitemap", sitemap];
    for next in [&list[..], &[]] {
        let site = Site::serve();
        site.crawl(&["/"]);
        let short = ["--max-time", "3", "--set", "crawl.delay_ms=600"];
        let (_, first) = site.crawl(&[&list[..], &short[..]].concat());
        assert!(first.iter().any(|path| path == "/px1"), "the sitemap was read: {first:?}");
        assert!(first.iter().all(|path| path != "/p5" && path != "/px4"), "{first:?}");
        let (report, second) = site.crawl(next);
        let mut asked = [first, second].concat();
        asked.sort_unstable();
        let wanted = ["/p0", "/p1", "/p5", "/px1", "/px2", "/px3", "/px4", sitemap];
        assert_eq!(asked, wanted, "none of them twice: {report}");
        assert!(!site.sandbox.path("web/frontier/recrawl").exists());
    }
}

/// Killed at its first request, or after its sitemap: any crawl continues it, including known pages that only the
/// sitemap names.
#[test]
fn any_crawl_continues_a_killed_list() {
    let sitemap = "/sitemap-5-6-x1-x2-x3.xml";
    let wanted = ["/p0", "/p5", "/p6", "/px1", "/px2", "/px3", sitemap];
    for requests in [1, 2, 3] {
        let site = Site::serve();
        site.crawl(&["/"]);
        let (page, list) = (site.url("/p0"), site.url(sitemap));
        let flags =
            ["--recrawl", "--list", &page, "--sitemap", &list, "--set", "crawl.delay_ms=500"];
        let mut running =
            site.sandbox.start(&[&["crawl", "--dir", "web", "-q"], &flags[..]].concat());
        let mut first = Vec::new();
        while first.len() < requests {
            assert!(running.child.try_wait().expect("a process").is_none(), "it has not ended");
            thread::sleep(Duration::from_millis(2));
            first.extend(site.asked());
        }
        running.child.kill().expect("it runs");
        running.child.wait().expect("it ends");
        first.extend(site.asked());
        // A list of all addresses continues it as well.
        let short = ["--list", "--max-time", "1", "--set", "crawl.delay_ms=60000"];
        site.sandbox.run(&[&["crawl", "--dir", "web"], &short[..]].concat());
        let (report, second) = site.crawl(&[]);
        let all: BTreeSet<&str> = first.iter().chain(&second).map(String::as_str).collect();
        assert_eq!(all, BTreeSet::from(wanted), "{first:?} {second:?} {report}");
        // Only the interrupted request is made again.
        let twice: Vec<&String> = first.iter().filter(|path| second.contains(path)).collect();
        assert!(twice.iter().all(|path| Some(*path) == first.last()), "{first:?} {second:?}");
        assert_eq!(report["pages"], PAGES + 4, "{report}");
        assert!(!site.sandbox.path("web/frontier/recrawl").exists());
        assert_eq!(site.crawl(&[]).1, [""; 0]);
    }
}

/// A full collection still recrawls a list.
#[test]
fn a_full_collection_still_fetches_a_sitemap_list() {
    let site = Site::serve();
    site.crawl(&["/"]);
    let sitemap = "/sitemap-5-x1.xml";
    let pages = (PAGES + 1).to_string();
    let list = ["--recrawl", "--list", "--sitemap", sitemap, "--max-pages", &pages];
    let (report, asked) = site.crawl(&list);
    assert_eq!(asked, ["/p5", sitemap], "{report}");
    assert_eq!((&report["pages"], &report["waiting"]), (&11.into(), &1.into()));
    assert!(!site.sandbox.path("web/frontier/recrawl").exists());
}

/// A sitemap that the interrupted run could not read is read by the next run, which fetches all its URLs.
#[test]
fn any_crawl_continues_a_list_with_an_unread_sitemap() {
    let site = Site::serve();
    site.crawl(&["/"]);
    let sitemap = "/sitemap-5.xml";
    let list = ["--recrawl", "--list", "/p0", "/p1", "/p2", "--sitemap", sitemap];
    let short = ["--max-time", "1", "--set", "crawl.delay_ms=800"];
    let (_, first) = site.crawl(&[&list[..], &short[..]].concat());
    assert!(first.len() < 2, "{first:?}");
    let (report, second) = site.crawl(&[]);
    let mut asked = [first, second].concat();
    asked.sort_unstable();
    assert_eq!(asked, ["/p0", "/p1", "/p2", "/p5", sitemap], "{report}");
    assert!(!site.sandbox.path("web/frontier/recrawl").exists());
}

/// A kill may leave one file without the other: without seeds, no run has begun.
#[test]
fn a_list_killed_before_saving_seeds_has_not_started() {
    let left = |recrawl: &dyn Fn(&Site) -> Option<String>| {
        let site = Site::serve();
        let frontier = site.sandbox.path("web/frontier");
        fs::create_dir(&frontier).expect("a folder");
        fs::write(frontier.join("list"), "").expect("room");
        if let Some(text) = recrawl(&site) {
            fs::write(frontier.join("recrawl"), text).expect("room");
        }
        site
    };
    let site = left(&|_| None);
    let list = site.sandbox.path("web/frontier/list");
    let (report, asked) = site.crawl(&["/"]);
    assert_eq!((asked.len(), &report["pages"]), (PAGES + 1, &(PAGES + 1).into()), "{asked:?}");
    assert!(!list.exists());

    let site = left(&|_| None);
    assert_eq!(site.crawl(&["--list", "/"]).1, ["/"]);
    assert_eq!(site.crawl(&["/p1"]).1, ["/p1"], "it goes on as a list");

    // The recrawl file is written before the seeds, and includes them.
    let site = left(&|site| {
        let text = format!("crivello recrawl 6\nrecrawls 0\nseeds 1\n{}\n", site.url("/"));
        Some(durable::seal(&text))
    });
    assert_eq!(site.crawl(&[]).1, ["/"]);
}
