//! Shared helpers of the tests: pages from markup, and the published test suites.
//!
//! The name of a test that reads these suites begins with `needs_shared_`. The runner skips it if the suites are
//! missing.

use std::fs;
use std::path::{Path, PathBuf};

use page::{Limits, Page, Url, normalise, parse};

/// The default URL of a page in these tests.
pub(crate) const HERE: &str = "http://example.com/dir/page.html";

pub(crate) fn url(text: &str) -> Url {
    normalise(text, None, &Limits::default()).expect("a URL written in a test")
}

/// The page of this markup.
pub(crate) fn html(markup: &str) -> Page {
    html_bytes(markup.as_bytes())
}

pub(crate) fn html_bytes(body: &[u8]) -> Page {
    parse(&url(HERE), Some("text/html"), body, &Limits::default()).expect("HTML is always a page")
}

/// The URLs of the links of a page.
pub(crate) fn links(page: &Page) -> Vec<&str> {
    page.links.iter().map(|link| link.url.as_str()).collect()
}

/// The bytes of a file of the published test suites.
pub(crate) fn read(file: &str) -> Vec<u8> {
    let path = samples().join(file);
    fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
}

/// The names of the files in a folder of the published test suites, filtered by their ending.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<String> {
    let dir = samples().join(folder);
    let mut names: Vec<_> = fs::read_dir(&dir)
        .unwrap_or_else(|error| panic!("cannot list {}: {error}", dir.display()))
        .map(|entry| entry.expect("an entry of a folder").file_name().into_string())
        .map(|name| name.expect("a name in UTF-8"))
        .filter(|name| name.ends_with(ending))
        .map(|name| format!("{folder}/{name}"))
        .collect();
    names.sort();
    names
}

fn samples() -> PathBuf {
    if let Some(shared) = std::env::var_os("CRIVELLO_SHARED") {
        return PathBuf::from(shared).join("samples");
    }
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("shared").join("samples"))
        .find(|samples| samples.is_dir())
        .expect("a folder `shared` beside the checkout, or CRIVELLO_SHARED")
}
