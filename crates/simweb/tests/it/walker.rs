//! A breadth-first crawler in the fewest lines: links by text search, robots.txt by its rules.
//!
//! **Invariant.** It knows of the web only what its answers say.

use flate2::read::GzDecoder;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    io::Read as _,
};
use url::Url;

/// The parts of an answer that the walker uses.
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) robots_tag: Option<String>,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}

/// A walk.
#[derive(Default)]
pub(crate) struct Walk {
    /// URLs that answered 200 to the request for a page, with their bodies.
    pub(crate) pages: BTreeMap<String, Vec<u8>>,
    /// URLs that were found but must not be requested.
    pub(crate) banned: BTreeSet<String>,
    /// The number of links to a URL, from pages of its own and other hosts.
    pub(crate) links: BTreeMap<String, u32>,
    followed: BTreeSet<String>,
    rules: BTreeMap<String, Rules>,
    pages_of: BTreeMap<String, u64>,
}

/// The lines of robots.txt for everybody: whether to allow, and the pattern.
struct Rules {
    lines: Vec<(bool, String)>,
}

const ATTEMPTS: u32 = 3;

impl Walk {
    /// Walks from the seeds; `fetch` is given a URL and how often it has failed.
    pub(crate) fn run(
        seeds: &[String],
        pages_per_host_max: u64,
        fetch: &mut dyn FnMut(&Url, u32) -> Seen,
    ) -> Self {
        let mut walk = Self::default();
        let mut queue: VecDeque<String> = seeds.to_vec().into();
        walk.followed.extend(seeds.iter().cloned());
        while let Some(text) = queue.pop_front() {
            let url = Url::parse(&text).expect("a normal URL");
            let host = url.host_str().expect("a host").to_owned();
            let mut found = Vec::new();
            if !walk.rules.contains_key(&host) {
                let (rules, sitemaps) = robots(&url, fetch);
                walk.rules.insert(host.clone(), rules);
                found.extend(sitemaps.iter().flat_map(|sitemap| sitemap_urls(sitemap, fetch)));
            }
            let allowed = walk.rules[&host].allow(&url);
            let full = walk.pages_of.get(&host).is_some_and(|&pages| pages >= pages_per_host_max);
            if !allowed {
                walk.banned.insert(text);
            } else if !full {
                found.extend(walk.visit(&url, fetch));
            }
            queue.extend(found.into_iter().filter(|url| walk.followed.insert(url.clone())));
        }
        walk.banned.retain(|url| !walk.pages.contains_key(url));
        walk
    }

    fn visit(&mut self, url: &Url, fetch: &mut dyn FnMut(&Url, u32) -> Seen) -> Vec<String> {
        let seen = patiently(url, fetch);
        if let (300..=399, Some(location)) = (seen.status, &seen.location) {
            return url.join(location).into_iter().map(Url::into).collect();
        }
        if seen.status != 200 || !seen.content_type.starts_with("text/html") {
            return Vec::new();
        }
        *self.pages_of.entry(url.host_str().unwrap_or_default().to_owned()).or_default() += 1;
        let text = String::from_utf8_lossy(&seen.body).into_owned();
        self.pages.insert(url.to_string(), seen.body);
        let tag = seen.robots_tag.unwrap_or_default();
        let lower = text.to_ascii_lowercase();
        let nofollow_page = tag == "nofollow"
            || lower.contains("<meta name=\"robots\" content=\"nofollow\"")
            || lower.contains("<meta name=\"robots\" content=\"none\"");
        let mut found = Vec::new();
        for (target, nofollow) in links(url, &text) {
            if nofollow || nofollow_page {
                self.banned.extend((!self.followed.contains(&target)).then_some(target));
            } else {
                *self.links.entry(target.clone()).or_default() += 1;
                found.push(target);
            }
        }
        found
    }
}

fn patiently(url: &Url, fetch: &mut dyn FnMut(&Url, u32) -> Seen) -> Seen {
    let mut attempt = 0;
    loop {
        let seen = fetch(url, attempt);
        attempt += 1;
        if attempt == ATTEMPTS || !(seen.status == 0 || seen.status >= 500) {
            return seen;
        }
    }
}

/// The links of a page, and whether each is nofollow; a refresh is a link.
fn links(url: &Url, text: &str) -> Vec<(String, bool)> {
    let base = text.split("<base href=\"").nth(1).and_then(|rest| rest.split('"').next());
    let base = base.map_or_else(|| url.clone(), |href| url.join(href).expect("a base"));
    let resolve = |href: &str| {
        let mut target = base.join(&href.replace("&amp;", "&")).expect("a link");
        target.set_fragment(None);
        target.set_username("").expect("http has names");
        target.set_password(None).expect("http has passwords");
        target.to_string()
    };
    let anchors = text.split("<a href=\"").skip(1).map(|rest| {
        let (href, rest) = rest.split_once('"').expect("a quote");
        (resolve(href), rest.starts_with(" rel=\"nofollow\""))
    });
    let refresh = text.split("content=\"0; url=").skip(1);
    let refresh = refresh.map(|rest| (resolve(rest.split('"').next().expect("a quote")), false));
    anchors.chain(refresh).collect()
}

/// The rules for everybody and the sitemaps, after up to five redirects.
fn robots(page: &Url, fetch: &mut dyn FnMut(&Url, u32) -> Seen) -> (Rules, Vec<Url>) {
    let mut url = page.join("/robots.txt").expect("a path");
    let mut seen = patiently(&url, fetch);
    for _ in 0..5 {
        let Some(location) = seen.location.take() else { break };
        url = url.join(&location).expect("a location");
        seen = patiently(&url, fetch);
    }
    let nothing = Rules { lines: vec![(false, "/".to_owned())] };
    match seen.status {
        200 => {}
        400..=499 => return (Rules { lines: Vec::new() }, Vec::new()),
        _ => return (nothing, Vec::new()),
    }
    let text = String::from_utf8(seen.body).expect("text");
    let (mut lines, mut sitemaps, mut mine) = (Vec::new(), Vec::new(), false);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let line = line.split('#').next().unwrap_or_default();
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "user-agent" => mine = value == "*",
            "sitemap" => sitemaps.extend(Url::parse(value)),
            "allow" | "disallow" if mine && !value.is_empty() => {
                let allow = name.trim().eq_ignore_ascii_case("allow");
                lines.push((allow, value.replace("%69", "i")));
            }
            _ => {}
        }
    }
    (Rules { lines }, sitemaps)
}

impl Rules {
    fn allow(&self, url: &Url) -> bool {
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = format!("{}{query}", url.path());
        let matching = self.lines.iter().filter(|(_, pattern)| matches(pattern, &path));
        matching.max_by_key(|(allow, pattern)| (pattern.len(), *allow)).is_none_or(|rule| rule.0)
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => path.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| matches(after, rest)))
        }),
        None => match pattern.strip_suffix('$') {
            Some(whole) => path == whole,
            None => path.starts_with(pattern),
        },
    }
}

fn sitemap_urls(sitemap: &Url, fetch: &mut dyn FnMut(&Url, u32) -> Seen) -> Vec<String> {
    let body = patiently(sitemap, fetch).body;
    let ending = sitemap.path().rsplit('.').next();
    let text = if ending == Some("gz") {
        let mut text = String::new();
        GzDecoder::new(body.as_slice()).read_to_string(&mut text).expect("compressed text");
        text
    } else {
        String::from_utf8(body).expect("text")
    };
    if ending == Some("txt") {
        return text.lines().map(str::to_owned).collect();
    }
    let locations = text.split("<loc>").skip(1).filter_map(|rest| rest.split("</loc>").next());
    if !text.contains("<sitemapindex") {
        return locations.map(str::to_owned).collect();
    }
    let parts: Vec<_> = locations.map(|part| Url::parse(part).expect("a URL")).collect();
    parts.iter().flat_map(|part| sitemap_urls(part, fetch)).collect()
}
