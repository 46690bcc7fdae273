//! Hosts about the way to a page: redirects, compression, spellings of a URL.
//!
//! **Invariant.** No page links to the target of a redirect, so only redirects lead to it. Loops
//! lead to themselves.

use super::Entry;
use crate::{Reply, words::Language};

/// Redirects; `elsewhere` is a page on another host that nothing else links to.
pub(super) fn redirect(elsewhere: &str) -> Vec<Entry> {
    let starts = [
        "/301",
        "/302",
        "/307",
        "/308",
        "/chain/3",
        "/loop/a",
        "/self",
        "/away",
        "/sub/relative",
        "/nowhere",
    ];
    let landings = ["/landed/301", "/landed/302", "/landed/307", "/landed/308"];
    let spanish = |path| Entry::page(path).in_language(Language::Spanish);
    let mut entries = vec![
        spanish("/").linking(&starts),
        Entry::redirect("/chain/3", 301, "/chain/2"),
        Entry::redirect("/chain/2", 302, "/chain/1"),
        Entry::redirect("/chain/1", 308, "/landed/chain"),
        spanish("/landed/chain"),
        Entry::redirect("/loop/a", 302, "/loop/b"),
        Entry::redirect("/loop/b", 302, "/loop/a"),
        Entry::redirect("/self", 301, "/self"),
        Entry::redirect("/away", 301, elsewhere),
        Entry::redirect("/sub/relative", 302, "../landed/relative"),
        spanish("/landed/relative"),
        Entry::fixed("/nowhere", Reply::status(301)),
    ];
    for (start, (status, landing)) in
        starts.into_iter().zip([301, 302, 307, 308].into_iter().zip(landings))
    {
        entries.push(Entry::redirect(start, status, landing));
        entries.push(spanish(landing));
    }
    entries
}

/// Pages that are compressed when asked; the last is the landing of another host's redirect.
pub(super) fn gzip() -> Vec<Entry> {
    let pages = ["/", "/one.html", "/two.html", "/three.html"];
    let french = |path| Entry::page(path).in_language(Language::French);
    let mut entries: Vec<_> =
        pages.into_iter().map(|path| french(path).linking(&pages[1..])).collect();
    entries.push(french("/arrived.html"));
    entries
}

/// Spellings that the WHATWG URL standard makes one; `origin` is scheme, name and port.
pub(super) fn spelling(origin: &str) -> Vec<Entry> {
    let authority = origin.trim_start_matches("http://");
    let spellings = [
        "/target.html".to_owned(),
        "target.html".to_owned(),
        "/target.html#part".to_owned(),
        "/./target.html".to_owned(),
        "/away/../target.html".to_owned(),
        "/%2e/target.html".to_owned(),
        "\\target.html".to_owned(),
        " /target.html ".to_owned(),
        "/tar\nget.html".to_owned(),
        format!("//{authority}/target.html"),
        format!("HTTP://{}/target.html", authority.to_ascii_uppercase()),
        format!("http://someone:word@{authority}/target.html"),
    ];
    let links: Vec<&str> = spellings.iter().map(String::as_str).collect();
    vec![Entry::page("/").linking(&links), Entry::page("/target.html")]
}
