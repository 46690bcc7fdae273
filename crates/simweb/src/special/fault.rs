//! Hosts that answer late, fail at times, or answer with something other than a page.
//!
//! **Invariant.** The same requests fail, equally often, in every run.

use super::{Entry, odd};
use crate::{Conduct, Reply, words::Language};

/// The longest header line of the host with too many of them, and how many there are.
const HEADER_BYTES: usize = 1000;
const HEADERS: usize = 200;
/// Signature and header of a PNG image, then a little noise.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
    \0\0\0\x0aIDATx\x9cc\0\x01\0\0\x05\0\x01\x0d\x0a\x2d\xb4\0\0\0\0IEND\xaeB`\x82";

pub(super) fn slow() -> Vec<Entry> {
    let pages = ["/", "/one.html", "/two.html", "/three.html"];
    pages.map(|path| Entry::page(path).linking(&pages[1..]).in_language(Language::German)).into()
}

pub(super) fn flaky() -> Vec<Entry> {
    let at_first = ["/at-first/one.html", "/at-first/two.html", "/at-first/three.html"];
    let never = ["/always-500.html", "/closes.html", "/gone.html", "/missing.html"];
    let italian = |path| Entry::page(path).in_language(Language::Italian);
    let mut entries = vec![
        italian("/").linking(&never).linking(&at_first).linking(&["/steady.html"]),
        italian("/steady.html"),
        Entry::fixed("/always-500.html", Reply::status(500)),
        Entry::fixed("/closes.html", Reply::silence()),
        Entry::fixed("/gone.html", Reply::status(410)),
        Entry::fixed("/missing.html", Reply::status(404)),
    ];
    entries.extend(at_first.map(|path| italian(path).planned(|plan| plan.first_fails = true)));
    entries
}

pub(super) fn broken() -> Vec<Entry> {
    let html = |size: usize| {
        let mut text = String::from("<!DOCTYPE html><title>Cut off</title>\n");
        while text.len() < size {
            text.push_str("<p>There is more to come of this, and then some more.</p>\n");
        }
        text.into_bytes()
    };
    let mut swollen = Reply::ok("text/html; charset=utf-8", html(100));
    swollen.headers.extend((0..HEADERS).map(|_| ("X-Padding", "x".repeat(HEADER_BYTES))));
    let plain = html(500);
    let lying = Reply::ok("text/html; charset=utf-8", plain).with("Content-Encoding", "gzip");
    let faults = [
        ("/picture.html", Reply::ok("text/html", PNG.to_vec())),
        ("/truncated.html", odd(Conduct::Truncated { declared_bytes: 100_000 }, html(4000))),
        ("/endless.html", odd(Conduct::Endless, html(16 << 10))),
        ("/huge-header.html", swollen),
        ("/no-answer.html", Reply::silence()),
        ("/no-body.html", Reply::ok("text/html; charset=utf-8", Vec::new())),
        ("/not-gzip.html", lying),
    ];
    let paths = faults.each_ref().map(|(path, _)| *path);
    let mut entries = vec![
        Entry::page("/").linking(&paths).linking(&["/whole.html"]),
        Entry::page("/whole.html"),
    ];
    entries.extend(faults.map(|(path, reply)| Entry::fixed(path, reply)));
    entries
}
