//! A small collection in a temporary folder, with an engine for it.

use archive::{Draft, Kind, WarcWriter, WriterOptions};
use collection::Collection;
use jobs::{ExtractOptions, FoldConfig, RankConfig, Reuse, Stage};
use search::{Engine, Results, SearchRequest};
use tempfile::TempDir;

/// A collection that is archived and indexed.
pub(crate) struct Small {
    pub(crate) collection: Collection,
    _folder: TempDir,
}

fn silent(_: Stage, _: u64, _: u64) {}

impl Small {
    /// A collection of pages, given as pairs of URL and HTML.
    pub(crate) fn of(pages: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let collection = Collection::create(folder.path()).expect("a collection");
        let mut writer = WarcWriter::create(&collection.archive_dir(), WriterOptions::default())
            .expect("a writer");
        for (url, html) in pages {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n";
            let block = format!("{head}{html}");
            let draft = Draft {
                kind: Kind::Response,
                date_s: 1_750_000_000,
                date_us: 0,
                target: Some(url),
                content_type: "application/http; msgtype=response",
                extra: &[],
                payload_offset: head.len(),
                block: block.as_bytes(),
            };
            writer.write(&draft).expect("written");
        }
        writer.finish().expect("finished");
        jobs::extract(&collection, &ExtractOptions::default(), &silent).expect("extracted");
        jobs::link(&collection, &silent).expect("linked");
        jobs::rank(&collection, &RankConfig::default(), &silent).expect("ranked");
        jobs::fold(&collection, &FoldConfig::default(), &silent).expect("folded");
        let (config, analysis) = (index::Config::default(), page::AnalysisConfig::default());
        jobs::build_index(&collection, &config, &analysis, Reuse::Unchanged, &|_| {}, &silent)
            .expect("indexed");
        Self { collection, _folder: folder }
    }

    pub(crate) fn open(&self) -> Engine {
        Engine::open(&self.collection, query::Config::default()).expect("an index")
    }
}

/// The ten best results.
pub(crate) fn search(engine: &Engine, text: &str) -> Results {
    let question = SearchRequest { text, k: 10, ..SearchRequest::default() };
    engine.search(&question).expect("a query that can be read")
}
