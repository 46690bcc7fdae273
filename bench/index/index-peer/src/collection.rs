//! From a collection to the corpus: the texts that Crivello's index of it was given, in its order.
//!
//! What lives here is what `crates/jobs/src/indexing.rs` does, done again through what is public: which
//! pages become documents, and the texts of the links that lead to them.
//!
//! **Invariant.** The index that Crivello builds from the corpus equals that of the collection, which
//! `index-peer same` holds against each other: this file cannot go its own way unnoticed.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use collection::{Clusters, Collection, Directory, PageTable, analysis_of};
use index::Index;
use jobs::{filters, url_words};
use page::Url;
use serde_json::{Value, json};

use crate::Result;
use crate::corpus::{Document, write_text};

/// Anchor text kept for one page.
const ANCHOR_BYTES_MAX: usize = 2048;
/// A link with more text than this is left out.
const ANCHOR_LINK_BYTES_MAX: usize = 200;
/// Redirects that are followed from one URL.
const HOPS_MAX: usize = 10;

/// What is kept of a page until all of them have been seen.
#[derive(Default)]
struct Page {
    texts: Option<[String; 4]>,
    links: Vec<String>,
    anchors: BTreeSet<String>,
    anchor_bytes: usize,
}

pub(crate) fn write_corpus(from: &Path, to: &Path) -> Result<Value> {
    let collection = Collection::open(from)?;
    let table = PageTable::open(&collection.pages_dir())?;
    let directory = table.directory();
    let folding = Clusters::open(&collection, directory)?.ok_or("no list of duplicates")?;
    let index = Index::open(&collection.index_dir())?;
    let analysis = analysis_of(&index).ok_or("the index does not name its analysis")?;
    let pages = gather(&table, &folding)?;
    let mut out = BufWriter::new(File::create(to)?);
    write_text(&mut out, &serde_json::to_string(&analysis)?)?;
    let (mut documents, mut bytes) = (0_u64, 0);
    for (entry, page) in directory.entries().iter().zip(pages) {
        let Some([title, headings, body, language]) = &page.texts else { continue };
        let anchors: Vec<&str> = page.anchors.iter().map(String::as_str).collect();
        let url = Url::parse(&entry.url).ok();
        let links = page.links.iter().map(String::as_str);
        let document = Document {
            title,
            headings,
            body,
            anchors: &anchors.join("\n"),
            url_words: &url.as_ref().map_or_else(|| entry.url.clone(), url_words),
            filters: &filters(url.as_ref(), language, entry.date_s, links).join("\n"),
            url: &entry.url,
            language,
        };
        document.write(&mut out)?;
        documents += 1;
        bytes += document.bytes();
    }
    out.flush()?;
    if documents != index.doc_count() {
        return Err(format!("{documents} documents, the index has {}", index.doc_count()).into());
    }
    Ok(json!({ "documents": documents, "bytes": bytes }))
}

/// Reads all pages once, as they lie on disk.
fn gather(table: &PageTable, folding: &Clusters) -> Result<Vec<Page>> {
    let directory = table.directory();
    let (entries, places) = (directory.entries(), resolver(directory));
    let mut pages: Vec<Page> = entries.iter().map(|_| Page::default()).collect();
    table.each_live(&mut |from, row| {
        let representative = folding.representative(from).unwrap_or(from);
        let folded = representative != from && !entries[representative].noindex;
        if !entries[from].noindex && !folded {
            let texts = [&row.title, &row.headings, &row.text, &row.language];
            pages[from].texts = Some(texts.map(String::clone));
            pages[from].links = row.links.iter().map(|link| link.url.clone()).collect();
        }
        for link in row.links.iter().filter(|link| !link.nofollow) {
            let Some(&target) = places.get(link.url.as_str()) else { continue };
            let place = folding.representative(target).unwrap_or(target);
            let page = &mut pages[place];
            let fits = (1..=ANCHOR_LINK_BYTES_MAX).contains(&link.text.len());
            let room = page.anchor_bytes + link.text.len() <= ANCHOR_BYTES_MAX;
            if place != from && fits && room && page.anchors.insert(link.text.clone()) {
                page.anchor_bytes += link.text.len();
            }
        }
        Ok(())
    })?;
    Ok(pages)
}

/// From every URL, redirects followed, to the place of its page.
fn resolver(directory: &Directory) -> HashMap<&str, usize> {
    let urls = directory.entries().iter().map(|entry| entry.url.as_str());
    let mut places: HashMap<&str, usize> = urls.zip(0..).collect();
    for (url, _) in directory.redirects() {
        let mut at = url.as_str();
        for _ in 0..HOPS_MAX {
            let Some(target) = directory.redirect(at) else { break };
            at = target;
        }
        if let Some(&place) = places.get(at) {
            places.entry(url).or_insert(place);
        }
    }
    places
}
