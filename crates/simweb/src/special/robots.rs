//! Hosts about robots.txt and sitemaps.
//!
//! **Invariant.** Every path that robots.txt forbids has a link. A request for it therefore proves
//! that the crawler did not obey.
//!
//! RFC 9309, "Robots Exclusion Protocol", 2022; the sitemap protocol 0.9 of sitemaps.org.

use super::{Entry, Fate, gzip};
use crate::{Reply, words::Language};
use std::fmt::Write as _;

/// The Crawl-delay of the robots host.
pub(crate) const CRAWL_DELAY_MS: u64 = 100;

const ROBOTS: &str = "\
# The longest match wins; the second group is for another robot.
User-agent: *
Crawl-delay: 0.1
Disallow: /private/
Allow: /private/open/
Disallow: /*.pdf$
Disallow: /search?
Allow: /search?topic=
Disallow: /tmp
Allow: /tmp/keep.html
Disallow: /h%69dden/

User-agent: some-other-robot
Disallow: /
";

pub(super) fn robots() -> Vec<Entry> {
    let allowed = [
        "/public.html",
        "/private/open/notes.html",
        "/papers/one.pdf?as=html",
        "/search?topic=tides",
        "/tmp/keep.html",
        "/private",
    ];
    let banned = [
        "/private/diary.html",
        "/private/opening.html",
        "/papers/one.pdf",
        "/search?q=secret",
        "/tmp/draft.html",
        "/tmpfile.html",
        "/hidden/treasure.html",
    ];
    let root = Entry::page("/").linking(&banned).linking(&allowed);
    let mut entries = vec![Entry::robots(ROBOTS), root];
    entries.extend(allowed.map(Entry::page));
    entries.extend(banned.map(Entry::forbidden));
    entries
}

/// RFC 9309, 2.3.1.4: a server error means that everything is disallowed.
pub(super) fn robots503() -> Vec<Entry> {
    vec![
        Entry::fixed("/robots.txt", Reply::status(503)),
        Entry::forbidden("/").linking(&["/never.html"]),
        Entry::forbidden("/never.html"),
    ]
}

/// RFC 9309, 2.3.1.2: at least five redirects are followed.
pub(super) fn moved() -> Vec<Entry> {
    let text = "\u{feff}USER-AGENT: *\r\ndisallow:/secret # and a comment\r\n\r\nALLOW : /secret/open.html\r\n";
    vec![
        Entry::redirect("/robots.txt", 301, "/rules/first"),
        Entry::redirect("/rules/first", 302, "/rules/robots.txt"),
        Entry::fixed("/rules/robots.txt", Reply::ok("text/plain", text.into())),
        Entry::page("/").linking(&["/secret/plan.html", "/secret/open.html"]),
        Entry::page("/secret/open.html"),
        Entry::forbidden("/secret/plan.html"),
    ]
}

/// robots.txt names a sitemap index; its parts are XML, compressed XML and plain text.
pub(super) fn sitemap(url: &dyn Fn(&str) -> String) -> Vec<Entry> {
    let linked = ["/linked/one.html", "/linked/two.html"];
    let parts: [(&str, [&str; 3]); 3] = [
        ("/sitemap-a.xml", ["/quiet/a1.html", "/quiet/a2.html", "/linked/one.html"]),
        ("/sitemap-b.xml.gz", ["/quiet/b1.html", "/quiet/b2.html", "/quiet/b3.html"]),
        ("/sitemap-c.txt", ["/quiet/c1.html", "/quiet/c2.html", "/quiet/c3.html"]),
    ];
    let italian = |path| Entry::page(path).in_language(Language::Italian);
    let robots = format!("User-agent: *\nDisallow:\n\nSitemap: {}\n", url("/sitemap.xml"));
    let mut entries = vec![Entry::robots(&robots), italian("/").linking(&linked)];
    entries.extend(linked.map(italian));
    let names = parts.map(|(name, _)| url(name));
    entries.push(xml("/sitemap.xml", listing("sitemapindex", "sitemap", &names)));
    for (name, pages) in parts {
        let urls = pages.map(url);
        entries.push(match name.rsplit_once('.') {
            Some((_, "gz")) => {
                let bytes = gzip(listing("urlset", "url", &urls).as_bytes());
                Entry::fixed(name, Reply::ok("application/gzip", bytes))
            }
            Some((_, "txt")) => {
                let lines = urls.join("\n") + "\n";
                Entry::fixed(name, Reply::ok("text/plain; charset=utf-8", lines.into()))
            }
            _ => xml(name, listing("urlset", "url", &urls)),
        });
        let quiet = pages.into_iter().filter(|page| page.starts_with("/quiet/"));
        entries.extend(quiet.map(|page| italian(page).fated(Fate::SitemapOnly)));
    }
    entries
}

fn xml(path: &str, text: String) -> Entry {
    Entry::fixed(path, Reply::ok("application/xml; charset=utf-8", text.into()))
}

fn listing(outer: &str, inner: &str, urls: &[String]) -> String {
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <{outer} xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
    );
    for url in urls {
        let _ = writeln!(text, "<{inner}><loc>{url}</loc></{inner}>");
    }
    let _ = writeln!(text, "</{outer}>");
    text
}
