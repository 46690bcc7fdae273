//! The URLs that an answer leads to: links, sitemaps, redirects.
//!
//! What lives here: which of them belong to this crawl, and the limit on their bytes. What does not: parsing of
//! pages and sitemaps (`page`, `sitemap.rs`).
//!
//! **Invariant.** Every URL that is not kept is counted by the name of the refusal.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use archive::HttpResponse;
use page::{PageError, Url, normalise};

use super::{Answers, Context, Purpose};
use crate::filter::Facts;
use crate::frontier::is_same_site;
use crate::outcome::Harvest;
use crate::rules::{LENGTH, Refusal};
use crate::sitemap::Sitemap;

/// Maximum bytes of all URLs that one answer leads to; the rest is refused and counted. Short links can resolve to
/// long URLs, and all of them must fit into one archive record.
pub const URLS_BYTES_MAX: usize = 64 << 20;

/// The counter of sitemaps that are longer than the limit.
pub(crate) const SITEMAP_CUT: &str = "sitemap-cut";
/// The counter of sitemaps that are truncated or cannot be decompressed.
pub(crate) const SITEMAP_BROKEN: &str = "sitemap-broken";

impl Answers {
    pub(super) fn links(&self, context: &Context<'_>, page: page::Page, out: &mut Harvest) {
        if self.order.reads_text() {
            out.similarity = self.order.similarity(&format!("{}\n{}", page.title, page.text));
        }
        let links = page.links.into_iter().filter(|link| !link.nofollow);
        let links = links.map(|link| (link.url, link.text));
        refuse(page.links_too_long, LENGTH, out);
        let mut seen = BTreeSet::new();
        let mut room = Room(self.urls_bytes_max);
        for (url, anchor) in links.chain(page.refresh.map(|url| (url, String::new()))) {
            let url = self.rules.normalise(url);
            if !seen.contains(url.as_str()) {
                let verdict = self.rules.check(&url);
                let verdict = verdict.and_then(|()| self.check_link(context, &url, &anchor));
                seen.insert(String::from(url.as_str()));
                room.keep(verdict, url, &mut out.links, &mut out.refused);
            }
        }
    }

    fn check_link(&self, context: &Context<'_>, url: &Url, anchor: &str) -> Result<(), Refusal> {
        let is_same_site = is_same_site(context.url.as_str(), url.as_str());
        let depth = if is_same_site { u32::from(context.depth) + 1 } else { 0 };
        let from = Some(context.url);
        self.rules.check_link(&Facts { url: Some(url), from, anchor, depth, ..Facts::default() })
    }

    /// Collects the URLs of a sitemap; a sitemap that is read only in part is counted.
    pub(super) fn sitemap(&self, base: &Url, body: &[u8], is_cut: bool, out: &mut Harvest) {
        let bytes_max = self.sitemap_bytes_max;
        let sitemap = Sitemap::parse(body, bytes_max, is_cut);
        if sitemap.is_cut {
            let is_long = is_cut || Sitemap::is_long(body, bytes_max);
            let what = if is_long { SITEMAP_CUT } else { SITEMAP_BROKEN };
            refuse(1, what, out);
        }
        if sitemap.is_index {
            return self.keep_sitemaps(base, &sitemap.urls, out);
        }
        let mut room = Room(self.urls_bytes_max);
        for raw in &sitemap.urls {
            if let Some(url) = self.target(raw, base, out) {
                let url = self.rules.normalise(url);
                room.keep(self.rules.check(&url), url, &mut out.links, &mut out.refused);
            }
        }
    }

    pub(super) fn keep_sitemaps(&self, base: &Url, urls: &[String], out: &mut Harvest) {
        let mut room = Room(self.urls_bytes_max);
        for raw in urls {
            if let Some(url) = self.target(raw, base, out) {
                room.keep(self.rules.check_sitemap(&url), url, &mut out.sitemaps, &mut out.refused);
            }
        }
    }

    pub(super) fn redirect(
        &self,
        purpose: Purpose,
        url: &Url,
        http: &HttpResponse<'_>,
        out: &mut Harvest,
    ) {
        let Some(target) = http.header("Location") else { return };
        let Some(target) = self.target(target, url, out) else { return };
        let target = self.rules.normalise_redirect(url, target);
        let verdict = match purpose {
            Purpose::Page => self.rules.check(&target),
            Purpose::Sitemap => self.rules.check_sitemap(&target),
            // The site whose robots.txt it is was decided when it was requested.
            Purpose::Robots => Ok(()),
        };
        match verdict {
            Ok(()) => out.redirect = Some(target.into()),
            Err(refusal) => refuse(1, refusal.name(), out),
        }
    }

    /// Resolves `raw` against `base`; `None` if it is not a URL. A URL that is too long is counted.
    fn target(&self, raw: &str, base: &Url, out: &mut Harvest) -> Option<Url> {
        let target = normalise(raw, Some(base), &self.limits);
        refuse(u64::from(matches!(target, Err(PageError::UrlTooLong { .. }))), LENGTH, out);
        target.ok()
    }
}

fn refuse(urls: u64, refusal: &'static str, out: &mut Harvest) {
    if urls > 0 {
        *out.refused.entry(refusal.into()).or_default() += urls;
    }
}

/// Bytes of URLs that may still be kept.
struct Room(usize);

impl Room {
    /// Keeps a URL, or counts the refusal.
    fn keep(
        &mut self,
        verdict: Result<(), Refusal>,
        url: Url,
        kept: &mut Vec<String>,
        refused: &mut BTreeMap<Cow<'static, str>, u64>,
    ) {
        let refusal = match verdict {
            Ok(()) if url.as_str().len() <= self.0 => {
                self.0 -= url.as_str().len();
                return kept.push(url.into());
            }
            Ok(()) => {
                self.0 = 0;
                "urls-bytes"
            }
            Err(refusal) => refusal.name(),
        };
        *refused.entry(refusal.into()).or_default() += 1;
    }
}
