//! Ordinary hosts: pages by number, in a tree that reaches all of them, with cross-links.
//!
//! Page 0 is the root. Page n contains the pages 6n+1 … 6n+6 as far as they exist, so that links
//! from the root reach every page. Further links choose host and page by Zipf's law, which gives
//! in-degrees a power law with exponent about 2. One host of three has a robots.txt that forbids
//! `/drafts/`, one has a robots.txt that allows all, and one has no robots.txt.
//!
//! Each edition (see [`Options::edition`](crate::Options::edition)) changes the prose and the date
//! of one page of a host. It deletes the last page that is left of the first edition. It adds a
//! page after all others, and the parent of that page links to it. Links to a deleted page stay,
//! and the answer there is 404.
//!
//! The mirror host has the pages of the first ordinary host. Only the date in the footer differs,
//! since links inside a host do not name the host.
//!
//! **Invariant.** Links from the root of an edition reach every page of it. The answer of a page
//! never depends on the time of the request.

use crate::{
    Host, Kind, Reply, Request, Web,
    html::{Href, Sheet},
    needle::needle,
    options::EDITION_MAX,
    prose::Voice,
    random::{Random, key},
    words::{TOPICS, Topic},
};
use jiff::{ToSpan as _, civil::Date};

/// Pages that a page contains.
const BRANCH: u32 = 6;
/// A linked page that robots.txt forbids, on every third host.
const DRAFT: &str = "/drafts/unfinished.html";
/// The approximate bytes of a paragraph that fills up a page.
const ASIDE_BYTES: usize = 512;
const SECTIONS: [&str; 5] = ["notes", "guide", "stories", "letters", "archive"];

/// The use of a key. Different uses draw independently.
#[derive(Clone, Copy)]
enum Stream {
    Title = 1,
    Prose,
    Links,
    Date,
    Section,
    Voice,
    Edition,
    Asides,
}

/// The pages of one ordinary host, or of the mirror.
pub(crate) struct Site<'a> {
    web: &'a Web,
    host: &'a Host,
    /// The host that owns the pages. For the mirror, it is another host.
    source: &'a Host,
    topic: &'static Topic,
}

impl<'a> Site<'a> {
    pub(crate) fn new(web: &'a Web, host: &'a Host) -> Self {
        let source = if host.kind == Kind::Mirror { &web.hosts()[1] } else { host };
        let ordinary = usize::try_from(source.number - 1).expect("a host in memory");
        Self { web, host, source, topic: &TOPICS[ordinary % TOPICS.len()] }
    }

    pub(crate) fn answer(&self, request: &Request<'_>) -> Reply {
        if request.path == "/robots.txt" {
            return match self.robots() {
                Some(text) => Reply::ok("text/plain; charset=utf-8", text.into()),
                None => Reply::status(404),
            };
        }
        if self.draft() == Some(request.path) {
            return Reply::ok("text/html; charset=utf-8", b"<p>Not for robots.</p>".to_vec());
        }
        match self.number(request.path) {
            Some(number) if self.is_there(number) => self.page(number, request),
            _ => Reply::status(404),
        }
    }

    /// The number of pages, deleted ones included.
    pub(crate) fn pages(&self) -> u32 {
        self.first_pages() + self.web.options().edition
    }

    /// The number of pages before the first change.
    fn first_pages(&self) -> u32 {
        self.web.options().pages_per_host
    }

    /// Returns whether a page still exists. A page that can be deleted has no children in any
    /// edition.
    pub(crate) fn is_there(&self, number: u32) -> bool {
        let pages = self.first_pages();
        let deleted = pages.saturating_sub(self.web.options().edition)..pages;
        let is_leaf = u64::from(number) * u64::from(BRANCH) + 1 >= u64::from(pages + EDITION_MAX);
        !(deleted.contains(&number) && is_leaf && number > 0)
    }

    /// The edition in which a page got its present form; 0 if it never changed.
    pub(crate) fn revision(&self, number: u32) -> u32 {
        let pages = self.first_pages();
        let is_changed = |edition: &u32| {
            // Far from the end, where pages are deleted and added.
            let middle = u64::from(pages.saturating_sub(EDITION_MAX).max(1));
            let chosen = Random::new(self.key(*edition, Stream::Edition)).below(middle);
            let added = pages + edition - 1;
            u64::from(number) == chosen || number == added || number == (added - 1) / BRANCH
        };
        (1..=self.web.options().edition).rev().find(is_changed).unwrap_or(0)
    }

    /// The path of the forbidden page, if there is one.
    pub(crate) fn draft(&self) -> Option<&'static str> {
        self.source.number.is_multiple_of(3).then_some(DRAFT)
    }

    pub(crate) fn path(&self, number: u32) -> String {
        if number == 0 {
            return "/".to_owned();
        }
        let sections = u64::try_from(SECTIONS.len()).expect("a few");
        let section = Random::new(self.key(number, Stream::Section)).below(sections);
        let section = SECTIONS[usize::try_from(section).expect("a few")];
        match slug(&self.title(number)) {
            slug if slug.is_empty() => format!("/{section}/{number}.html"),
            slug => format!("/{section}/{number}-{slug}.html"),
        }
    }

    pub(crate) fn title(&self, number: u32) -> String {
        match number {
            0 => self.name(),
            _ => self.voice().title(self.key(number, Stream::Title)),
        }
    }

    pub(crate) fn needle(&self, number: u32) -> String {
        needle(self.seed(), self.source.number, number, self.topic.language)
    }

    pub(crate) fn language_code(&self) -> &'static str {
        self.topic.language.code()
    }

    /// The name of the site, as its pages give it.
    pub(crate) fn name(&self) -> String {
        let topics = u32::try_from(TOPICS.len()).expect("a dozen");
        match (self.source.number - 1) / topics {
            0 => self.topic.name.to_owned(),
            series => format!("{} {}", self.topic.name, series + 1),
        }
    }

    fn robots(&self) -> Option<&'static str> {
        match self.source.number % 3 {
            0 => Some("User-agent: *\nDisallow: /drafts/\n"),
            1 => None,
            _ => Some("# all are welcome\nUser-agent: *\nDisallow:\n"),
        }
    }

    /// The number of the page at a path. The path contains the number, and the rest of it must
    /// agree.
    fn number(&self, path: &str) -> Option<u32> {
        if path == "/" {
            return Some(0);
        }
        let (_, name) = path.strip_prefix('/')?.split_once('/')?;
        let digits = name.split(['-', '.']).next()?;
        let number = digits.parse().ok()?;
        (number < self.pages() && self.path(number) == path).then_some(number)
    }

    fn page(&self, number: u32, request: &Request<'_>) -> Reply {
        let date = self.date(number);
        let modified = date.strftime("%a, %d %b %Y 00:00:00 GMT").to_string();
        let revision = self.revision(number);
        let draw = match revision {
            0 => self.key(number, Stream::Prose),
            _ => key(&[self.key(number, Stream::Prose), u64::from(revision)]),
        };
        let etag = key(&[draw, u64::from(self.host.number)]);
        let etag = format!("\"{etag:016x}\"");
        let (navigation, contents, see_also) = self.links(number);
        let sheet = Sheet {
            voice: self.voice(),
            site: &self.name(),
            title: &self.title(number),
            needle: &self.needle(number),
            draw,
            date,
            charset: "utf-8",
            head: "",
            navigation: &navigation,
            contents: &contents,
            see_also: &see_also,
            asides: &self.asides(number),
            bytes_min: self.web.options().page_bytes_min,
        };
        Reply::ok("text/html; charset=utf-8", sheet.render().into_bytes())
            .validated(request, &etag, &modified)
    }

    /// Links to the root and to the parent, to the children, and across the web.
    fn links(&self, number: u32) -> (Vec<Href>, Vec<Href>, Vec<Href>) {
        let lexicon = self.voice().lexicon;
        let mut navigation = vec![Href::to("/", lexicon.home)];
        if number > 0 {
            navigation.push(Href::to(self.path((number - 1) / BRANCH), lexicon.up));
        }
        let first = number.saturating_mul(BRANCH).saturating_add(1);
        let children = first..first.saturating_add(BRANCH).min(self.pages().max(first));
        let mut contents: Vec<_> =
            children.map(|child| Href::to(self.path(child), self.title(child))).collect();
        if let (0, Some(draft)) = (number, self.draft()) {
            contents.push(Href::to(draft, "Drafts"));
        }
        let mut random = Random::new(self.key(number, Stream::Links));
        let mut see_also = Vec::new();
        for _ in 0..2 + random.below(5) {
            let page = random.zipf(u64::from(self.first_pages()));
            let page = u32::try_from(page).expect("below a u32");
            if random.below(3) > 0 {
                see_also.push(Href::to(self.path(page), self.title(page)));
                continue;
            }
            let ordinary = random.zipf(u64::from(self.web.options().hosts));
            let host = &self.web.hosts()[usize::try_from(ordinary + 1).expect("a host in memory")];
            let site = Site::new(self.web, host);
            see_also.push(Href::to(self.web.url(host, &site.path(page)), site.title(page)));
        }
        (navigation, contents, see_also)
    }

    /// Links inside the host for the paragraphs of a page that is to be long.
    fn asides(&self, number: u32) -> Vec<Href> {
        let count = self.web.options().page_bytes_min.div_ceil(ASIDE_BYTES);
        let mut random = Random::new(self.key(number, Stream::Asides));
        let mut link = |_| {
            let page =
                u32::try_from(random.zipf(u64::from(self.first_pages()))).expect("below a u32");
            Href::to(self.path(page), self.title(page))
        };
        (0..count).map(&mut link).collect()
    }

    /// A day in 2024 or 2025, a day more for each edition; the mirror's is forty days later.
    fn date(&self, number: u32) -> Date {
        let days = Random::new(self.key(number, Stream::Date)).below(650);
        let days = i64::try_from(days).expect("two years");
        let later = if self.host.kind == Kind::Mirror { 40 } else { 0 };
        let changed = i64::from(self.revision(number));
        Date::constant(2024, 1, 1).saturating_add((days + later + changed).days())
    }

    fn voice(&self) -> Voice {
        Voice {
            lexicon: self.topic.language.lexicon(),
            nouns: self.topic.nouns,
            turn: self.key(0, Stream::Voice),
        }
    }

    fn seed(&self) -> u64 {
        self.web.options().seed
    }

    fn key(&self, number: u32, stream: Stream) -> u64 {
        key(&[self.seed(), u64::from(self.source.number), u64::from(number), stream as u64])
    }
}

/// A title as part of a path: lower-case ASCII letters and hyphens; empty if it has no Latin letter.
fn slug(title: &str) -> String {
    let mut slug = String::with_capacity(title.len());
    for letter in title.chars().flat_map(char::to_lowercase) {
        let plain = match letter {
            'a'..='z' => letter,
            'à' | 'á' | 'â' | 'ä' => 'a',
            'è' | 'é' | 'ê' => 'e',
            'ì' | 'í' | 'î' => 'i',
            'ò' | 'ó' | 'ô' | 'ö' => 'o',
            'ù' | 'ú' | 'û' | 'ü' => 'u',
            'ñ' => 'n',
            'ß' => 's',
            ' ' | '\'' | '-' if !slug.is_empty() && !slug.ends_with('-') => '-',
            _ => continue,
        };
        slug.push(plain);
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}
