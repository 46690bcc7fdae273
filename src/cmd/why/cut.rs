//! What of a page is not read because it is too much.
//!
//! What lives here: the limits on one page, held against its capture. A crawl may count links written alike
//! as one and follows none that says nofollow; graph and index count all of them, with their words. So the two
//! are told apart. What does not: limits on what is visited (`limit.rs`).
//!
//! **Invariant.** A limit is named if and only if one more byte, or one more link, would have been read
//! without it by whom it is named for. What cannot be read at all is told with the reason.

use anyhow::Result;
use archive::{Record, parse_http};
use crawl::{Config, Excess, Mentions, SITEMAP_URLS_MAX, URLS_BYTES_MAX};
use page::{Limits, Url};

use crate::pipeline::extract_options;
use crate::talk::count;

/// The limits that cut the sitemap in `record`, each in a sentence.
pub(super) fn sitemap_cuts(record: &Record, config: &Config) -> Result<Vec<String>> {
    excesses(record, config)
}

/// What the answer in `record` has too much of, each in a sentence.
fn excesses(record: &Record, config: &Config) -> Result<Vec<String>> {
    let excesses = Mentions::new(config)?.excess(record).into_iter();
    let sentences = excesses.map(|excess| match excess {
        Excess::Links => format!(
            "only the first {} of its links are read (`links_per_page_max`)",
            config.links_per_page_max
        ),
        Excess::Bytes => format!(
            "only as many of its links are read as make {URLS_BYTES_MAX} bytes of URLs, the most that one \
             answer may lead to"
        ),
        Excess::Sitemap => format!(
            "not all of it is read, but the first {SITEMAP_URLS_MAX} URLs in the first {} bytes at most \
             (`sitemap_bytes_max`)",
            config.sitemap_bytes_max
        ),
        Excess::Broken => {
            "its end is missing, or cannot be unpacked; only the URLs before are read".to_owned()
        }
    });
    Ok(sentences.collect())
}

/// That the text in `record` is too long, in a sentence, if it is.
pub(super) fn text_cut(record: &Record, config: &Config) -> Option<String> {
    let options = extract_options(config);
    let bytes_max = options.page.text_bytes_max;
    jobs::is_text_cut(record, &options).then(|| {
        format!("only the first {bytes_max} bytes of its text are searched, the most that any page may have")
    })
}

/// The limits that cut the page in `record`, each in a sentence.
pub(super) fn cuts(record: &Record, url: &Url, config: &Config) -> Result<Vec<String>> {
    let mut cuts = Vec::new();
    let Ok(http) = parse_http(&record.block) else { return Ok(cuts) };
    let bytes_max = config.decoded_bytes_max;
    let body = match http.decoded_body(bytes_max + 1) {
        Ok(body) => body,
        Err(error) => {
            cuts.push(format!("nothing of its body is read: {error}"));
            return Ok(cuts);
        }
    };
    if http.whole_body(bytes_max + 1).is_err() {
        cuts.push(format!(
            "only the first {} bytes of its body can be read: its coding breaks off or is damaged",
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
            "only the first {links_max} of its links, repetitions counted, are kept for graph and \
             index (`links_per_page_max`)"
        )),
        Ok(_) => {}
        Err(error) => cuts.push(match Mentions::new(config)?.count(record) {
            0 => format!("it is not read: {error}"),
            urls => {
                let urls = count(urls as u64, "URL");
                format!("it is not read but for {urls} that it leads to: {error}")
            }
        }),
    }
    Ok(cuts)
}
