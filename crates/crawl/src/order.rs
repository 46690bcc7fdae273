//! The order in which the pages of one host are visited.
//!
//! What lives here: [`Waiting`], a page in the queue, and [`VisitOrder`], which puts a page into one of the
//! [`CLASSES`] of its host's queue, with its implementations. What does not: the queue itself
//! (`frontier/queue.rs`), politeness, robots, limits. There is no depth-first order: on an infinite web it never
//! returns.
//!
//! **Invariant.** The class depends only on the configuration, the URL and the linking page. Class 0 is visited
//! first; inside a class, first found is first visited. Breadth-first has one class.
//!
//! Reference: A. Heydon, M. Najork, "Mercator: a scalable, extensible web crawler", 1999 (front-end queues, one a
//! priority); J. Cho, H. Garcia-Molina, L. Page, "Efficient crawling through URL ordering", 1998 (similarity to
//! keywords, location).

use std::collections::BTreeMap;

use crate::config::{Config, Order, Weights};

/// Number of classes of a queue.
pub const CLASSES: u8 = 16;

/// A page of a host that waits for its visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Path and query, beginning with `/`.
    pub path: Box<str>,
    /// Number of redirects that led here.
    pub hops: u8,
    /// Number of failed visits, without those that count against the host.
    pub attempts: u8,
    /// The spell of failures of the host in which the page last failed; 0 if it has not failed in this run.
    pub spell: u32,
    /// Number of failed visits when that spell began.
    pub attempts_before: u8,
    /// Whether it is a sitemap.
    pub sitemap: bool,
    /// Whether a recrawl fetches it again.
    pub known: bool,
    /// Number of links from the first page of the site; for a sitemap, the number of indexes.
    pub depth: u16,
    /// Whether the server has refused it unprocessed before.
    pub refused: bool,
    /// Whether the request is conditional.
    pub fetch_mode: FetchMode,
    /// Its failures in earlier runs.
    pub blame: Blame,
}

/// The failures of a page in earlier runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Blame {
    /// None are known, or it failed before its host gave another page a good answer.
    #[default]
    Own,
    /// Its host has given no good answer since the first failure.
    Unclear,
    /// It was given up, by its own fault.
    Bad,
}

/// How a known page is fetched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FetchMode {
    /// With a conditional request, if it has a validator.
    #[default]
    IfChanged,
    /// Unconditionally, since the answer to a conditional request was inconclusive.
    Unconditional,
}

impl Waiting {
    /// Creates a page that was found by a link and never tried.
    pub fn new(path: &str) -> Waiting {
        Waiting {
            path: path.into(),
            hops: 0,
            attempts: 0,
            spell: 0,
            attempts_before: 0,
            sitemap: false,
            known: false,
            depth: 0,
            refused: false,
            fetch_mode: FetchMode::default(),
            blame: Blame::default(),
        }
    }
}

/// Returns the number of levels of a path: `/` 1, `/a` 1, `/a/` and `/a/b` 2.
fn levels(path: &str) -> usize {
    let path = path.split('?').next().unwrap_or_default();
    path.bytes().filter(|&byte| byte == b'/').count()
}

/// Puts pages into classes.
pub trait VisitOrder: std::fmt::Debug + Send + Sync {
    /// Returns the class of a page at `url`, whose path is `path`. `off_site` says that the link comes from
    /// another site; `similarity` is that of the linking page to the keywords, from 0 to 1.
    fn class(&self, url: &str, path: &str, off_site: bool, similarity: f32) -> u8;

    /// Returns whether the text of linking pages matters.
    fn reads_text(&self) -> bool {
        false
    }

    /// Returns the similarity of a text to the keywords, from 0 to 1.
    fn similarity(&self, _text: &str) -> f32 {
        0.0
    }
}

/// Creates the configured order.
pub fn visit_order(config: &Config) -> Box<dyn VisitOrder> {
    match config.order {
        // [`Config::check`] refuses depth-first.
        Order::BreadthFirst | Order::DepthFirst => Box::new(BreadthFirst),
        Order::ShallowFirst => Box::new(ShallowFirst),
        Order::Priority => Box::new(Priority::new(config)),
    }
}

/// First found, first visited.
#[derive(Debug, Clone, Copy)]
pub struct BreadthFirst;

impl VisitOrder for BreadthFirst {
    fn class(&self, _: &str, _: &str, _: bool, _: f32) -> u8 {
        0
    }
}

/// Fewer path levels first.
#[derive(Debug, Clone, Copy)]
pub struct ShallowFirst;

impl VisitOrder for ShallowFirst {
    fn class(&self, _: &str, path: &str, _: bool, _: f32) -> u8 {
        let level = levels(path).saturating_sub(1);
        u8::try_from(level).unwrap_or(u8::MAX).min(CLASSES - 1)
    }
}

/// Orders by four weighted signals, the best first.
#[derive(Debug, Clone)]
pub struct Priority {
    weights: Weights,
    /// In lower case.
    keywords: Vec<String>,
}

impl VisitOrder for Priority {
    fn class(&self, url: &str, path: &str, off_site: bool, similarity: f32) -> u8 {
        class_of(self.score(url, path, off_site, similarity))
    }

    fn reads_text(&self) -> bool {
        self.weights.page_keywords > 0 && !self.keywords.is_empty()
    }

    fn similarity(&self, text: &str) -> f32 {
        self.cosine(text)
    }
}

impl Priority {
    fn new(config: &Config) -> Priority {
        let keywords = config.keywords.iter().map(|keyword| keyword.trim().to_lowercase());
        Priority {
            weights: config.weights,
            keywords: keywords.filter(|keyword| !keyword.is_empty()).collect(),
        }
    }

    /// Returns the weighted mean of the four signals, from 0 to 1.
    fn score(&self, url: &str, path: &str, off_site: bool, similarity: f32) -> f32 {
        let Weights { short_url, off_site: off_site_weight, url_keywords, page_keywords } =
            self.weights;
        let short = 1.0 / f32::from(u8::try_from(levels(path).max(1)).unwrap_or(u8::MAX));
        let signals = [
            (short_url, short),
            (off_site_weight, f32::from(u8::from(off_site))),
            (url_keywords, if url_keywords > 0 { self.in_url(url) } else { 0.0 }),
            (page_keywords, similarity),
        ];
        let total: f32 = signals.iter().map(|&(weight, _)| f32::from(weight)).sum();
        let sum: f32 = signals.iter().map(|&(weight, signal)| f32::from(weight) * signal).sum();
        if total > 0.0 { sum / total } else { 0.0 }
    }

    /// Returns the fraction of the keywords that occur in a URL.
    fn in_url(&self, url: &str) -> f32 {
        let url = url.to_lowercase();
        let found = self.keywords.iter().filter(|keyword| url.contains(keyword.as_str())).count();
        ratio(found, self.keywords.len())
    }

    /// Returns the cosine between the word counts of a text and of the keywords, from 0 to 1.
    fn cosine(&self, text: &str) -> f32 {
        let wanted = counts(self.keywords.iter().map(String::as_str));
        let found = counts([text].into_iter());
        let dot: f64 = wanted
            .iter()
            .map(|(word, count)| count * found.get(word).copied().unwrap_or(0.0))
            .sum();
        let length = |counts: &BTreeMap<String, f64>| {
            counts.values().map(|count| count * count).sum::<f64>().sqrt()
        };
        let lengths = length(&wanted) * length(&found);
        #[expect(clippy::cast_possible_truncation, reason = "a number between 0 and 1")]
        if lengths > 0.0 { (dot / lengths) as f32 } else { 0.0 }
    }
}

/// Counts the words of texts, in lower case.
fn counts<'a>(texts: impl Iterator<Item = &'a str>) -> BTreeMap<String, f64> {
    let mut counts = BTreeMap::new();
    for text in texts {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        for word in words.filter(|word| !word.is_empty()) {
            *counts.entry(word.to_lowercase()).or_insert(0.0) += 1.0;
        }
    }
    counts
}

fn ratio(part: usize, whole: usize) -> f32 {
    let number = |count: usize| f32::from(u16::try_from(count).unwrap_or(u16::MAX));
    if whole == 0 { 0.0 } else { number(part) / number(whole) }
}

/// Returns the class of a score; 1 is class 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 15")]
fn class_of(score: f32) -> u8 {
    let worst = f32::from(CLASSES - 1);
    ((1.0 - score.clamp(0.0, 1.0)) * worst).round() as u8
}
