//! Small collections: pages that a test wrote, archived as a crawl would.

use archive::{Draft, Kind, WarcWriter, WriterOptions};
use collection::Collection;
use jobs::{
    ExtractOptions, FoldReport, IndexReport, LinkReport, RankConfig, RankReport, Reuse, Stage,
};
use tempfile::TempDir;

/// A collection in a folder of its own.
pub(crate) struct Small {
    _folder: TempDir,
    pub(crate) collection: Collection,
}

/// What the stages said.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) link: LinkReport,
    pub(crate) rank: RankReport,
    pub(crate) fold: FoldReport,
    pub(crate) index: IndexReport,
}

/// No progress.
pub(crate) fn silent(_: Stage, _: u64, _: u64) {}

impl Small {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let collection = Collection::create(folder.path()).expect("a collection");
        Self { _folder: folder, collection }
    }

    /// Archives answers, each a URL, a date and the whole HTTP message, in a file of its own.
    pub(crate) fn archive(&self, answers: &[(&str, i64, String)]) {
        let at = |(url, date_s, message): &(_, i64, String)| (*url, (*date_s, 0), message.clone());
        self.archive_at(&answers.iter().map(at).collect::<Vec<_>>());
    }

    /// The same at seconds and microseconds of them.
    pub(crate) fn archive_at(&self, answers: &[(&str, (i64, u32), String)]) {
        let mut writer =
            WarcWriter::create(&self.collection.archive_dir(), WriterOptions::default())
                .expect("a writer");
        for (url, (date_s, date_us), message) in answers {
            let purpose = if url.contains("sitemap") { "sitemap" } else { "page" };
            let payload_offset = message.find("\r\n\r\n").expect("a head") + 4;
            let draft = Draft {
                kind: Kind::Response,
                date_s: *date_s,
                date_us: *date_us,
                target: Some(url),
                content_type: "application/http; msgtype=response",
                extra: &[("Crivello-Purpose", purpose)],
                block: message.as_bytes(),
                payload_offset,
            };
            writer.write(&draft).expect("written");
        }
        writer.finish().expect("finished");
    }

    /// Archives that a URL was found as it was before, in a file of its own.
    pub(crate) fn revisit(&self, url: &str, date_s: i64, extra: &[(&str, &str)]) {
        self.revisit_with(url, (date_s, 0), extra, "304 Not Modified");
    }

    /// Archives a revisit with this HTTP head, at a second and microsecond, in a file of its own.
    pub(crate) fn revisit_with(
        &self,
        url: &str,
        (date_s, date_us): (i64, u32),
        extra: &[(&str, &str)],
        head: &str,
    ) {
        let mut writer =
            WarcWriter::create(&self.collection.archive_dir(), WriterOptions::default())
                .expect("a writer");
        let block = format!("HTTP/1.1 {head}\r\n\r\n");
        let draft = Draft {
            kind: Kind::Revisit,
            date_s,
            date_us,
            target: Some(url),
            content_type: "application/http; msgtype=response",
            extra,
            block: block.as_bytes(),
            payload_offset: 0,
        };
        writer.write(&draft).expect("written");
        writer.finish().expect("finished");
    }

    /// All stages.
    pub(crate) fn build(&self) -> Built {
        self.build_with(&index::Config::default(), Reuse::Unchanged)
    }

    /// All stages, with another configuration of the index.
    pub(crate) fn build_with(&self, config: &index::Config, reuse: Reuse) -> Built {
        let collection = &self.collection;
        jobs::extract(collection, &ExtractOptions::default(), &silent).expect("extracted");
        Built {
            link: jobs::link(collection, &silent).expect("linked"),
            rank: jobs::rank(collection, &RankConfig::default(), &silent).expect("ranked"),
            fold: jobs::fold(collection, &jobs::FoldConfig::default(), &silent).expect("folded"),
            index: jobs::build_index(
                collection,
                config,
                &page::AnalysisConfig::default(),
                reuse,
                &|_| {},
                &silent,
            )
            .expect("indexed"),
        }
    }
}

/// An HTTP answer of 200 with a page.
pub(crate) fn html(head: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n\
         <html><head>{head}</head><body>{body}</body></html>"
    )
}

/// A text of its own for each number, long enough to have a fingerprint.
pub(crate) fn prose(number: u64) -> String {
    let word = |place: u64| {
        let draw = (number * 1000 + place).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        format!("w{draw:x}g")
    };
    (0..60).map(word).collect::<Vec<_>>().join(" ")
}
