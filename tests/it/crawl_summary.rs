//! The last lines of `crivello crawl`: excluded URLs with reasons, waiting URLs, and where to read more.

use crate::sandbox::{Ran, Sandbox};
use crate::why_servers::{HTML, Pages, page};

/// A site with pages `/p/0` to `/p/5` and everything that a crawl leaves out.
fn serve() -> Pages {
    let links = ["/p/0", "/p/1", "/p/2", "/p/3", "/p/4", "/p/5", "/big", "/err", "/gone"];
    let odd = ["/private/x", "http://o.test/", "/x.zip"];
    Pages::serve(&[
        ("/robots.txt", "200 OK\n\nUser-agent: *\nDisallow: /private\n"),
        ("/", &page(&[&links[..], &odd].concat())),
        ("/short", &page(&["/p/0", "/private/x"])),
        ("/big", &format!("{HTML}{}", "x".repeat(20_000))),
        ("/err", "500 Oh\n\nerror"),
        ("/gone", "404 No\n\n"),
        ("*", HTML),
    ])
}

/// A collection `web` for crawls of that site.
fn collection() -> Sandbox {
    let text = "[crawl]\ndelay_ms = 5\nip_delay_ms = 0\nretry_ms = 5\nretries = 1\nbody_bytes_max = 10000\n";
    Sandbox::with_settings(text)
}

fn says(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, 0, "{ran:#?}");
    for word in words {
        assert!(ran.stderr.contains(word), "no {word:?} in {ran:#?}");
    }
}

#[test]
fn excluded_urls_are_reported_with_their_rule() {
    let (server, sandbox) = (serve(), collection());
    let seed = server.url("/");
    let ran = sandbox.run(&["crawl", "--dir", "web", "-v", &seed]);
    let left_out = [
        "7 new pages",
        "Failed    3 pages: gone 1, server error 1, too large 1\n",
        "Given up  2 visits: http-500 1, too-large by `body_bytes_max` 1\n",
        "Excluded  2 links: `scope` 1, `skip_extensions` 1\n",
        "Forbidden 1 URL by robots.txt\n",
        "`crivello why URL`",
    ];
    says(&ran, &left_out);
    let sandbox = collection();
    let report =
        sandbox.json(&["crawl", "--dir", "web", &seed, "--set", "crawl.pages_per_host_max=3"]);
    assert_eq!(report["pages"], 3, "{report:#}");
    // A crawl that left out nothing is one line.
    let sandbox = collection();
    let ran = sandbox.run(&["crawl", "--dir", "web", "--list", &format!("{seed}p/1")]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (0, 1), "{ran:#?}");
}

#[test]
fn a_limit_is_reported_with_the_allowed_urls_left() {
    let (server, sandbox) = (serve(), collection());
    let seed = server.url("/");
    let ran = sandbox.run(&["crawl", "--dir", "web", "--max-pages", "3", &seed]);
    // Four pages, and /big, /err and /gone.
    says(
        &ran,
        &["Stopped   by `pages_max`; 7 URLs left for a crawl with a higher limit", "by robots.txt"],
    );
    // Only what is forbidden waits: nothing is left.
    let sandbox = collection();
    for _ in 0..2 {
        let flags = ["crawl", "--dir", "web", "--max-pages", "2", &format!("{seed}short")];
        let ran = sandbox.run(&flags);
        says(&ran, &["by `pages_max`; no URL is left", "1 URL by robots.txt"]);
    }
}

#[test]
fn impossible_crawl_flags_are_refused() {
    let sandbox = collection();
    for arguments in [&["--resume"][..], &["--recrawl", "due"], &[]] {
        let ran = sandbox.run(&[&["crawl", "--dir", "web"], arguments].concat());
        assert_eq!(ran.code, 2, "{ran:#?}");
    }
}

/// The web that `crivello up` serves ends with it; who crawls its collection later has it again.
#[test]
fn a_collection_of_the_sample_can_be_crawled_again() {
    let sandbox = Sandbox::new();
    let flags = ["--listen", "127.0.0.1:0", "--sample-port", "0", "--max-pages", "60"];
    let mut running = sandbox.start(&[&["up", "--dir", "web"], &flags[..]].concat());
    assert!(running.first_line().starts_with("http://"), "{}", running.stderr());
    // While it is served, the crawl takes what is there.
    let crawl = ["crawl", "--recrawl", "--dir", "web", "--max-pages", "60"];
    let ran = sandbox.run(&crawl);
    says(&ran, &["is in use", "Recrawled ", " unchanged"]);
    assert_eq!(running.signal("INT"), Some(0));
    let ran = sandbox.run(&crawl);
    says(&ran, &["it is served during this crawl", "Recrawled ", " unchanged"]);
    assert!(
        !ran.stderr.contains("no site answered") && !ran.stderr.contains(" 0 unchanged"),
        "{ran:#?}"
    );
}
