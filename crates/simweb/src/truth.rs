//! The result that a polite crawler must reach, known from how the web was made.
//!
//! What lives here: [`Truth`], a plain list that needs no web: it can be written as JSON and
//! compared with the log of any crawler. What does not: the comparison (`judge.rs`).
//!
//! **Invariant.** No page is fetched, parsed or followed to make the truth. Paths and fates come
//! from the tables and the numbering that also make the answers.

use crate::{
    Conduct, Host, Kind, Web,
    ordinary::Site,
    portal,
    special::{self, Answer, CRAWL_DELAY_MS, Fate, Table, calendar},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, net::Ipv4Addr};

/// The most pages of the calendar that are listed. A higher cap is meant for crawls that never end.
const CALENDAR_LISTED_MAX: u64 = 100_000;

/// The pages that a polite crawler must fetch, and the URLs that it must not request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truth {
    /// The pages that must be fetched, by URL. A capped calendar lists its first pages. Any other
    /// capped host lists no page, since the crawler chooses.
    pub pages: Vec<TruthPage>,
    /// URLs that must never be requested: robots.txt forbids them, or only nofollow links lead
    /// there.
    pub forbidden: Vec<String>,
    /// Hosts with more pages than the crawler takes.
    pub capped: Vec<Capped>,
    /// URLs without a page that may be requested, by URL: redirects, sitemaps, robots.txt, errors.
    pub others: Vec<String>,
    /// URLs of `others` whose answers break off or never end. A crawler may request them again.
    pub faulty: Vec<String>,
    /// The Crawl-delay of those hosts whose robots.txt has one.
    pub crawl_delays_ms: BTreeMap<String, u64>,
    /// The address of every host.
    pub addresses: BTreeMap<String, Ipv4Addr>,
}

/// A page that must be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TruthPage {
    /// Its URL, normal by the WHATWG URL standard.
    pub url: String,
    /// Its title.
    pub title: String,
    /// A made-up word that only this page and its copies contain.
    pub needle: String,
    /// The ISO 639-1 code of its language.
    pub language: String,
    /// Whether the page must be fetched, but no search may find it.
    pub noindex: bool,
    /// Whether only sitemaps name the page.
    pub sitemap_only: bool,
    /// The page that this one repeats except for the date, or names as its canonical one.
    pub copy_of: Option<String>,
}

/// The number of pages that a crawler must fetch of a host with more pages than its cap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capped {
    /// The name of the host.
    pub host: String,
    /// The fewest pages that are right.
    pub pages_min: u64,
    /// The most pages that are right.
    pub pages_max: u64,
}

impl Truth {
    /// The truth for a crawler that does not read sitemaps.
    #[must_use]
    pub fn without_sitemaps(mut self) -> Self {
        self.pages.retain(|page| !page.sitemap_only);
        self
    }

    /// The page at a URL.
    pub fn page(&self, url: &str) -> Option<&TruthPage> {
        let place = self.pages.binary_search_by(|page| page.url.as_str().cmp(url)).ok()?;
        self.pages.get(place)
    }
}

impl Web {
    /// The result that a polite crawler must reach if it takes at most `pages_per_host_max` pages
    /// of a host; 0 means no limit.
    ///
    /// The limit must be at least the number of pages of the portal. Otherwise a crawler cannot
    /// find every host. The truth is as large as the web.
    pub fn truth(&self, pages_per_host_max: u64) -> Truth {
        truth(self, pages_per_host_max)
    }
}

/// The truth of a web; a cap of 0 means no cap.
fn truth(web: &Web, pages_per_host_max: u64) -> Truth {
    let cap = if pages_per_host_max == 0 { u64::MAX } else { pages_per_host_max };
    let mut truth = Truth::default();
    for host in web.hosts() {
        truth.addresses.insert(host.name.clone(), host.address);
        if host.kind != Kind::Dead {
            truth.others.push(web.url(host, "/robots.txt"));
        }
        match host.kind {
            Kind::Portal => truth.add_numbered(web, host, cap, portal::pages(web), |page| Listed {
                path: portal::path(page),
                title: portal::title(page),
                needle: portal::page_needle(web, page),
                language: "en",
                copy_of: None,
            }),
            Kind::Ordinary | Kind::Mirror => truth.add_site(web, host, cap),
            Kind::Calendar => truth.add_calendar(web, host, cap),
            Kind::Dead => truth.others.push(web.url(host, "/")),
            _ => {
                if let Some(table) = web.table(host) {
                    truth.add_table(web, host, cap, table);
                }
            }
        }
        if host.kind == Kind::Robots {
            truth.crawl_delays_ms.insert(host.name.clone(), CRAWL_DELAY_MS);
        }
    }
    truth.pages.sort_unstable_by(|a, b| a.url.cmp(&b.url));
    for urls in [&mut truth.forbidden, &mut truth.others, &mut truth.faulty] {
        urls.sort_unstable();
        urls.dedup();
    }
    truth
}

/// A page of a host that numbers its pages.
struct Listed {
    path: String,
    title: String,
    needle: String,
    language: &'static str,
    copy_of: Option<String>,
}

impl Truth {
    /// Adds the pages 0, 1, … of a host. Under a cap, the crawler chooses which of them it takes.
    fn add_numbered(
        &mut self,
        web: &Web,
        host: &Host,
        cap: u64,
        pages: u32,
        listed: impl Fn(u32) -> Listed,
    ) {
        if u64::from(pages) > cap {
            let host = host.name.clone();
            self.capped.push(Capped { host, pages_min: cap, pages_max: cap });
            return;
        }
        self.pages.extend((0..pages).map(|page| listed(page).on(web, host)));
    }

    /// Moves the pages that an edition has deleted to `others`: links lead there, and the answer is
    /// 404.
    fn remove_deleted(&mut self, web: &Web, host: &Host) {
        let site = Site::new(web, host);
        for page in (0..site.pages()).filter(|&page| !site.is_there(page)) {
            let url = web.url(host, &site.path(page));
            self.pages.retain(|page| page.url != url);
            self.others.push(url);
        }
    }

    fn add_site(&mut self, web: &Web, host: &Host, cap: u64) {
        let site = Site::new(web, host);
        let original = (host.kind == Kind::Mirror).then(|| &web.hosts()[1]);
        self.add_numbered(web, host, cap, site.pages(), |page| Listed {
            path: site.path(page),
            title: site.title(page),
            needle: site.needle(page),
            language: site.language_code(),
            copy_of: original.map(|original| web.url(original, &site.path(page))),
        });
        self.remove_deleted(web, host);
        self.forbidden.extend(site.draft().map(|path| web.url(host, path)));
    }

    /// The chain has one order: the pages under the cap are its first ones.
    fn add_calendar(&mut self, web: &Web, host: &Host, cap: u64) {
        let pages = cap.min(u64::from(calendar::PAGES));
        let capped = Capped { host: host.name.clone(), pages_min: pages, pages_max: pages };
        self.capped.push(capped);
        let listed = u32::try_from(pages.min(CALENDAR_LISTED_MAX)).expect("a few");
        self.pages.extend((0..listed).map(|page| {
            let listed = Listed {
                path: calendar::path(page),
                title: calendar::title(page),
                needle: calendar::page_needle(web, host, page),
                language: "en",
                copy_of: None,
            };
            listed.on(web, host)
        }));
    }

    fn add_table(&mut self, web: &Web, host: &Host, cap: u64, table: &Table) {
        let pages = table.entries.iter().filter(|entry| entry.fate.is_page()).count();
        let capped = u64::try_from(pages).expect("a short table") > cap;
        if capped {
            self.capped.push(Capped { host: host.name.clone(), pages_min: 0, pages_max: cap });
        }
        let mut originals = BTreeMap::new();
        for entry in &table.entries {
            let url = web.url(host, &entry.path);
            match (&entry.answer, entry.fate) {
                (_, Fate::Forbidden) => self.forbidden.push(url),
                (Answer::Page(plan), Fate::Page | Fate::Noindex | Fate::SitemapOnly) => {
                    let original = originals.entry(plan.number).or_insert_with(|| url.clone());
                    let copy_of = (*original != url).then(|| original.clone());
                    let page = TruthPage {
                        url,
                        title: special::title(web, host, plan),
                        needle: special::page_needle(web, host, plan),
                        language: plan.language.code().to_owned(),
                        noindex: entry.fate == Fate::Noindex,
                        sitemap_only: entry.fate == Fate::SitemapOnly,
                        copy_of,
                    };
                    if !capped {
                        self.pages.push(page);
                    }
                }
                (answer, _) => {
                    if answer.is_faulty() {
                        self.faulty.push(url.clone());
                    }
                    self.others.push(url);
                }
            }
        }
    }
}

impl Listed {
    fn on(self, web: &Web, host: &Host) -> TruthPage {
        TruthPage {
            url: web.url(host, &self.path),
            title: self.title,
            needle: self.needle,
            language: self.language.to_owned(),
            noindex: false,
            sitemap_only: false,
            copy_of: self.copy_of,
        }
    }
}

impl Fate {
    fn is_page(self) -> bool {
        matches!(self, Self::Page | Self::Noindex | Self::SitemapOnly)
    }
}

impl Answer {
    /// Returns whether the answer has a good status but cannot be read completely.
    fn is_faulty(&self) -> bool {
        match self {
            Self::Page(_) => false,
            Self::Fixed(reply) => {
                reply.conduct != Conduct::Whole || reply.header_bytes() > 64 << 10
            }
        }
    }
}
