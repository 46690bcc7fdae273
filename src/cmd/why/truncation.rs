//! Limits that cut a page.
//!
//! What lives here: comparison of a capture with the limits for one page. A crawl counts equal links once and ignores
//! `nofollow` links. Graph and index count all links. So their cuts are separate. What does not: limits on visits
//! (`limit.rs`).
//!
//! **Invariant.** A limit is named if and only if at least one more byte or link would be read without it.

use anyhow::Result;
use archive::{Record, parse_http};
use crawl::{Config, Excess, ReferenceFinder, SITEMAP_URLS_MAX, URLS_BYTES_MAX};
use page::{Limits, Url};

use crate::console::count;
use crate::pipeline::extract_options;

/// Returns the limits that cut the sitemap in `record`, each as a sentence.
pub(super) fn sitemap_cuts(record: &Record, config: &Config) -> Result<Vec<String>> {
    excesses(record, config)
}

/// Returns the limits on URLs that the answer in `record` exceeds, each as a sentence.
fn excesses(record: &Record, config: &Config) -> Result<Vec<String>> {
    let excesses = ReferenceFinder::new(config)?.excess(record).into_iter();
    let sentences = excesses.map(|excess| match excess {
        Excess::Links => format!(
            "only the first {} of its links are read (`links_per_page_max`)",
            config.links_per_page_max
        ),
        Excess::Bytes => format!(
            "its links are read only up to {URLS_BYTES_MAX} bytes of URLs, the limit for one answer"
        ),
        Excess::Sitemap => format!(
            "at most the first {SITEMAP_URLS_MAX} URLs in its first {} bytes are read (`sitemap_bytes_max`)",
            config.sitemap_bytes_max
        ),
        Excess::Broken => {
            "its end is missing or cannot be unpacked; only the URLs before that are read".to_owned()
        }
    });
    Ok(sentences.collect())
}

/// Returns a sentence if the text in `record` is too long.
pub(super) fn text_cut(record: &Record, config: &Config) -> Option<String> {
    let options = extract_options(config);
    let bytes_max = options.page.text_bytes_max;
    jobs::is_text_cut(record, &options).then(|| {
        format!("only the first {bytes_max} bytes of its text are indexed, the limit for a page")
    })
}

/// Returns the limits that cut the page in `record`, each as a sentence.
pub(super) fn cuts(record: &Record, url: &Url, config: &Config) -> Result<Vec<String>> {
    let mut cuts = Vec::new();
    let Ok(http) = parse_http(&record.block) else { return Ok(cuts) };
    let bytes_max = config.decoded_bytes_max;
    let body = match http.decoded_body(bytes_max + 1) {
        Ok(body) => body,
        Err(error) => {
            cuts.push(format!("its body cannot be read: {error}"));
            return Ok(cuts);
        }
    };
    if http.whole_body(bytes_max + 1).is_err() {
        cuts.push(format!(
            "only the first {} bytes of its body can be read: its content coding is cut off or damaged",
            body.len()
        ));
    }
    if body.len() > bytes_max {
        cuts.push(format!(
            "only the first {bytes_max} bytes of its body are read (`decoded_bytes_max`)"
        ));
    }
    cuts.extend(excesses(record, config)?);
    let limits = extract_options(config).page;
    let (links_max, body) = (limits.links_max, &body[..body.len().min(bytes_max)]);
    let one_more = Limits { links_max: links_max + 1, ..limits };
    match page::parse(url, http.header("Content-Type"), body, &one_more) {
        Ok(page) if page.links.len() > links_max => cuts.push(format!(
            "only the first {links_max} of its links, duplicates included, are kept for graph and \
             index (`links_per_page_max`)"
        )),
        Ok(_) => {}
        Err(error) => cuts.push(match ReferenceFinder::new(config)?.count(record) {
            0 => format!("it cannot be parsed: {error}"),
            urls => {
                let urls = count(urls as u64, "URL");
                format!("only {urls} in it can be read: {error}")
            }
        }),
    }
    Ok(cuts)
}
