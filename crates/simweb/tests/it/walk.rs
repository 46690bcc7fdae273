//! The truth against a walk over the web: what is reachable by its rules is what the truth says.

use crate::{
    client::Client,
    walker::{Seen, Walk},
};
use encoding_rs::Encoding;
use simweb::{Kind, Options, Request, Server, Truth, Web, judge};
use std::collections::{BTreeMap, BTreeSet};
use url::Url;

const CAP: u64 = 60;

fn path_of(url: &Url) -> String {
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{}{query}", url.path())
}

fn walk_in_memory(web: &Web, cap: u64) -> Walk {
    Walk::run(&web.seeds(), cap, &mut |url, attempt| {
        let path = path_of(url);
        let host = url.host_str().expect("a host");
        let reply = web.respond(&Request { attempt, ..Request::get(host, &path) });
        Seen {
            status: reply.status,
            location: reply.header("Location").map(str::to_owned),
            robots_tag: reply.header("X-Robots-Tag").map(str::to_owned),
            content_type: reply.header("Content-Type").unwrap_or_default().to_owned(),
            body: reply.body,
        }
    })
}

/// Compares a walk with the truth; pages that are no page of the truth must be among its others.
fn check_walk(walk: &Walk, truth: &Truth) {
    let walked: BTreeSet<&str> = walk.pages.keys().map(String::as_str).collect();
    let listed: BTreeSet<&str> = truth.pages.iter().map(|page| page.url.as_str()).collect();
    let missing: Vec<_> = listed.difference(&walked).collect();
    assert!(missing.is_empty(), "in the truth, but not reachable: {missing:?}");
    let others: BTreeSet<&str> = truth.others.iter().map(String::as_str).collect();
    let capped: BTreeSet<&str> = truth.capped.iter().map(|capped| capped.host.as_str()).collect();
    let surplus: Vec<_> = walked
        .difference(&listed)
        .filter(|url| !others.contains(*url))
        .filter(|url| !capped.contains(Url::parse(url).expect("a URL").host_str().expect("a host")))
        .collect();
    assert!(surplus.is_empty(), "reachable, but not in the truth: {surplus:?}");
    for capped in &truth.capped {
        let pages = walk
            .pages
            .keys()
            .filter(|url| Url::parse(url).expect("a URL").host_str() == Some(&capped.host));
        let pages = u64::try_from(pages.count()).expect("a few");
        assert!((capped.pages_min..=capped.pages_max).contains(&pages), "{capped:?}: {pages}");
    }
}

#[test]
fn the_truth_of_later_editions_lists_their_reachable_pages() {
    let web = Web::new(Options { edition: 5, ..Options::default() }, 8080).expect("good options");
    check_walk(&walk_in_memory(&web, CAP), &web.truth(CAP));
}

#[test]
fn the_truth_lists_exactly_the_reachable_pages() {
    let web = Web::new(Options::default(), 8080).expect("good options");
    let truth = web.truth(CAP);
    let walk = walk_in_memory(&web, CAP);
    check_walk(&walk, &truth);
    let url = |kind, path| web.url(web.special(kind).expect("a special host"), path);
    let mut banned = walk.banned;
    assert!(banned.remove(&url(Kind::Dead, "/")), "no robots.txt, no page");
    assert!(banned.insert(url(Kind::Robots503, "/never.html")), "not met: its link is not read");
    let forbidden: BTreeSet<_> = truth.forbidden.into_iter().collect();
    assert_eq!(banned, forbidden);
    let pages = 1 + 12 * 40 + 40; // portal, ordinary hosts, mirror
    assert!(truth.pages.len() > pages + usize::try_from(CAP).expect("a few"), "special hosts too");
}

#[test]
fn capped_hosts_are_compared_by_page_count() {
    let web = Web::new(Options::default(), 8080).expect("good options");
    let truth = web.truth(25);
    assert_eq!(truth.capped.len(), 12 + 2, "ordinary hosts, calendar and mirror");
    check_walk(&walk_in_memory(&web, 25), &truth);
}

#[test]
fn random_errors_do_not_change_the_walk_result() {
    let options = Options { error_rate: 0.3, hosts: 3, pages_per_host: 30, ..Options::default() };
    let web = Web::new(options, 8080).expect("good options");
    check_walk(&walk_in_memory(&web, CAP), &web.truth(CAP));
}

#[test]
fn many_hosts_are_linked_from_directory_pages() {
    let options = Options { hosts: 2500, pages_per_host: 1, ..Options::default() };
    let web = Web::new(Options { oddities: false, ..options }, 8080).expect("good options");
    let truth = web.truth(CAP);
    assert_eq!(truth.pages.len(), 2500 + 4);
    check_walk(&walk_in_memory(&web, CAP), &truth);
}

#[test]
fn every_page_contains_its_title_and_needle() {
    let web = Web::new(Options::default(), 8080).expect("good options");
    let truth = web.truth(CAP);
    let walk = walk_in_memory(&web, CAP);
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for page in &truth.pages {
        let text = decode(&page.url, &walk.pages[&page.url]);
        let title = page.title.replace('&', "&amp;");
        assert!(text.contains(&format!("<title>{title}</title>")), "title of {}", page.url);
        assert!(text.contains(&format!("<html lang=\"{}\"", page.language)), "{}", page.url);
        assert_eq!(text.to_lowercase().matches(&page.needle).count(), 1, "needle of {}", page.url);
        if let Some(original) = &page.copy_of {
            let original = truth.page(original).expect("the original is listed");
            assert_eq!(original.needle, page.needle);
        } else {
            let other = owners.insert(&page.needle, &page.url);
            assert_eq!(other, None, "{} has this needle too: {}", page.url, page.needle);
        }
    }
}

/// The text of a page; on the charset host the last part of the path says the encoding.
fn decode(url: &str, body: &[u8]) -> String {
    let stem = url.rsplit('/').next().and_then(|name| name.strip_suffix(".html"));
    let label = match stem {
        Some("lying-meta") => "windows-1251",
        stem => stem.unwrap_or_default(),
    };
    let encoding = Encoding::for_label(label.as_bytes()).unwrap_or(encoding_rs::UTF_8);
    encoding.decode(body).0.into_owned()
}

#[test]
fn in_degrees_follow_a_power_law() {
    let options = Options { hosts: 6, pages_per_host: 700, oddities: false, ..Options::default() };
    let web = Web::new(options, 8080).expect("good options");
    let walk = walk_in_memory(&web, 700);
    assert_eq!(walk.pages.len(), 1 + 6 * 700);
    // Links to roots are navigation, not choice.
    let degrees = walk.links.iter().filter(|(url, _)| !url.ends_with("8080/"));
    let degrees: Vec<u32> = degrees.map(|(_, &degree)| degree).collect();
    let at_least = |least| degrees.iter().filter(|&&degree| degree >= least).count();
    // With exponent 2 half as many pages have twice as many links.
    for least in [4, 8, 16, 32] {
        let (many, few) = (at_least(least), at_least(2 * least));
        assert!(few * 5 > many && few * 5 < many * 4, "at least {least}: {many}, twice: {few}");
    }
}

#[test]
fn a_walk_over_sockets_is_judged_clean() {
    let options = Options { hosts: 4, pages_per_host: 20, ..Options::default() };
    let server = Server::start(options).expect("loopback");
    let web = server.web();
    let truth = web.truth(30);
    let walk = Walk::run(&web.seeds(), 30, &mut |url, _| fetch(web, url));
    check_walk(&walk, &truth);
    let mut verdict = judge(&truth, &server.log(), 0);
    // The walker makes no pauses, so it ignores the delay of the one host that has one.
    let hurried = verdict.gaps.drain(..).map(|gap| gap.target).collect::<BTreeSet<_>>();
    assert_eq!(hurried, BTreeSet::from(["robots.localhost".to_owned()]));
    assert!(verdict.is_clean(), "{verdict}");
    assert_eq!(server.log_dropped(), 0);
    let hasty = judge(&truth, &server.log(), 1000);
    assert!(!hasty.gaps.is_empty() && hasty.misses.is_empty(), "{hasty}");
}

fn fetch(web: &Web, url: &Url) -> Seen {
    let host = web.host(url.host_str().expect("a host")).expect("known");
    let mut seen = Seen {
        status: 0,
        location: None,
        robots_tag: None,
        content_type: String::new(),
        body: Vec::new(),
    };
    let Ok(mut client) = Client::connect(host.address, web.port()) else { return seen };
    let path = path_of(url);
    client.send(&format!("GET {path} HTTP/1.1\r\nHost: {}:{}\r\n\r\n", host.name, web.port()));
    let answer = client.head();
    let length = answer.header("Content-Length").and_then(|length| length.parse().ok());
    seen.body = client.rest(length.unwrap_or(0).min(1 << 16));
    seen.status = answer.status;
    seen.location = answer.header("Location").map(str::to_owned);
    seen.robots_tag = answer.header("X-Robots-Tag").map(str::to_owned);
    answer.header("Content-Type").unwrap_or_default().clone_into(&mut seen.content_type);
    seen
}
