//! Special hosts: each is a short table of paths, with the answer and the fate of each.
//!
//! What lives here: the table and how an entry is answered; the tables themselves are in the files
//! of this folder. The calendar is endless and therefore computed, in `calendar.rs`. Portal,
//! ordinary hosts and mirror are not special in this sense.
//!
//! **Invariant.** One entry has both the answer and the fate of a path, so that truth and web
//! agree.

pub(crate) mod calendar;
mod charset;
mod fault;
mod meta;
mod redirect;
mod robots;

use crate::{
    Conduct, Host, Kind, Reply, Request, Web,
    html::{Href, Sheet},
    needle::needle,
    prose::Voice,
    random::key,
    web,
    words::{Language, TOPICS},
};
use charset::Charset;
use flate2::{Compression, write::GzEncoder};
use jiff::civil::Date;
pub(crate) use robots::CRAWL_DELAY_MS;
use std::{collections::BTreeMap, io::Write as _};

/// The time that the slow host takes for an answer.
const SLOW_MS: u64 = 300;
/// The value of the flaky host's Retry-After.
const RETRY_AFTER_S: u64 = 1;
const DATE: Date = Date::constant(2025, 5, 1);
const MODIFIED: &str = "Thu, 01 May 2025 00:00:00 GMT";

/// The right treatment of a path by a crawler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Fetched once, and findable.
    Page,
    /// Fetched once, and not findable.
    Noindex,
    /// Like `Page`, but only for crawlers that read sitemaps.
    SitemapOnly,
    /// May be requested, but has no page.
    Other,
    /// Must never be requested.
    Forbidden,
}

/// A path of a special host.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) fate: Fate,
    pub(crate) answer: Answer,
}

/// The answer of a path.
#[derive(Debug)]
pub(crate) enum Answer {
    Page(Plan),
    Fixed(Reply),
}

/// A page of a special host, as far as it differs from others.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Prose, title and needle come from this number; copies share it.
    pub(crate) number: u32,
    pub(crate) language: Language,
    links: Vec<Href>,
    head: String,
    headers: Vec<(&'static str, String)>,
    charset: Charset,
    first_fails: bool,
}

/// All paths of a special host.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
    places: BTreeMap<String, usize>,
}

impl Table {
    fn new(mut entries: Vec<Entry>) -> Self {
        let mut places = BTreeMap::new();
        for (place, entry) in entries.iter_mut().enumerate() {
            if let Answer::Page(plan) = &mut entry.answer
                && plan.number == 0
            {
                plan.number = u32::try_from(place + 1).expect("a short table");
            }
            let earlier = places.insert(entry.path.clone(), place);
            assert!(earlier.is_none(), "{} stands in the table twice", entry.path);
        }
        Self { entries, places }
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Entry> {
        self.places.get(path).map(|&place| &self.entries[place])
    }
}

impl Entry {
    fn page(path: &str) -> Self {
        let plan = Plan {
            number: 0,
            language: Language::English,
            links: Vec::new(),
            head: String::new(),
            headers: Vec::new(),
            charset: Charset::UTF_8,
            first_fails: false,
        };
        Self { path: path.to_owned(), fate: Fate::Page, answer: Answer::Page(plan) }
    }

    /// A page that must not be requested.
    fn forbidden(path: &str) -> Self {
        Self::page(path).fated(Fate::Forbidden)
    }

    /// An answer other than a page.
    fn fixed(path: &str, reply: Reply) -> Self {
        Self { path: path.to_owned(), fate: Fate::Other, answer: Answer::Fixed(reply) }
    }

    fn redirect(path: &str, status: u16, location: &str) -> Self {
        Self::fixed(path, Reply::status(status).with("Location", location))
    }

    fn robots(text: &str) -> Self {
        Self::fixed("/robots.txt", Reply::ok("text/plain; charset=utf-8", text.into()))
    }

    fn fated(mut self, fate: Fate) -> Self {
        self.fate = fate;
        self
    }

    fn linking(self, urls: &[&str]) -> Self {
        self.planned(|plan| plan.links.extend(urls.iter().map(|&url| Href::to(url, url))))
    }

    fn in_language(self, language: Language) -> Self {
        self.planned(|plan| plan.language = language)
    }

    fn planned(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        if let Answer::Page(plan) = &mut self.answer {
            change(plan);
        }
        self
    }
}

/// The table of a kind of host, if it has one.
pub(crate) fn table(kind: Kind, port: u16) -> Option<Table> {
    let url = |kind: Kind, path: &str| web::url(&format!("{}.localhost", kind.label()), port, path);
    let entries = match kind {
        Kind::Robots => robots::robots(),
        Kind::Robots503 => robots::robots503(),
        Kind::RobotsMoved => robots::moved(),
        Kind::Sitemap => robots::sitemap(&|path| url(kind, path)),
        Kind::Slow => fault::slow(),
        Kind::Flaky => fault::flaky(),
        Kind::Broken => fault::broken(),
        Kind::Charset => charset::charset(),
        Kind::Redirect => redirect::redirect(&url(Kind::Gzip, "/arrived.html")),
        Kind::Gzip => redirect::gzip(),
        Kind::Spelling => redirect::spelling(&url(kind, "")),
        Kind::Meta => meta::meta(&|path| url(kind, path)),
        Kind::Portal | Kind::Ordinary | Kind::Dead | Kind::Calendar | Kind::Mirror => return None,
    };
    Some(Table::new(entries))
}

pub(crate) fn answer(web: &Web, host: &Host, table: &Table, request: &Request<'_>) -> Reply {
    let mut reply = match table.get(request.path).map(|entry| &entry.answer) {
        None => Reply::status(404),
        Some(Answer::Fixed(reply)) => reply.clone(),
        Some(Answer::Page(plan)) if plan.first_fails && request.attempt == 0 => {
            Reply::status(503).with("Retry-After", RETRY_AFTER_S.to_string())
        }
        Some(Answer::Page(plan)) => page(web, host, plan, request),
    };
    if host.kind == Kind::Slow {
        reply.delay_ms += SLOW_MS;
    }
    if host.kind == Kind::Gzip && request.gzip && reply.status == 200 {
        reply.body = gzip(&reply.body);
        reply = reply.with("Content-Encoding", "gzip").with("Vary", "Accept-Encoding");
    }
    reply
}

/// Title of the page of this number.
pub(crate) fn title(web: &Web, host: &Host, plan: &Plan) -> String {
    voice(plan.language).title(page_key(web, host, plan) ^ 2)
}

pub(crate) fn page_needle(web: &Web, host: &Host, plan: &Plan) -> String {
    needle(web.options().seed, host.number, plan.number, plan.language)
}

fn page(web: &Web, host: &Host, plan: &Plan, request: &Request<'_>) -> Reply {
    let voice = voice(plan.language);
    let draw = page_key(web, host, plan);
    let sheet = Sheet {
        voice,
        site: host.kind.label(),
        title: &title(web, host, plan),
        needle: &page_needle(web, host, plan),
        draw,
        date: DATE,
        charset: plan.charset.meta,
        head: &plan.head,
        navigation: &[Href::to("/", voice.lexicon.home)],
        contents: &plan.links,
        see_also: &[],
        asides: &[],
        bytes_min: 0,
    };
    let mut reply = Reply::ok(&plan.charset.content_type(), plan.charset.encode(&sheet.render()));
    reply.headers.extend(plan.headers.iter().cloned());
    reply.validated(request, &format!("\"{draw:016x}\""), MODIFIED)
}

fn page_key(web: &Web, host: &Host, plan: &Plan) -> u64 {
    key(&[web.options().seed, u64::from(host.number), u64::from(plan.number)])
}

/// The voice of a special host's pages: that of the first topic of the language. Without such a
/// topic it uses the nouns of the language.
fn voice(language: Language) -> Voice {
    let lexicon = language.lexicon();
    let topic = TOPICS.iter().find(|topic| topic.language == language);
    Voice { lexicon, nouns: topic.map_or(lexicon.nouns, |topic| topic.nouns), turn: 0 }
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 2), Compression::fast());
    encoder.write_all(body).expect("memory takes every write");
    encoder.finish().expect("memory takes every write")
}

/// A reply that does not go out as a whole.
fn odd(conduct: Conduct, body: Vec<u8>) -> Reply {
    Reply { conduct, ..Reply::ok("text/html; charset=utf-8", body) }
}
