//! No error text repeats its cause, which is printed from the chain.
//!
//! What lives here: the texts of the error enums of all crates, read from their sources.

use std::fs;
use std::path::Path;

use crate::sandbox::{Sandbox, files_below};

/// The attributes `#[error(…)]` of a source, each with the text up to the next one.
fn errors(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = text.match_indices("#[error(").map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &text[start..end]).collect()
}

/// Returns whether the text of a variant repeats its source error.
fn repeats_its_source(error: &str) -> bool {
    let (attribute, rest) = error.split_once(")]").unwrap_or((error, ""));
    let variant = rest.split("///").find(|part| part.contains(['{', '('])).unwrap_or_default();
    let has_source =
        rest.contains("#[from]") || rest.contains("#[source]") || rest.contains(" source:");
    let of_tuple = variant.contains("(#[from]") || variant.contains("(#[source]");
    has_source && (attribute.contains("{source") || of_tuple && attribute.contains("{0"))
}

#[test]
fn no_error_repeats_its_cause() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for folder in ["crates", "src"] {
        for file in files_below(&root.join(folder)) {
            if file.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = fs::read_to_string(&file).expect("a source");
            for error in errors(&text) {
                seen += 1;
                assert!(!repeats_its_source(error), "{}: {error}", file.display());
            }
        }
    }
    assert!(seen > 50, "only {seen} errors were found");
    let twice = "#[error(\"the archive: {source}\")]\nArchive {\n#[from]\nsource: ArchiveError },";
    assert!(repeats_its_source(twice));
    assert!(repeats_its_source("#[error(\"no: {0}\")]\nIo(#[from] io::Error),"));
    assert!(!repeats_its_source(
        "#[error(\"no {path}\")]\nIo { path: PathBuf, source: io::Error },"
    ));
}

/// A crawl of an unreadable archive prints each cause once.
#[test]
fn a_cause_is_printed_once() {
    let sandbox = Sandbox::with_collection();
    fs::create_dir_all(sandbox.path("web/archive/x.warc.gz")).expect("a folder");
    let ran = sandbox.run(&["crawl", "--dir", "web", "http://localhost:9/"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    let parts: Vec<&str> = ran.stderr.trim().split(": ").collect();
    let twice = parts.iter().enumerate().find(|(at, part)| parts[..*at].contains(part));
    assert_eq!(twice, None, "{ran:#?}");
    assert!(ran.stderr.contains("x.warc.gz"), "{ran:#?}");
    // A listed error has its cause as well.
    let list = sandbox.run(&["archive", "list", "--dir", "web"]);
    let doctor = sandbox.run(&["doctor", "archive", "--dir", "web"]);
    assert_eq!((list.code, doctor.code), (1, 1), "{list:#?} {doctor:#?}");
    for said in [list.stderr, doctor.stdout] {
        assert!(said.contains("x.warc.gz: ") && said.contains("os error"), "{said}");
    }
}
