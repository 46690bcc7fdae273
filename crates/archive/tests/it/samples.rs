//! Every file of the samples of jwat and warcio: read to its end, or a clear error.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use archive::Limits;

use crate::drafts::read_all;

/// The samples, beside the checkout or beside one of the folders above it.
fn samples() -> PathBuf {
    let shared = env::var_os("CRIVELLO_SHARED").map(PathBuf::from).or_else(|| {
        let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        above.map(|dir| dir.join("shared")).find(|shared| shared.is_dir())
    });
    let samples = shared.expect("a folder `shared`, or CRIVELLO_SHARED").join("samples/warc");
    assert!(samples.is_dir(), "no {}", samples.display());
    samples
}

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("listed") {
        let path = entry.expect("listed").path();
        if path.is_dir() {
            files(&path, found);
        } else if !path.ends_with("SOURCE") && !path.ends_with("LICENSE") {
            found.push(path);
        }
    }
}

#[test]
fn needs_shared_every_sample_is_read_or_refused_with_a_reason() {
    let dir = samples();
    let mut paths = Vec::new();
    files(&dir, &mut paths);
    let mut got = BTreeMap::new();
    for path in paths {
        let (records, errors) = read_all(&path, &Limits::default());
        let shown = path.display().to_string();
        let errors: Vec<_> =
            errors.iter().map(|error| error.to_string().replace(&shown, "FILE")).collect();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        got.insert(name, (records.len(), errors));
    }
    let expected: BTreeMap<_, _> = EXPECTED
        .iter()
        .map(|(name, records, errors)| {
            let errors: Vec<_> = errors.iter().map(|&error| error.to_owned()).collect();
            ((*name).to_owned(), (*records, errors))
        })
        .collect();
    for (name, result) in &got {
        assert_eq!(Some(result), expected.get(name), "{name}");
    }
    assert_eq!(got.len(), expected.len());
}

/// File, records read, errors met (with FILE for its path).
const EXPECTED: &[(&str, usize, &[&str])] = &[
    ("bad.arc", 0, &[ARC]),
    (
        "example-bad-non-chunked.warc.gz",
        5,
        &[
            "WARC-Block-Digest of the record at byte 0 of FILE is sha1:DVRKRZEWKT4QEWGQOSFOA5KY5VDIWJLW, but its bytes give sha1:W5NMHSQVKVJVH3GFFGY7J7SJNY7GMGGO",
        ],
    ),
    ("example-bad.warc.gz.bad", 6, &[]),
    (
        "example-digest.warc",
        3,
        &[
            "WARC-Payload-Digest of the record at byte 0 of FILE is sha1:1112H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ, but its bytes give sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
        ],
    ),
    ("example-iana.org-chunked.warc", 3, &[]),
    ("example-resource.warc.gz", 3, &[]),
    ("example-space-in-target-uri.warc.gz", 2, &[]),
    ("example-space-in-url.arc", 0, &[ARC]),
    (
        "example-trunc.warc",
        2,
        &["the record at byte 1197 of FILE does not have its declared length of 973 bytes"],
    ),
    ("example-wget-bad-target-uri.warc.gz", 6, &[]),
    (
        "example-wrong-chunks.warc.gz",
        1,
        &[
            "WARC-Block-Digest of the record at byte 0 of FILE is sha1:SDZIDCNQKX2AQDX3LC6EE2YTIHVLAXUK, but its bytes give sha1:BRFEUIWEBGVFBLSIMEOIL5GDZOG3ZVLT",
        ],
    ),
    ("example.arc", 0, &[ARC]),
    ("example.arc.gz", 0, &[ARC]),
    ("example.warc", 6, &[]),
    ("example.warc.gz", 6, &[]),
    (
        "invalid-arcfile-record-then-garbage.arc",
        0,
        &[
            "FILE has no WARC record at byte 0; found \"http://www.bt.dk/node/10297547/print 80.80.12.134 2010121722\"",
        ],
    ),
    (
        "invalid-warcfile-contenttype-recommended.warc",
        5,
        &[
            "WARC-Payload-Digest of the record at byte 1838 of FILE is sha1:2WAXX5NUWNNCS2BDKCO5OVDQBJVNKIVV, but its bytes give sha1:DOJRBNCFHBFA6HJ4IW4Q4I2G2YELY46X",
            "WARC-Payload-Digest of the record at byte 2823 of FILE is sha1:2WAXX5NUWNNCS2BDKCO5OVDQBJVNKIVV, but its bytes give sha1:DOJRBNCFHBFA6HJ4IW4Q4I2G2YELY46X",
        ],
    ),
    ("invalid-warcfile-contenttype-warcinfo-recommended.warc", 1, &[]),
    (
        "invalid-warcfile-digest-fields.warc",
        3,
        &[
            "WARC-Block-Digest of the record at byte 0 of FILE is sha1:2WAXX5NUWNNCS2BDKCO5OVDQBJVNKIVV, but its bytes give sha1:DOJRBNCFHBFA6HJ4IW4Q4I2G2YELY46X",
        ],
    ),
    ("invalid-warcfile-duplicate-fields.warc", 1, &[]),
    ("invalid-warcfile-encoding-headers.warc.gz", 4, &[]),
    (
        "invalid-warcfile-fields-empty.warc",
        0,
        &["the record at byte 0 of FILE has an unusable Content-Length: \"\""],
    ),
    (
        "invalid-warcfile-fields-invalidformat.warc",
        0,
        &["the record at byte 0 of FILE has an unusable Content-Length: \"very lengthy\""],
    ),
    (
        "invalid-warcfile-fields-missing.warc",
        0,
        &["the record at byte 0 of FILE has an unusable Content-Length: \"\""],
    ),
    (
        "invalid-warcfile-lonely-continuation.warc",
        0,
        &["the record at byte 0 of FILE has no Content-Length"],
    ),
    (
        "invalid-warcfile-lonely-monkeys.warc",
        0,
        &["the record at byte 0 of FILE has no Content-Length"],
    ),
    (
        "invalid-warcfile-lonely-request-response-resource-conversion.warc",
        0,
        &["the record at byte 0 of FILE has no Content-Length"],
    ),
    (
        "invalid-warcfile-lonely-revisit.warc",
        0,
        &["the record at byte 0 of FILE has no Content-Length"],
    ),
    (
        "invalid-warcfile-lonely-warcinfo-metadata.warc",
        0,
        &["the record at byte 0 of FILE has no Content-Length"],
    ),
    (
        "invalid-warcfile-record-then-garbage.warc",
        1,
        &["FILE has no WARC record at byte 1135; found \"The monkeys are a coming!\""],
    ),
    ("invalid-warcfile-segment-number-continuation.warc", 2, &[]),
    ("invalid-warcfile-segment-number-response.warc", 2, &[]),
    ("post-test.warc.gz", 6, &[]),
    ("small_BNF.arc", 0, &[ARC]),
    ("test-arc-1.0-dashed-fields.arc", 0, &[ARC]),
    ("test-arc-1.0-invalid-fields.arc", 0, &[ARC]),
    ("valid-warcfile-contenttype-continuation.warc", 1, &[]),
    ("valid-warcfile-duplicate-concurrentto.warc", 1, &[]),
    ("valid-warcfile-fields-continuation.warc", 1, &[]),
    ("valid-warcfile-fields-metainfo.warc", 1, &[]),
    ("valid-warcfile-fields-warcinfo.warc", 1, &[]),
    ("valid-warcfile-non-warc-headers.warc", 1, &[]),
    ("valid-warcfile-upper-lower-case.warc", 5, &[]),
    ("valid-warcfile-utf8.warc", 1, &[]),
];

const ARC: &str =
    "FILE is an ARC file, which is not supported; convert it with `warcio recompress`";
