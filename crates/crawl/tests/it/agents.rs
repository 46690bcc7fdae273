//! Two agents that share a web: together they cover it, and neither fetches from the other's hosts.

use std::collections::BTreeSet;
use std::fs;

use crate::support::{PAGES_PER_HOST, archived, config, crawl, server};
use crawl::Config;

#[test]
fn two_agents_cover_the_web_between_them() {
    let server = server();
    let dirs = [0, 1].map(|_| tempfile::tempdir().expect("a temporary folder"));
    let config = |agent| Config { agent, agents: 2, ..config(&server) };
    let mut sent = 0;
    for _ in 0..4 {
        for agent in [0, 1] {
            let dir = dirs[usize::from(agent)].path();
            let report = crawl(dir, &config(agent), &server.web().seeds()).expect("it runs");
            sent += report.sent;
            let other = dirs[usize::from(1 - agent)].path().join("frontier");
            fs::create_dir_all(&other).expect("a folder");
            let outbox = dir.join(format!("frontier/outbox-{}.urls", 1 - agent));
            fs::copy(outbox, other.join(format!("inbox-{agent}.urls"))).expect("it is there");
        }
    }
    assert!(sent > 0);
    let pages = dirs.each_ref().map(|dir| archived(dir.path()));
    let hosts = pages
        .each_ref()
        .map(|pages| pages.keys().filter_map(|url| url.split('/').nth(2)).collect::<BTreeSet<_>>());
    assert!(hosts[0].is_disjoint(&hosts[1]), "{hosts:?}");
    assert!(hosts.iter().all(|hosts| hosts.len() > 2), "{hosts:?}");
    let truth = server.web().truth(PAGES_PER_HOST);
    let is_missing = |url: &&String| pages.iter().all(|pages| !pages.contains_key(*url));
    let missing: Vec<_> = truth.pages.iter().map(|page| &page.url).filter(is_missing).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
