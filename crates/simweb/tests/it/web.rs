//! The web as a function: the same bytes for the same options, other bytes for others, and an
//! answer to anything.

use proptest::prelude::*;
use simweb::{Options, Reply, Request, SimwebError, Truth, Web};

fn web(options: Options) -> Web {
    Web::new(options, 8080).expect("good options")
}

/// The reply of every page of the truth, by URL.
fn replies(web: &Web) -> Vec<(String, Reply)> {
    let pages = web.truth(50).pages;
    let answers = pages.into_iter().map(|page| {
        let (host, path) = split(&page.url);
        let reply = web.respond(&Request::get(host, path));
        (page.url.clone(), reply)
    });
    answers.collect()
}

fn split(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").expect("http");
    rest.split_at(rest.find('/').expect("a path"))
}

#[test]
fn equal_options_give_equal_bytes() {
    let (one, two) = (web(Options::default()), web(Options::default()));
    assert_eq!(one.hosts(), two.hosts());
    assert_eq!(one.truth(50), two.truth(50));
    assert_eq!(replies(&one), replies(&two));
}

#[test]
fn another_seed_gives_another_web() {
    let one = web(Options::default()).truth(50);
    let two = web(Options { seed: 2, ..Options::default() }).truth(50);
    assert_eq!(one.pages.len(), two.pages.len());
    let same = one.pages.iter().zip(&two.pages).filter(|(a, b)| a.needle == b.needle).count();
    assert_eq!(same, 0);
}

#[test]
fn the_truth_survives_json() {
    let truth = web(Options::default()).truth(50);
    let text = serde_json::to_string(&truth).expect("plain data");
    let back: Truth = serde_json::from_str(&text).expect("its own text");
    assert_eq!(back, truth);
    let fewer = back.without_sitemaps();
    assert_eq!(truth.pages.len() - fewer.pages.len(), 8, "pages that only sitemaps name");
}

#[test]
fn the_truth_is_sorted_by_url() {
    let truth = web(Options::default()).truth(50);
    assert!(truth.pages.is_sorted_by(|a, b| a.url < b.url));
    for page in &truth.pages {
        assert_eq!(truth.page(&page.url), Some(page));
    }
    assert_eq!(truth.page("http://nowhere/"), None);
}

#[test]
fn the_page_follows_the_first_errors() {
    let web = web(Options { error_rate: 1.0, ..Options::default() });
    let status = |path, attempt| {
        web.respond(&Request { attempt, ..Request::get("garden.localhost", path) }).status
    };
    assert_eq!([0, 1, 2, 3].map(|attempt| status("/", attempt)), [503, 503, 200, 200]);
    assert_eq!(status("/robots.txt", 0), 404);
}

#[test]
fn latency_varies_by_at_most_half() {
    let web = web(Options { latency_ms: 100, ..Options::default() });
    let delays: Vec<_> = (0..500)
        .map(|n| web.respond(&Request::get("garden.localhost", &format!("/{n}"))).delay_ms)
        .collect();
    assert!(delays.iter().all(|delay| (50..=150).contains(delay)));
    let mean = delays.iter().sum::<u64>() / 500;
    assert!((90..=110).contains(&mean), "mean {mean}");
}

#[test]
fn an_option_out_of_range_is_reported() {
    let cases = [
        ("hosts", Options { hosts: 0, ..Options::default() }),
        ("pages_per_host", Options { pages_per_host: 1_000_001, ..Options::default() }),
        ("addresses", Options { addresses: 0, ..Options::default() }),
        ("addresses", Options { numeric: true, ..Options::default() }),
        ("page_bytes_min", Options { page_bytes_min: 2 << 20, ..Options::default() }),
        ("latency_ms", Options { latency_ms: 60_001, ..Options::default() }),
        ("error_rate", Options { error_rate: f64::NAN, ..Options::default() }),
    ];
    for (name, options) in cases {
        match Web::new(options, 1) {
            Err(SimwebError::Option { option, .. }) => assert_eq!(option, name),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn numeric_hosts_use_addresses_and_long_pages_are_long() {
    let options = Options { numeric: true, oddities: false, addresses: 13, ..Options::default() };
    let web = web(Options { page_bytes_min: 28_000, ..options });
    for host in web.hosts() {
        assert_eq!(host.name, host.address.to_string());
    }
    for (url, reply) in replies(&web).iter().filter(|(url, _)| !url.contains("//127.0.1.1:")) {
        let length = reply.body.len();
        assert_eq!(
            (reply.status, (28_000..32_000).contains(&length)),
            (200, true),
            "{url}: {length}"
        );
        let links = reply.body.windows(8).filter(|bytes| bytes == b"<a href=").count();
        assert!((40..120).contains(&links), "{url} has {links} links");
    }
}

proptest! {
    /// Paths made of the pieces that the hosts look for, and of anything.
    #[test]
    fn any_request_gets_a_response(
        host in 0..40_usize,
        path in "(/|[0-9]{1,12}|-|\\.html|2000|robots\\.txt|directory|notes|é|%|\\PC){0,12}",
        attempt in 0..3_u32,
    ) {
        let web = web(Options { hosts: 13, error_rate: 0.5, ..Options::default() });
        let name = web.hosts().get(host).map_or("nobody", |host| &host.name);
        let reply = web.respond(&Request { attempt, gzip: true, ..Request::get(name, &path) });
        let known = [0, 200, 301, 302, 307, 308, 404, 410, 421, 500, 503];
        prop_assert!(known.contains(&reply.status), "{}", reply.status);
    }
}

/// The replies of two editions differ exactly for the URLs that the web lists as changes.
#[test]
fn the_listed_changes_match_the_changed_replies() {
    let options = |edition| Options { edition, hosts: 4, pages_per_host: 25, ..Options::default() };
    let editions: Vec<_> = [0, 1, 3].map(|edition| web(options(edition))).into_iter().collect();
    for (before, after) in [(0, 1), (0, 2), (1, 2)] {
        let (before, after) = (&editions[before], &editions[after]);
        let (was, is) = (replies(before), replies(after));
        let find = |list: &[(String, Reply)], url: &str| {
            list.iter().find(|(known, _)| known == url).map(|(_, reply)| reply.clone())
        };
        let mut changes = simweb::Changes::default();
        for (url, reply) in &was {
            let (host, path) = split(url);
            match find(&is, url) {
                None => {
                    assert_eq!(after.respond(&Request::get(host, path)).status, 404, "{url}");
                    changes.deleted.push(url.clone());
                }
                Some(now) => {
                    let tags = (reply.header("ETag"), now.header("ETag"));
                    assert_eq!(reply.body == now.body, tags.0 == tags.1 && *reply == now, "{url}");
                    if reply.body != now.body {
                        changes.changed.push(url.clone());
                    }
                }
            }
        }
        let added = is.iter().filter(|(url, _)| find(&was, url).is_none());
        changes.added = added.map(|(url, _)| url.clone()).collect();
        let since = before.options().edition;
        assert_eq!(after.changes(since), changes);
        let editions = after.options().edition - since;
        let hosts = 5; // the mirror is one, too
        let expected = usize::try_from(hosts * editions).expect("a few");
        assert_eq!((changes.deleted.len(), changes.added.len()), (expected, expected));
        assert!(changes.changed.len() > expected, "{changes:?}");
    }
}
