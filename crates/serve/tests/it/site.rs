//! A collection in a temporary folder, and a server for it.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::Duration;

use archive::{Draft, Kind, WarcWriter, WriterOptions};
use collection::Collection;
use jobs::{ExtractOptions, Stage};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// A served collection. Dropping it stops the server.
pub(crate) struct Site {
    pub(crate) collection: Collection,
    address: SocketAddr,
    _folder: TempDir,
    _runtime: Runtime,
}

/// The answer to a request.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

fn silent(_: Stage, _: u64, _: u64) {}

/// Archives pages, given as pairs of URL and HTML.
pub(crate) fn archive(collection: &Collection, pages: &[(String, String)]) {
    let dir = collection.archive_dir();
    let mut writer = WarcWriter::create(&dir, WriterOptions::default()).expect("a writer");
    for (url, html) in pages {
        let block =
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{html}");
        let draft = Draft {
            kind: Kind::Response,
            date_s: 1_750_000_000,
            date_us: 0,
            target: Some(url),
            content_type: "application/http; msgtype=response",
            extra: &[],
            payload_offset: block.len() - html.len(),
            block: block.as_bytes(),
        };
        writer.write(&draft).expect("written");
    }
    writer.finish().expect("finished");
}

/// Brings the index up to date.
pub(crate) fn index(collection: &Collection) {
    jobs::extract(collection, &ExtractOptions::default(), &silent).expect("extracted");
    jobs::link(collection, &silent).expect("linked");
    jobs::rank(collection, &jobs::RankConfig::default(), &silent).expect("ranked");
    jobs::fold(collection, &jobs::FoldConfig::default(), &silent).expect("folded");
    let analysis = page::AnalysisConfig::default();
    let config = index::Config::default();
    jobs::build_index(collection, &config, &analysis, jobs::Reuse::Unchanged, &|_| {}, &silent)
        .expect("indexed");
}

impl Site {
    pub(crate) fn serve(pages: &[(String, String)]) -> Self {
        Self::serve_with(pages, query::Config::default())
    }

    pub(crate) fn serve_with(pages: &[(String, String)], query: query::Config) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let collection = Collection::create(folder.path()).expect("a collection");
        archive(&collection, pages);
        index(&collection);
        let runtime = Runtime::new().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let address = listener.local_addr().expect("an address");
        let served = serve::Site::open(collection.clone(), serve::Config::default(), query);
        runtime.spawn(served.expect("an index").serve(listener, std::future::pending()));
        Self { collection, address, _folder: folder, _runtime: runtime }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send(
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        )
    }

    /// Repeats the request for up to ten seconds until `is_right` accepts the answer.
    pub(crate) fn wait_for(&self, path: &str, is_right: impl Fn(&str) -> bool) {
        let right = (0..100).any(|_| {
            sleep(Duration::from_millis(100));
            is_right(&self.get(path).body)
        });
        assert!(right, "{path} did not change in ten seconds: {}", self.get(path).body);
    }

    /// Opens a connection without sending a request.
    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).expect("a server")
    }

    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        Self::answer(self.begin(request))
    }

    /// Sends a request without waiting for the answer.
    pub(crate) fn begin(&self, request: &[u8]) -> TcpStream {
        let mut stream = self.connect();
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        stream.write_all(request).expect("sent");
        stream
    }

    pub(crate) fn answer(mut stream: TcpStream) -> Answer {
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }
}

/// A page of a synthetic site. Its text contains `shared` and the word for its number.
pub(crate) fn numbered(number: usize) -> (String, String) {
    let filler: Vec<String> = (0..40).map(|i| word(number * 7919 + i * 104_729)).collect();
    let html = format!(
        "<title>Page {number}</title><p>A shared beginning, then {} and {}.",
        word(number),
        filler.join(" ")
    );
    (format!("http://numbers.test/{number}"), html)
}

/// A number spelt in letters, since fingerprints ignore digits.
pub(crate) fn word(number: usize) -> String {
    let letter = |digit: char| char::from(b'a' + u8::try_from(digit).expect("ASCII") - b'0');
    format!("z{}z", number.to_string().chars().map(letter).collect::<String>())
}
