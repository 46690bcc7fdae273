//! The endless host: a month links to the next one, without end.
//!
//! A crawler that takes at most n pages of a host must end with exactly the first n of the chain.
//!
//! **Invariant.** Every month links to the next one and to no other.

use crate::{
    Host, Reply, Request, Web,
    html::{Href, Sheet},
    needle::needle,
    prose::Voice,
    random::key,
    words::Language,
};
use jiff::civil::Date;

/// The first year of the calendar.
const YEAR: u32 = 2000;
/// The number of pages, limited by the needles of a host. Crawlers never reach the end.
pub(crate) const PAGES: u32 = 1 << 24;

pub(crate) fn path(page: u32) -> String {
    match page {
        0 => "/".to_owned(),
        _ => format!("/{}/{:02}", YEAR + (page - 1) / 12, (page - 1) % 12 + 1),
    }
}

pub(crate) fn title(page: u32) -> String {
    match page {
        0 => "Calendar".to_owned(),
        _ => format!("Calendar for {}/{:02}", YEAR + (page - 1) / 12, (page - 1) % 12 + 1),
    }
}

pub(crate) fn page_needle(web: &Web, host: &Host, page: u32) -> String {
    needle(web.options().seed, host.number, page, Language::English)
}

pub(crate) fn answer(web: &Web, host: &Host, request: &Request<'_>) -> Reply {
    let Some(page) = number(request.path) else { return Reply::status(404) };
    let draw = key(&[web.options().seed, u64::from(host.number), u64::from(page)]);
    let lexicon = Language::English.lexicon();
    let next = (page + 1 < PAGES).then(|| Href::to(path(page + 1), "Next month"));
    let sheet = Sheet {
        voice: Voice { lexicon, nouns: lexicon.nouns, turn: draw },
        site: "Calendar",
        title: &title(page),
        needle: &page_needle(web, host, page),
        draw,
        date: Date::constant(2025, 6, 1),
        charset: "utf-8",
        head: "",
        navigation: &[Href::to("/", lexicon.home)],
        contents: next.as_slice(),
        see_also: &[],
        asides: &[],
        bytes_min: 0,
    };
    Reply::ok("text/html; charset=utf-8", sheet.render().into_bytes()).validated(
        request,
        &format!("\"{draw:016x}\""),
        "Sun, 01 Jun 2025 00:00:00 GMT",
    )
}

fn number(text: &str) -> Option<u32> {
    if text == "/" {
        return Some(0);
    }
    let (year, month) = text.strip_prefix('/')?.split_once('/')?;
    let year = year.parse::<u32>().ok()?.checked_sub(YEAR)?;
    let page = year.checked_mul(12)?.checked_add(month.parse().ok()?)?;
    (page < PAGES && path(page) == text).then_some(page)
}
