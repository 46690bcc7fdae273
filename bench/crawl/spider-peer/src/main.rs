//! The crate `spider` on the same task: links, seen, robots.txt, queues, nothing stored.
//!
//! `spider-peer SEED REQUESTS` crawls the host of SEED with so many requests at once, and prints how
//! many links it visited. What it fetched is read off the server's log.
//! One worker thread: more of them cost it CPU time and gain nothing in a count of CPU time.

use spider::website::Website;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seed = arguments.next().expect("a seed");
    let requests: usize = arguments.next().and_then(|text| text.parse().ok()).expect("a number");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("threads").block_on(crawl(&seed, requests));
}

async fn crawl(seed: &str, requests: usize) {
    let mut website = Website::new(seed);
    website
        .with_respect_robots_txt(true)
        .with_user_agent(Some("spider-peer/1.0"))
        .with_delay(0)
        .with_concurrency_limit(Some(requests))
        .with_ignore_sitemap(true)
        .with_no_control_thread(true);
    website.crawl_raw().await;
    println!("{}", website.get_all_links_visited().await.len());
}
