//! Two agents that share a web: together they cover it, and neither fetches from the other's hosts.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::hostile;
use crate::support::{PAGES_PER_HOST, archived, config, crawl, server};
use crawl::{Config, Scope};

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

/// A sitemap of another agent's host is a sitemap there as well, even with an extension that pages may not have.
#[test]
fn a_sitemap_sent_to_another_agent_stays_a_sitemap() {
    let port = hostile::serve(|request, out| {
        let (kind, body) = match request.path.as_str() {
            "/robots.txt" => ("text/plain", "Sitemap: http://b.test:PORT/list.gz\n"),
            "/list.gz" => ("text/plain", "http://b.test:PORT/found\n"),
            _ => ("text/html", "<p>A page"),
        };
        let port =
            request.head.split("test:").nth(1).and_then(|rest| rest.split_whitespace().next());
        let body = body.replace("PORT", port.unwrap_or_default());
        let head = format!("Content-Type: {kind}\r\nContent-Length: {}", body.len());
        out.say(&format!("HTTP/1.1 200 OK\r\n{head}\r\nConnection: close\r\n\r\n{body}"));
    });
    let resolve = ["a.test", "b.test", "c.test", "d.test"]
        .map(|host| (host.to_owned(), "127.0.0.1".parse().expect("an address")));
    let config = |agent| Config {
        agent,
        agents: 2,
        delay_ms: 1,
        ip_delay_ms: 0,
        scope: Scope::Any,
        resolve: resolve.clone().into_iter().collect(),
        ..Config::default()
    };
    let dirs = [0, 1].map(|_| tempfile::tempdir().expect("a temporary folder"));
    // Only hosts of the agent that does not own `b.test`, so that URLs have to reach the other agent.
    let agents = crawl::assignment(&config(0)).expect("there are two");
    let is_other = |name: &&str| agents.owner(&format!("{name}.test")) != agents.owner("b.test");
    let others: Vec<&str> = ["a", "c", "d"].into_iter().filter(is_other).collect();
    let seeds: Vec<String> =
        others.iter().map(|name| format!("http://{name}.test:{port}/")).collect();
    assert!(!seeds.is_empty());
    for _ in 0..2 {
        for agent in [0, 1] {
            let dir = dirs[usize::from(agent)].path();
            crawl(dir, &config(agent), &seeds).expect("it runs");
            let other = dirs[usize::from(1 - agent)].path().join("frontier");
            fs::create_dir_all(other.join("inbox-folder.urls")).expect("a folder in the way");
            let outbox = dir.join(format!("frontier/outbox-{}.urls", 1 - agent));
            if outbox.is_file() {
                fs::copy(outbox, other.join(format!("inbox-{agent}.urls"))).expect("copied");
            }
        }
    }
    let pages = dirs.each_ref().map(|dir| archived(dir.path()));
    let found = format!("http://b.test:{port}/found");
    assert!(pages.iter().any(|pages| pages.contains_key(&found)), "{pages:?}");
    let boxes = dirs.each_ref().map(|dir| dir.path().join("frontier"));
    let line = format!("sitemap:http://b.test:{port}/list.gz");
    let sent = |dir: &std::path::PathBuf| {
        let texts =
            [0, 1].map(|agent| fs::read_to_string(dir.join(format!("outbox-{agent}.urls"))));
        texts.into_iter().flatten().any(|text| text.lines().any(|sent| sent == line))
    };
    assert!(boxes.iter().any(sent), "{line} is in no outbox");
}

/// An endless chain of redirects over hosts of several agents ends at the same length as in one process.
#[test]
fn redirects_to_other_agents_are_counted() {
    const HOSTS: usize = 9;
    let longest = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&longest);
    let port = hostile::serve(move |request, out| {
        let port = request.head.split("test:").nth(1);
        let port = port.and_then(|rest| rest.split_whitespace().next()).unwrap_or_default();
        let number: Option<u64> = request.path.strip_prefix('/').and_then(|path| path.parse().ok());
        let Some(number) = number else {
            return out.say("HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        };
        seen.fetch_max(number, Ordering::Relaxed);
        let next = (number + 1) % HOSTS as u64;
        let target = format!("http://h{next}.test:{port}/{}", number + 1);
        let head = format!("Location: {target}\r\nContent-Length: 0\r\nConnection: close");
        out.say(&format!("HTTP/1.1 302 Found\r\n{head}\r\n\r\n"));
    });
    let address = "127.0.0.1".parse().expect("an address");
    let config = |agent| Config {
        agent,
        agents: 3,
        delay_ms: 1,
        ip_delay_ms: 0,
        scope: Scope::Any,
        redirects_max: 4,
        resolve: (0..HOSTS).map(|host| (format!("h{host}.test"), address)).collect(),
        ..Config::default()
    };
    let dirs = [0, 1, 2].map(|_| tempfile::tempdir().expect("a temporary folder"));
    for _ in 0..8 {
        for agent in [0, 1, 2_u16] {
            let dir = dirs[usize::from(agent)].path();
            crawl(dir, &config(agent), &[format!("http://h0.test:{port}/0")]).expect("it runs");
            for other in [0, 1, 2].into_iter().filter(|other| *other != agent) {
                let inbox = dirs[usize::from(other)].path().join("frontier");
                fs::create_dir_all(&inbox).expect("a folder");
                let outbox = dir.join(format!("frontier/outbox-{other}.urls"));
                fs::copy(outbox, inbox.join(format!("inbox-{agent}.urls"))).expect("it is there");
            }
        }
    }
    assert_eq!(longest.load(Ordering::Relaxed), 4);
}
