//! Drafts of records, and functions that write and read them, for all tests.

use std::fs;
use std::path::Path;

use archive::{
    Archive, ArchiveError, Compression, Draft, Kind, Limits, Location, Record, WarcReader,
    WarcWriter, WriterOptions, http_block, warc_fields,
};

/// 2023-11-14T22:13:20Z.
pub(crate) const DATE_S: i64 = 1_700_000_000;

/// Both compressions.
pub(crate) const BOTH: [Compression; 2] =
    [Compression::Gzip { level: 1 }, Compression::Zstd { level: 1 }];

pub(crate) fn with(compression: Compression) -> WriterOptions {
    WriterOptions { compression, ..WriterOptions::default() }
}

/// The name of the first file with this compression.
pub(crate) fn first_file(compression: Compression) -> &'static str {
    match compression {
        Compression::Gzip { .. } => "crivello-00001.warc.gz",
        Compression::Zstd { .. } => "crivello-00001.warc.zst",
    }
}

/// A draft that owns its values.
#[derive(Clone, Debug)]
pub(crate) struct Owned {
    pub(crate) kind: Kind,
    pub(crate) date_s: i64,
    pub(crate) date_us: u32,
    pub(crate) target: Option<String>,
    pub(crate) content_type: String,
    pub(crate) extra: Vec<(String, String)>,
    pub(crate) block: Vec<u8>,
    pub(crate) payload_offset: usize,
}

impl Owned {
    pub(crate) fn write(&self, writer: &mut WarcWriter) -> Result<Location, ArchiveError> {
        let extra: Vec<_> = self.extra.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        writer.write(&Draft {
            kind: self.kind.clone(),
            date_s: self.date_s,
            date_us: self.date_us,
            target: self.target.as_deref(),
            content_type: &self.content_type,
            extra: &extra,
            block: &self.block,
            payload_offset: self.payload_offset,
        })
    }

    /// Returns whether a record equals this draft, headers included.
    pub(crate) fn is(&self, record: &Record) -> bool {
        let carried = self.extra.iter().all(|header| record.headers.contains(header));
        carried
            && record.kind == self.kind
            && (record.date_s, record.date_us) == (self.date_s, self.date_us)
            && record.target == self.target
            && record.content_type.as_ref() == Some(&self.content_type)
            && record.block == self.block
    }
}

/// A `resource` record: a document without HTTP.
pub(crate) fn resource(target: &str, text: &str) -> Owned {
    Owned {
        kind: Kind::Resource,
        date_s: DATE_S,
        date_us: 0,
        target: Some(target.to_owned()),
        content_type: "text/plain".to_owned(),
        extra: Vec::new(),
        block: text.into(),
        payload_offset: 0,
    }
}

/// A `response` record.
pub(crate) fn response(target: &str, body: &[u8]) -> Owned {
    let headers: [(&str, &[u8]); 2] =
        [("Content-Type", b"text/html; charset=utf-8"), ("Transfer-Encoding", b"chunked")];
    let (block, payload_offset) = http_block("HTTP/1.1 200 OK", headers.into_iter(), body);
    Owned {
        kind: Kind::Response,
        content_type: "application/http;msgtype=response".to_owned(),
        extra: vec![("WARC-IP-Address".to_owned(), "127.0.0.1".to_owned())],
        block,
        payload_offset,
        ..resource(target, "")
    }
}

/// One record of every kind that a crawl writes, except the `warcinfo` that the writer adds.
pub(crate) fn of_every_kind() -> Vec<Owned> {
    let url = "http://www.example.org/page?q=1";
    let page = response(url, b"<p>A page of some length, <p>A page of some length");
    let ask = b"GET /page?q=1 HTTP/1.1\r\nHost: www.example.org\r\n\r\n";
    let head = b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n";
    let request = Owned {
        kind: Kind::Request,
        content_type: "application/http;msgtype=request".to_owned(),
        block: ask.to_vec(),
        payload_offset: ask.len(),
        ..page.clone()
    };
    let digest = "sha1:5FU4X3WWSBHEQILRYSQGM2XNS2FVXMFL";
    let profile = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";
    let revisit = Owned {
        kind: Kind::Revisit,
        date_s: DATE_S + 60,
        date_us: 0,
        extra: [
            ("WARC-Profile", profile),
            ("WARC-Refers-To-Target-URI", url),
            ("WARC-Refers-To-Date", "2023-11-14T22:13:20Z"),
            ("WARC-Payload-Digest", digest),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into(),
        block: head.to_vec(),
        payload_offset: head.len(),
        ..page.clone()
    };
    let metadata = Owned {
        kind: Kind::Metadata,
        content_type: "application/warc-fields".to_owned(),
        block: warc_fields(&[
            ("outcome", "timeout"),
            ("detail", "no answer in time"),
            ("Crivello-Purpose", "page"),
            ("Crivello-Attempt", "2"),
        ]),
        ..resource("http://down.example/", "")
    };
    let document = Owned {
        content_type: "application/json".to_owned(),
        ..resource("urn:crivello:d1", "{\"id\":\"d1\",\"text\":\"x\"}")
    };
    vec![page, request, metadata, revisit, document]
}

/// Writes all drafts to a folder. Returns their locations.
pub(crate) fn write_all(dir: &Path, options: WriterOptions, drafts: &[Owned]) -> Vec<Location> {
    let mut writer = WarcWriter::create(dir, options).expect("a writer");
    let places = drafts.iter().map(|draft| draft.write(&mut writer).expect("written")).collect();
    writer.finish().expect("finished");
    places
}

/// Returns all records and errors of a file.
pub(crate) fn read_all(path: &Path, limits: &Limits) -> (Vec<Record>, Vec<ArchiveError>) {
    let mut reader = match WarcReader::open(path, limits.clone()) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), vec![error]),
    };
    drain(&mut reader)
}

/// The remaining records and errors of a reader.
pub(crate) fn drain<R: std::io::Read>(
    reader: &mut WarcReader<R>,
) -> (Vec<Record>, Vec<ArchiveError>) {
    let (mut records, mut errors) = (Vec::new(), Vec::new());
    for _ in 0..10_000 {
        match reader.next_record() {
            Ok(Some(record)) => records.push(record),
            Ok(None) => return (records, errors),
            Err(error) => errors.push(error),
        }
    }
    panic!("reading does not end");
}

/// Every record of a folder.
pub(crate) fn read_folder(dir: &Path) -> Vec<Record> {
    let archive = Archive::open(dir).expect("listed");
    archive.records().map(|record| record.expect("read")).collect()
}

/// The names of the files in a folder, sorted.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .expect("listed")
        .map(|entry| entry.expect("listed").file_name().into_string().expect("ASCII"))
        .collect();
    names.sort_unstable();
    names
}
