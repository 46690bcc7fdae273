//! The portal: the seed, which links to the root of every host.
//!
//! The root page lists the ordinary hosts if there are at most a thousand. Otherwise directory
//! pages list a thousand each, since crawlers limit the links they take from a page.
//!
//! **Invariant.** From the portal every host can be reached.

use crate::{
    Host, Kind, Reply, Request, Web,
    html::{Href, Sheet},
    needle::needle,
    ordinary::Site,
    prose::Voice,
    random::key,
    words::Language,
};
use jiff::civil::Date;

const HOSTS_PER_PAGE: usize = 1000;

/// The number of pages of the portal.
pub(crate) fn pages(web: &Web) -> u32 {
    let ordinary = usize::try_from(web.options().hosts).expect("a host in memory");
    match ordinary {
        0..=HOSTS_PER_PAGE => 1,
        _ => 1 + u32::try_from(ordinary.div_ceil(HOSTS_PER_PAGE)).expect("fewer than hosts"),
    }
}

pub(crate) fn path(page: u32) -> String {
    match page {
        0 => "/".to_owned(),
        _ => format!("/directory/{page}.html"),
    }
}

pub(crate) fn title(page: u32) -> String {
    match page {
        0 => "The portal: every site of this web".to_owned(),
        _ => format!("Directory of sites, part {page}"),
    }
}

pub(crate) fn page_needle(web: &Web, page: u32) -> String {
    needle(web.options().seed, 0, page, Language::English)
}

pub(crate) fn answer(web: &Web, host: &Host, request: &Request<'_>) -> Reply {
    let Some(page) = (0..pages(web)).find(|&page| path(page) == request.path) else {
        return Reply::status(404);
    };
    let ordinary =
        web.hosts().iter().filter(|host| host.kind == Kind::Ordinary).collect::<Vec<_>>();
    let link = |host: &&Host| Href::to(web.url(host, "/"), Site::new(web, host).name());
    let mut contents: Vec<Href> = match (page, pages(web)) {
        (0, 1) => ordinary.iter().map(link).collect(),
        (0, pages) => (1..pages).map(|page| Href::to(path(page), title(page))).collect(),
        _ => {
            let chunk = usize::try_from(page - 1).expect("fewer than hosts");
            ordinary
                .chunks(HOSTS_PER_PAGE)
                .nth(chunk)
                .unwrap_or_default()
                .iter()
                .map(link)
                .collect()
        }
    };
    if page == 0 {
        let special = web.hosts()[1..].iter().filter(|host| host.kind != Kind::Ordinary);
        contents.extend(special.map(|host| Href::to(web.url(host, "/"), host.kind.label())));
    }
    let draw = key(&[web.options().seed, u64::from(host.number), u64::from(page)]);
    let lexicon = Language::English.lexicon();
    let sheet = Sheet {
        voice: Voice { lexicon, nouns: lexicon.nouns, turn: draw },
        site: "Portal",
        title: &title(page),
        needle: &page_needle(web, page),
        draw,
        date: Date::constant(2025, 6, 1),
        charset: "utf-8",
        head: "",
        navigation: &[Href::to("/", lexicon.home)],
        contents: &contents,
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
