//! In which order the pages of one host are visited (V2).
//!
//! What lives here: [`Waiting`], a page in the queue, and [`VisitOrder`], which says in which of the
//! [`CLASSES`] of its host's queue a page waits, with its implementations. What does not: the queue itself (`frontier/queue.rs`),
//! politeness, robots, limits. There is no depth-first order: on a web without end it never comes back.
//!
//! **Invariant.** The class depends on the configuration, the URL and the linking page only. Class 0 is
//! visited first; inside a class, first found is first visited. Breadth-first has one class.
//!
//! Reference: A. Heydon, M. Najork, "Mercator: a scalable, extensible web crawler", 1999 (front-end
//! queues, one a priority); J. Cho, H. Garcia-Molina, L. Page, "Efficient crawling through URL ordering",
//! 1998 (similarity to keywords, location).

use std::collections::BTreeMap;

use crate::config::{Config, Order, Weights};

/// How many classes a queue has.
pub const CLASSES: u8 = 16;

/// A page of a host that waits for its visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Path and query, beginning with `/`.
    pub path: Box<str>,
    /// How many redirects led here.
    pub hops: u8,
    /// How many visits have failed so far, those left out that its host was to blame for.
    pub attempts: u8,
    /// In which spell of failures of its host it failed last; 0 if this run has not tried it in vain.
    pub spell: u32,
    /// How many visits had failed when that spell began.
    pub attempts_before: u8,
    /// Whether it is a sitemap, which is read for its list and is no page.
    pub sitemap: bool,
    /// Whether a recrawl asks for it again.
    pub known: bool,
    /// How many links lead here from the first page of the site; for a sitemap, how many indexes.
    pub depth: u16,
    /// Whether the server has refused it unseen before.
    pub refused: bool,
    /// How it is asked for.
    pub manner: Manner,
    /// What earlier runs tell of its failures.
    pub repute: Repute,
}

/// What is known of the failures of a page from earlier runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Repute {
    /// Nothing, or that it failed before its host gave another page a good answer.
    #[default]
    Own,
    /// That its host has given no good answer since the first of them.
    Unclear,
    /// That it was given up, by its own fault.
    Bad,
}

/// How a page is asked for that the archive has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Manner {
    /// On the condition that it has changed, if it has a validator.
    #[default]
    IfChanged,
    /// In any case, since an answer to a condition did not tell what it is now.
    Anyhow,
}

impl Waiting {
    /// A page never tried, found by a link.
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
            manner: Manner::default(),
            repute: Repute::default(),
        }
    }
}

/// How many levels down a path goes: `/` 1, `/a` 1, `/a/` and `/a/b` 2.
fn levels(path: &str) -> usize {
    let path = path.split('?').next().unwrap_or_default();
    path.bytes().filter(|&byte| byte == b'/').count()
}

/// Puts pages into classes.
pub trait VisitOrder: std::fmt::Debug + Send + Sync {
    /// The class of a page at `url`, whose path is `path`. `off_site` says that the link comes from
    /// another site, `similarity` how near the linking page is to the keywords, from 0 to 1.
    fn class(&self, url: &str, path: &str, off_site: bool, similarity: f32) -> u8;

    /// Whether the text of linking pages matters.
    fn reads_text(&self) -> bool {
        false
    }

    /// How near a text is to what is looked for, from 0 to 1.
    fn similarity(&self, _text: &str) -> f32 {
        0.0
    }
}

/// The order that `config` asks for.
pub fn visit_order(config: &Config) -> Box<dyn VisitOrder> {
    match config.order {
        // The check of the configuration refuses to go depth-first.
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

/// The best by four weighted signals first.
#[derive(Debug, Clone)]
pub struct Priority {
    weights: Weights,
    /// In small letters.
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

    /// The mean of the four signals by their weights, from 0 to 1.
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

    /// The share of the keywords that occur in a URL.
    fn in_url(&self, url: &str) -> f32 {
        let url = url.to_lowercase();
        let found = self.keywords.iter().filter(|keyword| url.contains(keyword.as_str())).count();
        ratio(found, self.keywords.len())
    }

    /// The cosine between the counts of the words of a text and the keywords, from 0 to 1.
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

/// How often each word occurs, in small letters.
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

/// The best score is of class 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 15")]
fn class_of(score: f32) -> u8 {
    let worst = f32::from(CLASSES - 1);
    ((1.0 - score.clamp(0.0, 1.0)) * worst).round() as u8
}
