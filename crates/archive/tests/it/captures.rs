//! Finding the captures of a URL: keys, lines, and CDXJ files that are missing, outdated or wrong.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use archive::{
    Archive, CdxLine, Compression, Kind, Location, WarcWriter, WriterOptions, date_text, repair,
    surt,
};
use proptest::prelude::*;

use crate::drafts::{
    DATE_S, Owned, of_every_kind, read_folder, resource, response, with, write_all,
};

const FILE: &str = "crivello-00001.warc.gz";
const CDXJ: &str = "crivello-00001.warc.gz.cdxj";

#[test]
fn urls_give_the_expected_keys() {
    let table = [
        ("http://www.example.com/", "com,example,www)/"),
        ("https://www.example.com/", "com,example,www)/"),
        ("http://www.example.com", "com,example,www)/"),
        ("http://example.com:8080/a?b", "com,example:8080)/a?b"),
        ("http://example.com:80/", "com,example)/"),
        ("https://example.com:443/", "com,example)/"),
        ("https://example.com:80/", "com,example:80)/"),
        ("http://example.com./", "com,example)/"),
        ("http://EXAMPLE.com/Path?Query", "com,example)/Path?Query"),
        ("http://user:pass@example.com/#part", "com,example)/"),
        ("http://example.com/?", "com,example)/?"),
        ("http://example.com/a b?c d", "com,example)/a%20b?c%20d"),
        ("http://bücher.example/ü", "example,xn--bcher-kva)/%C3%BC"),
        ("http://127.0.0.1:81/x", "127.0.0.1:81)/x"),
        ("http://[::1]/x", "[::1])/x"),
        ("urn:crivello:d1", "urn:crivello:d1"),
        ("dns:example.com", "dns:example.com"),
        ("  not a url\n", "not%20a%20url"),
        ("http://", "http://"),
        ("", "-"),
    ];
    for (url, key) in table {
        assert_eq!(surt(url), key, "{url:?}");
    }
}

#[test]
fn hosts_of_a_domain_sort_together() {
    let mut urls =
        ["http://b.example/", "http://a.org/", "http://x.b.example/", "http://a.example/"];
    urls.sort_by_key(|url| surt(url));
    assert_eq!(
        urls,
        ["http://a.example/", "http://b.example/", "http://x.b.example/", "http://a.org/"]
    );
}

proptest! {
    #[test]
    fn a_key_is_one_field(url in "(https?://)?\\PC{0,30}", junk in any::<String>()) {
        for text in [url, junk] {
            let key = surt(&text);
            let bad = |c: char| c.is_whitespace() || c.is_control();
            prop_assert!(!key.is_empty() && !key.contains(bad), "{text:?} gave {key:?}");
        }
    }

    #[test]
    fn a_line_is_read_back(
        url in "\\PC{1,30}",
        mime in "[a-z/.+-]{1,12}",
        status in proptest::option::of(100..1000_u16),
        digest in proptest::option::of("[A-Z2-7]{32}"),
        date_s in 0..250_000_000_000_i64,
        date_us in 0..1_000_000_u32,
        offset: u64,
        length: u64,
    ) {
        let location = Location { file: FILE.to_owned(), offset, length };
        let line = CdxLine { key: surt(&url), date_s, date_us, url, mime, status, digest, location };
        prop_assert_eq!(CdxLine::parse(&line.to_text()), Some(line));
    }

    #[test]
    fn parsing_any_text_does_not_panic(text in "(\\PC{0,9} [0-9]{0,15} )?\\PC{0,40}") {
        let _ = CdxLine::parse(&text);
    }
}

#[test]
fn lines_match_golden_values() {
    let dir = tempfile::tempdir().expect("a folder");
    write_all(dir.path(), WriterOptions::default(), &of_every_kind());
    let text = fs::read_to_string(dir.path().join(CDXJ)).expect("text");
    // Lengths depend on the compressor, so they come from the archive itself.
    let places: Vec<_> =
        read_folder(dir.path()).into_iter().map(|record| record.location).collect();
    let place = |n: usize| {
        let Location { file, offset, length } = &places[n];
        format!(r#""length":"{length}","offset":"{offset}","filename":"{file}"}}"#)
    };
    let warc_bytes = fs::metadata(dir.path().join(FILE)).expect("there").len();
    let lines = [
        format!(
            r#"example,down)/ 20231114221320 {{"url":"http://down.example/","mime":"application/warc-fields","digest":"AKCP5DI3HTB6HBTHV5J2AS3V5RT5GQMC",{}"#,
            place(3)
        ),
        format!(
            r#"org,example,www)/page?q=1 20231114221320 {{"url":"http://www.example.org/page?q=1","mime":"text/html","status":"200","digest":"5FU4X3WWSBHEQILRYSQGM2XNS2FVXMFL",{}"#,
            place(1)
        ),
        format!(
            r#"org,example,www)/page?q=1 20231114221420 {{"url":"http://www.example.org/page?q=1","mime":"warc/revisit","status":"304","digest":"5FU4X3WWSBHEQILRYSQGM2XNS2FVXMFL",{}"#,
            place(4)
        ),
        format!(
            r#"urn:crivello:d1 20231114221320 {{"url":"urn:crivello:d1","mime":"application/json","digest":"HQTZLCW24B6VIEGUWTWFBB7QMDKQZRRC",{}"#,
            place(5)
        ),
    ];
    let bytes: usize = lines.iter().map(|line| line.len() + 1).sum();
    let sum = crc32fast::hash(format!("{}\n", lines.join("\n")).as_bytes());
    let meta = format!(
        r#"{{"version":4,"filename":"{FILE}","length":{warc_bytes},"covers":{warc_bytes},"bytes":{bytes},"sum":"{sum:08x}"}}"#
    );
    let meta = format!("!meta {}", sealed(&meta));
    assert_eq!(text.lines().collect::<Vec<_>>(), [&[meta][..], &lines].concat());
}

/// The captures of a URL in a folder: dates and statuses.
fn ask(dir: &Path, url: &str) -> Vec<(i64, Option<u16>)> {
    let archive = Archive::open(dir).expect("listed");
    let lines = archive.captures(url).expect("looked up");
    for line in &lines {
        let record = archive.read(&line.location).expect("its place");
        assert_eq!(record.target.as_ref(), Some(&line.url));
        assert_eq!(record.date_s, line.date_s);
    }
    lines.iter().map(|line| (line.date_s, line.status)).collect()
}

/// Captures of one second may be in several files, in any order.
#[test]
fn captures_of_one_second_are_ordered_by_microseconds() {
    for dates in [[(10, 0), (10, 7), (10, 30)], [(10, 30), (10, 7), (10, 0)]] {
        let dir = tempfile::tempdir().expect("a folder");
        let at =
            |(date_s, date_us)| Owned { date_s, date_us, ..response("http://a.example/", b"x") };
        let options = WriterOptions { file_bytes_max: 1, ..WriterOptions::default() };
        write_all(dir.path(), options, &dates.map(at));
        for _ in 0..2 {
            let found = Archive::open(dir.path()).expect("a folder").captures("http://a.example/");
            let found = found.expect("captures");
            let found: Vec<_> = found.iter().map(|line| (line.date_s, line.date_us)).collect();
            assert_eq!(found, [(10, 0), (10, 7), (10, 30)]);
            // The records alone give equal lines.
            for file in fs::read_dir(dir.path()).expect("a folder") {
                let path = file.expect("a file").path();
                if path.extension().is_some_and(|ending| ending == "cdxj") {
                    fs::remove_file(path).expect("removed");
                }
            }
        }
    }
}

#[test]
fn captures_of_all_files_are_ordered_oldest_first() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = |date_s, url: &str| Owned { date_s, ..response(url, b"x") };
    let drafts =
        [at(30, "http://a.example/"), at(10, "https://a.example/"), at(20, "http://a.example/#x")];
    let options = WriterOptions { file_bytes_max: 1, ..WriterOptions::default() };
    write_all(dir.path(), options, &drafts);
    let ok = Some(200);
    assert_eq!(ask(dir.path(), "http://a.example/"), [(10, ok), (20, ok), (30, ok)]);
    assert_eq!(ask(dir.path(), "http://a.example/other"), []);
    assert_eq!(date_text(10), "1970-01-01T00:00:10Z");
}

#[test]
fn one_url_is_found_among_many() {
    let dir = tempfile::tempdir().expect("a folder");
    let url = |n: u32| format!("http://h{}.example/{}", n % 7, "p".repeat((n % 400) as usize));
    let drafts: Vec<_> = (0..400)
        .map(|n| Owned { date_s: i64::from(n), ..resource(&format!("{}{n}", url(n)), "") })
        .collect();
    write_all(dir.path(), WriterOptions::default(), &drafts);
    let archive = Archive::open(dir.path()).expect("listed");
    for (n, draft) in drafts.iter().enumerate() {
        let target = draft.target.as_deref().expect("each has one");
        let found = archive.captures(target).expect("looked up");
        let dates: Vec<_> = found.iter().map(|line| line.date_s).collect();
        assert_eq!(dates, [i64::try_from(n).expect("small")], "{target}");
        assert_eq!(archive.captures(&format!("{target}x")).expect("looked up"), []);
    }
}

/// The text of a folder's only CDXJ file.
fn cdxj(dir: &Path) -> String {
    fs::read_to_string(dir.join(CDXJ)).expect("text")
}

/// A folder's only CDXJ file with other texts in its lines, which stay as long as they were, and the checksum of these.
fn marked(dir: &Path, from: &str, to: &str) -> String {
    let text = cdxj(dir);
    let (meta, lines) = text.split_once('\n').expect("a first line");
    let lines = lines.replace(from, to);
    let (before, _) = meta.split_once(",\"sum\":\"").expect("a checksum");
    let sum = crc32fast::hash(lines.as_bytes());
    let meta = format!("{before},\"sum\":\"{sum:08x}\"}}");
    let meta = sealed(meta.strip_prefix("!meta ").expect("it is the first line"));
    format!("!meta {meta}\n{lines}")
}

/// The object of a first line with its checksum.
fn sealed(meta: &str) -> String {
    let own = crc32fast::hash(meta.as_bytes());
    format!("{},\"own\":\"{own:08x}\"}}", meta.strip_suffix('}').expect("an object"))
}

#[test]
fn a_missing_or_damaged_cdxj_is_rebuilt_identically() {
    let dir = tempfile::tempdir().expect("a folder");
    write_all(dir.path(), WriterOptions::default(), &of_every_kind());
    let original = cdxj(dir.path());
    let body = original.find('\n').expect("a first line") + 1;
    let last_line = original.trim_end().rfind('\n').expect("several lines") + 1;
    let other_name = original.replacen(FILE, "x.warc.gz", 1);
    let flipped = original.replacen("{\"url", "[\"url", 1);
    let (meta, lines) = original[6..].split_once(",\"own\"").expect("a checksum");
    let meta = sealed(&format!("{}}}", meta.replacen("\"version\":4", "\"version\":3", 1)));
    let (_, lines) = lines.split_once('\n').expect("several lines");
    let of_version_3 = format!("!meta {meta}\n{lines}");
    let wrong = [
        None,
        Some(String::new()),
        Some("\u{0}\u{1}\u{2}".to_owned()),
        Some(original[..body].to_owned()),
        Some(original[..last_line].to_owned()),
        Some(original[..original.len() - 9].to_owned()),
        Some(original[body..].to_owned()),
        Some(original.replacen("\"version\":4", "\"version\":3", 1)),
        Some(of_version_3),
        Some(original.replacen("\"covers\":", "\"covers\":1", 1)),
        Some("x".repeat(2 << 20)),
        Some(other_name),
        Some(flipped),
    ];
    for (n, text) in wrong.iter().enumerate() {
        match text {
            Some(text) => fs::write(dir.path().join(CDXJ), text).expect("written"),
            None => fs::remove_file(dir.path().join(CDXJ)).expect("removed"),
        }
        let captures = ask(dir.path(), "http://down.example/");
        assert_eq!(captures, [(DATE_S, None)], "case {n}");
        assert_eq!(cdxj(dir.path()), original, "case {n}");
    }
}

#[test]
fn an_up_to_date_cdxj_is_used_unchanged() {
    let dir = tempfile::tempdir().expect("a folder");
    write_all(dir.path(), WriterOptions::default(), &of_every_kind());
    // A mark that only a reader of this very file can bring back.
    let text = marked(dir.path(), "text/html", "mark/mark");
    fs::write(dir.path().join(CDXJ), &text).expect("written");
    let archive = Archive::open(dir.path()).expect("listed");
    let lines = archive.captures("http://www.example.org/page?q=1").expect("looked up");
    assert_eq!(lines[0].mime, "mark/mark");
    assert_eq!(cdxj(dir.path()), text);
}

#[test]
fn a_grown_file_is_indexed_from_its_old_end() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer = WarcWriter::create(dir.path(), WriterOptions::default()).expect("a writer");
    let url = "http://a.example/";
    for n in 0..5 {
        Owned { date_s: n, ..resource(url, "x") }.write(&mut writer).expect("written");
        let expected: Vec<_> = (0..=n).map(|date_s| (date_s, None)).collect();
        assert_eq!(ask(dir.path(), url), expected);
        // The lines that are there stay: with a mark they come back marked.
        let text = marked(dir.path(), "text/plain", "mark/plain");
        fs::write(dir.path().join(CDXJ), text).expect("written");
    }
    let archive = Archive::open(dir.path()).expect("listed");
    assert!(archive.captures(url).expect("looked up").iter().all(|line| line.mime == "mark/plain"));
    writer.finish().expect("finished");
    assert_eq!(ask(dir.path(), url).len(), 5);
    assert!(!cdxj(dir.path()).contains("mark"), "the writer knows better");
}

#[test]
fn a_replaced_file_is_indexed_from_the_start() {
    let (dir, other) = (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("two"));
    let drafts: Vec<_> = (0..9).map(|n| resource(&format!("http://a.example/{n}"), "x")).collect();
    // Stored, not compressed: texts of one length give files of one length.
    let options = with(Compression::Gzip { level: 0 });
    write_all(dir.path(), options.clone(), &drafts[..4]);
    let length = |dir: &Path| fs::metadata(dir.join(FILE)).expect("there").len();
    for count in [2, 4, 5, 9] {
        let others: Vec<_> = drafts[..count]
            .iter()
            .map(|draft| {
                let target = draft.target.as_deref().map(|url| url.replace("a.", "b."));
                Owned { target, block: b"y".to_vec(), ..draft.clone() }
            })
            .collect();
        let folder = other.path().join(count.to_string());
        write_all(&folder, options.clone(), &others);
        assert_eq!(length(&folder) == length(dir.path()), count == 4);
        fs::copy(folder.join(FILE), dir.path().join(FILE)).expect("copied");
        let later = UNIX_EPOCH + Duration::from_secs(9_000_000_000 + count as u64);
        let file = File::options().write(true).open(dir.path().join(FILE)).expect("opened");
        file.set_modified(later).expect("set");
        assert_eq!(ask(dir.path(), "http://a.example/0"), [], "{count} records");
        assert_eq!(ask(dir.path(), "http://b.example/1").len(), 1, "{count} records");
        fs::remove_dir_all(dir.path()).expect("removed");
        write_all(dir.path(), options.clone(), &drafts[..4]);
    }
}

#[test]
fn a_damaged_file_is_indexed_once_where_readable() {
    let dir = tempfile::tempdir().expect("a folder");
    let drafts: Vec<_> = (0..4).map(|n| resource(&format!("http://a.example/{n}"), "x")).collect();
    let places = write_all(dir.path(), WriterOptions::default(), &drafts);
    let mut bytes = fs::read(dir.path().join(FILE)).expect("read");
    bytes[usize::try_from(places[2].offset).expect("small") + 50] ^= 8;
    fs::write(dir.path().join(FILE), bytes).expect("written");
    fs::remove_file(dir.path().join(CDXJ)).expect("removed");
    assert_eq!(ask(dir.path(), "http://a.example/1").len(), 1);
    assert_eq!(ask(dir.path(), "http://a.example/2"), []);
    let text = marked(dir.path(), "text/plain", "mark/plain");
    fs::write(dir.path().join(CDXJ), text).expect("written");
    assert_eq!(ask(dir.path(), "http://a.example/0").len(), 1);
    assert!(cdxj(dir.path()).contains("mark/plain"), "made again though nothing changed");
}

#[test]
fn only_capture_records_have_lines() {
    let dir = tempfile::tempdir().expect("a folder");
    write_all(dir.path(), WriterOptions::default(), &of_every_kind());
    for record in read_folder(dir.path()) {
        let found = CdxLine::of(&record).is_some();
        let expected =
            matches!(record.kind, Kind::Response | Kind::Resource | Kind::Revisit | Kind::Metadata);
        assert_eq!(found, expected, "{}", record.kind);
    }
}

/// Lines longer than what a search reads through at its end.
#[test]
fn long_urls_are_found() {
    let url = |number: usize| {
        let bytes = if number.is_multiple_of(3) { 20 } else { 700 * (number % 20) };
        format!("http://a.example/{}/{}", number * 37 % 100, "x".repeat(bytes))
    };
    let dir = tempfile::tempdir().expect("a folder");
    let drafts: Vec<Owned> = (0..100).map(|number| resource(&url(number), "text")).collect();
    write_all(dir.path(), WriterOptions::default(), &drafts);
    let archive = Archive::open(dir.path()).expect("a folder");
    for number in 0..100 {
        assert_eq!(archive.captures(&url(number)).expect("looked up").len(), 1, "{number}");
    }
    assert!(archive.captures("http://a.example/5/y").expect("looked up").is_empty());
}

/// A key that fits another URL leads to nothing that is not there; lookup and repair find it by the checksum.
#[test]
fn a_line_with_a_wrong_key_is_repaired() {
    let dir = tempfile::tempdir().expect("a folder");
    let urls = ["a", "b", "c"].map(|name| format!("http://{name}.example/"));
    let drafts: Vec<_> = urls.iter().map(|url| resource(url, "x")).collect();
    write_all(dir.path(), WriterOptions::default(), &drafts);
    let path = dir.path().join(CDXJ);
    let whole = fs::read_to_string(&path).expect("text");
    let found = |url: &str| {
        let archive = Archive::open(dir.path()).expect("a folder");
        let lines = archive.captures(url).expect("looked up").into_iter();
        lines.map(|line| line.url).collect::<Vec<_>>()
    };
    let wrong = whole.replace("\nexample,b)/ ", "\nexample,c)/ ");
    for url in &urls {
        fs::write(&path, &wrong).expect("written");
        assert_eq!(found(url), [url.as_str()]);
        assert_eq!(fs::read_to_string(&path).expect("text"), whole, "made again");
    }
    // Nor does a line that is wrong outlive that its WARC file has grown, or is damaged as well.
    let (warc, bytes) = (dir.path().join(FILE), fs::read(dir.path().join(FILE)).expect("bytes"));
    fs::write(&path, &wrong).expect("written");
    fs::write(&warc, [&bytes[..], &bytes].concat()).expect("written");
    assert_eq!(found(&urls[1]), [urls[1].as_str(), &urls[1]]);
    let mut damaged = bytes.clone();
    *damaged.last_mut().expect("bytes") ^= 1;
    fs::write(&path, whole.replace("//c.", "//z.")).expect("written");
    fs::write(&warc, damaged).expect("written");
    let archive = Archive::open(dir.path()).expect("a folder");
    let unreadable = archive.unreadable(&urls[2]).expect("looked up");
    assert_eq!(unreadable.iter().map(|line| line.url.as_str()).collect::<Vec<_>>(), [""]);
    fs::write(&warc, bytes).expect("written");
    for mended in [true, false] {
        let text = if mended { &wrong } else { &whole };
        fs::write(&path, text).expect("written");
        assert_eq!(repair(dir.path()).expect("read"), []);
        let left = fs::read_to_string(&path).expect("text").lines().count();
        assert_eq!(left, if mended { 1 } else { 4 }, "its first line alone is believed");
        assert_eq!(found(&urls[1]), [urls[1].as_str()]);
    }
    // Damage may take the checksum away, and with it what shows the rest.
    let without = wrong.replace("\"sum\"", "\"sun\"");
    for is_repaired in [false, true] {
        fs::write(&path, &without).expect("written");
        if is_repaired {
            assert_eq!(repair(dir.path()).expect("read"), []);
            assert_eq!(fs::read_to_string(&path).expect("text").lines().count(), 1);
        }
        assert_eq!(found(&urls[1]), [urls[1].as_str()]);
        assert_eq!(fs::read_to_string(&path).expect("text"), whole);
    }
    fs::write(&path, &without).expect("written");
    fs::remove_file(&warc).expect("removed");
    let archive = Archive::open(dir.path()).expect("a folder");
    assert_eq!(archive.gone().expect("listed"), [FILE]);
    assert_eq!(archive.missing_captures(&urls[0]).expect("looked up"), []);
}
