//! The output of each stage for a small archive.

use collection::{Clusters, PageTable, Vector};
use index::{DocId, Field, Index};
use jobs::{ExtractOptions, Reuse};

use crate::small::{Small, html, prose, silent};

/// URLs of the documents of the index, in order.
fn documents(small: &Small) -> Vec<String> {
    let index = Index::open(&small.collection.index_dir()).expect("an index");
    let mut urls = Vec::new();
    for segment in index.segments() {
        for doc in 0..segment.doc_count() {
            urls.push(segment.record(DocId(doc)).expect("a record").url);
        }
    }
    urls
}

/// How many documents have a term.
fn frequency(small: &Small, field: Field, term: &str) -> u32 {
    let index = Index::open(&small.collection.index_dir()).expect("an index");
    let lists =
        index.segments().iter().map(|segment| segment.postings(field, term).expect("a list"));
    lists.map(|list| list.map_or(0, |list| list.doc_frequency())).sum()
}

fn link(to: &str, text: &str) -> String {
    format!("<a href=\"{to}\">{text}</a> ")
}

#[test]
fn pages_redirects_and_other_captures_are_classified() {
    let small = Small::new();
    small.archive(&[
        ("http://b.test/", 10, html("<title>B</title>", &prose(1))),
        ("http://a.test/x", 10, html("<title>X</title>", &prose(2))),
        ("http://a.test/old", 10, "HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\n".to_owned()),
        ("http://a.test/gone", 10, "HTTP/1.1 404 Not Found\r\n\r\n".to_owned()),
        ("http://a.test/robots.txt", 10, "HTTP/1.1 200 OK\r\n\r\nUser-agent: *".to_owned()),
        ("http://a.test/sitemap.txt", 10, "HTTP/1.1 200 OK\r\n\r\nhttp://a.test/x".to_owned()),
    ]);
    small.build();
    let table = PageTable::open(&small.collection.pages_dir()).expect("a table");
    let directory = table.directory();
    let urls: Vec<_> = directory.entries().iter().map(|entry| entry.url.as_str()).collect();
    assert_eq!(urls, ["http://a.test/x", "http://b.test/"]);
    assert_eq!(directory.find("http://b.test/"), Some(1));
    assert_eq!(directory.find("http://a.test/old"), None);
    assert_eq!(directory.redirect("http://a.test/old"), Some("http://a.test/x"));
    assert_eq!(directory.other("http://a.test/gone"), Some("status 404"));
    assert_eq!(documents(&small), urls);
}

/// Which do, `page::StatusClass` says.
#[test]
fn only_responses_about_the_page_remove_it() {
    let small = Small::new();
    let url = |status: u16| format!("http://a.test/{status}");
    let statuses = [202, 206, 300, 305, 403, 404, 408, 412, 421, 423, 425, 429, 451, 501];
    let urls = statuses.map(url);
    let text = |number: usize| html("", &prose(number as u64));
    let pages: Vec<_> = (0..).zip(&urls).map(|(n, url)| (url.as_str(), 10, text(n))).collect();
    small.archive(&pages);
    let answer = |status: u16| format!("HTTP/1.1 {status} X\r\nLocation: /202\r\n\r\nnothing");
    let later: Vec<_> = statuses
        .iter()
        .zip(&urls)
        .map(|(&status, url)| (url.as_str(), 20, answer(status)))
        .collect();
    small.archive(&later);
    small.build();
    let gone = [403, 404, 451].map(url);
    let standing = urls.iter().filter(|url| !gone.contains(url));
    assert_eq!(documents(&small), standing.cloned().collect::<Vec<_>>());
}

#[test]
fn the_newest_response_wins_and_failures_hide_nothing() {
    let small = Small::new();
    small.archive(&[
        ("http://a.test/", 20, html("<title>New</title>", &prose(1))),
        ("http://a.test/", 10, html("<title>Old</title>", &prose(2))),
        ("http://b.test/", 10, html("<title>Stays</title>", &prose(3))),
        ("http://b.test/", 20, "HTTP/1.1 503 Busy\r\n\r\n".to_owned()),
        ("http://b.test/", 30, "HTTP/1.1 304 Not Modified\r\n\r\n".to_owned()),
        ("http://c.test/", 10, html("<title>Was</title>", &prose(4))),
        ("http://c.test/", 20, "HTTP/1.1 410 Gone\r\n\r\n".to_owned()),
    ]);
    small.build();
    let index = Index::open(&small.collection.index_dir()).expect("an index");
    let record = |doc| index.segments()[0].record(DocId(doc)).expect("a record").title;
    assert_eq!(index.doc_count(), 2);
    assert_eq!([record(0), record(1)], ["New", "Stays"]);
}

#[test]
fn an_unchanged_page_keeps_content_and_gets_new_date() {
    const PAGE: [(&str, &str); 1] = [("Crivello-Purpose", "page")];
    let small = Small::new();
    small.archive(&[
        ("http://a.test/", 10, html("<title>Stays</title>", &prose(1))),
        ("http://b.test/", 10, html("<title>Was</title>", &prose(2))),
        ("http://c.test/", 10, html("<title>Of another crawler</title>", &prose(3))),
        ("http://d.test/", 10, "HTTP/1.1 404 Not Found\r\n\r\n".to_owned()),
    ]);
    small.revisit("http://a.test/", 20, &PAGE);
    small.revisit("http://a.test/", 30, &PAGE);
    small.revisit("http://b.test/", 20, &PAGE);
    small.archive(&[("http://b.test/", 30, html("<title>Is</title>", &prose(4)))]);
    small.revisit("http://c.test/", 20, &[]);
    small.revisit("http://d.test/", 20, &PAGE);
    small.revisit("http://e.test/", 20, &PAGE);
    small.build();
    let table = PageTable::open(&small.collection.pages_dir()).expect("a table");
    let directory = table.directory();
    let pages: Vec<_> =
        directory.entries().iter().map(|entry| (entry.url.as_str(), entry.date_s)).collect();
    assert_eq!(pages, [("http://a.test/", 30), ("http://b.test/", 30), ("http://c.test/", 10)]);
    assert_eq!(directory.other("http://d.test/"), Some("status 404"));
    assert_eq!(directory.other("http://e.test/"), None);
    let index = Index::open(&small.collection.index_dir()).expect("an index");
    let record = |doc| index.segments()[0].record(DocId(doc)).expect("a record").title;
    assert_eq!([record(0), record(1)], ["Stays", "Is"]);
}

#[test]
fn links_become_arcs_and_anchors_through_redirects() {
    let small = Small::new();
    let body = |links: &str, number| format!("{links}{}", prose(number));
    let links = [
        link("/t", "zwetschge"),
        link("/moved", "quitte"),
        link("http://out.test/", "out"),
        "<a rel=nofollow href=/t>mirabelle</a>".to_owned(),
    ];
    small.archive(&[
        ("http://a.test/", 1, html("<title>A</title>", &body(&links.concat(), 1))),
        ("http://a.test/moved", 1, "HTTP/1.1 302 Found\r\nLocation: /t\r\n\r\n".to_owned()),
        ("http://a.test/t", 1, html("<title>T</title>", &body("", 2))),
        ("http://a.test/u", 1, html("<title>U</title>", &body(&link("/t", "t"), 3))),
    ]);
    let built = small.build();
    assert_eq!((built.link.nodes, built.link.arcs), (3, 2), "{built:?}");
    assert_eq!(built.link.outside, 1);
    assert_eq!((built.rank.nodes, built.rank.arcs), (3, 2));
    assert!(built.rank.error_bound <= 1e-9, "{built:?}");
    for (term, count) in [("zwetschg", 1), ("quitt", 1), ("mirabell", 0)] {
        assert_eq!(frequency(&small, Field::Anchor, term), count, "{term}");
    }
    let index = Index::open(&small.collection.index_dir()).expect("an index");
    let ranks = collection::document_ranks(&small.collection, &index, &Vector::pagerank());
    let ranks = ranks.expect("ranks").expect("PageRank").remove(0);
    let (a, t, u) = (ranks[0], ranks[1], ranks[2]);
    assert!(t > a && t > u && (a - u).abs() < 1e-6, "{ranks:?}");
    assert!((ranks.iter().sum::<f32>() - 3.0).abs() < 1e-5, "n times a distribution: {ranks:?}");
}

#[test]
fn a_cluster_is_represented_by_its_canonical_then_its_best_ranked_page() {
    let small = Small::new();
    let dated = |day| format!("{} on {day} May 2025", prose(1));
    let canonical = "<title>Z</title><link rel=canonical href=http://z.test/>";
    small.archive(&[
        ("http://hub.test/", 1, html("", &format!("{}{}", link("http://m.test/", "m"), prose(9)))),
        ("http://a.test/", 1, html("<title>S</title>", &dated(1))),
        ("http://m.test/", 1, html("<title>S</title>", &dated(2))),
        ("http://y.test/", 1, html(canonical, &prose(6))),
        ("http://z.test/", 1, html("<title>Z</title>", &prose(6))),
    ]);
    let built = small.build();
    assert_eq!((built.fold.clusters, built.fold.folded), (2, 2), "{built:?}");
    assert_eq!(documents(&small), ["http://hub.test/", "http://m.test/", "http://z.test/"]);
    let table = PageTable::open(&small.collection.pages_dir()).expect("a table");
    let folding = Clusters::open(&small.collection, table.directory()).expect("readable");
    let folding = folding.expect("folded");
    let place = |url| table.directory().find(url).expect("a page");
    assert_eq!(folding.representative(place("http://a.test/")), Some(place("http://m.test/")));
    let behind: Vec<_> = folding.behind(place("http://z.test/")).collect();
    assert_eq!(behind, [place("http://y.test/")]);
    assert_eq!(folding.behind(place("http://hub.test/")).count(), 0);
}

#[test]
fn noindex_pages_are_not_indexed() {
    let small = Small::new();
    let header = html("", &prose(2)).replacen("\r\n", "\r\nX-Robots-Tag: noindex\r\n", 1);
    small.archive(&[
        ("http://a.test/1", 1, html("<meta name=robots content=noindex>", &prose(1))),
        ("http://a.test/2", 1, header),
        ("http://a.test/3", 1, html("", &prose(3))),
    ]);
    let built = small.build();
    assert_eq!((built.index.documents, built.index.noindex), (1, 2));
    assert_eq!(documents(&small), ["http://a.test/3"]);
}

#[test]
fn hosts_languages_types_links_and_dates_are_special_terms() {
    let small = Small::new();
    let italian = "La ricerca nel web comincia con una domanda e finisce con una risposta. Chi cerca \
        trova, ma soltanto se le parole che ha scelto sono anche quelle della pagina che vorrebbe leggere.";
    small.archive(&[
        ("http://www.shop.example.org/", 1, html("", italian)),
        ("http://127.0.0.1/", 1, html("", &prose(1))),
        (
            "http://127.0.0.1/a.txt",
            1_773_532_800,
            html("", &(prose(2) + &link("/", "up") + &link("#x", "here") + &link("/?(y)", "y"))),
        ),
    ]);
    small.build();
    let linked = |url: &str| page::Filter::of_link(url);
    for (term, count) in [
        ("type::html", 2),
        ("type::txt", 1),
        ("date::1970-01-01", 2),
        ("date::2026", 1),
        ("date::2026-03", 1),
        ("date::2026-03-15", 1),
        (&linked("http://127.0.0.1/"), 1),
        (&linked("http://127.0.0.1/?(y)"), 1),
        (&linked("http://127.0.0.1/a.txt"), 0),
        ("site::www.shop.example.org", 1),
        ("site::example.org", 1),
        ("site::org", 1),
        ("site::127.0.0.1", 2),
        ("site::0.0.1", 0),
        ("lang::it", 1),
    ] {
        assert_eq!(frequency(&small, Field::Url, term), count, "{term}");
    }
    // None of them makes an address longer: `127.0.0.1` and its four numbers.
    let index = Index::open(&small.collection.index_dir()).expect("an index");
    let place = documents(&small).iter().position(|url| url == "http://127.0.0.1/");
    let doc = DocId(u32::try_from(place.expect("it is there")).expect("few"));
    assert_eq!(index.segments()[0].length(Field::Url, doc), 5);
}

/// A page whose text stays and whose links change is indexed again.
#[test]
fn a_page_with_new_links_is_indexed_again() {
    let small = Small::new();
    let filter = page::Filter::of_link("http://b.test/");
    small.archive(&[("http://a.test/", 1, html("", &prose(1)))]);
    small.build();
    assert_eq!(frequency(&small, Field::Url, &filter), 0);
    let linked = html("", &format!("{}<a href=\"http://b.test/\"></a>", prose(1)));
    small.archive(&[("http://a.test/", 2, linked)]);
    let options = ExtractOptions::default();
    jobs::extract(&small.collection, &options, &silent).expect("extracted");
    small.build();
    assert_eq!(documents(&small).len(), 1);
    assert_eq!(frequency(&small, Field::Url, &filter), 1);
}

#[test]
fn a_second_run_processes_only_new_files() {
    let small = Small::new();
    small.archive(&[("http://a.test/", 1, html("", &prose(1)))]);
    let first = small.build();
    let second = small.build();
    assert!(!first.index.up_to_date && second.index.up_to_date && second.link.up_to_date);
    assert!(!first.rank.up_to_date && second.rank.up_to_date);
    assert_eq!(first.rank.iterations, second.rank.iterations);
    assert_eq!(first.index.generation, second.index.generation);
    small.archive(&[("http://b.test/", 2, html("", &prose(2)))]);
    let options = ExtractOptions::default();
    let report = jobs::extract(&small.collection, &options, &silent).expect("extracted");
    assert_eq!((report.files_read, report.pages), (1, 2));
    let third = small.build();
    assert!(third.index.generation > first.index.generation);
    assert_eq!(documents(&small), ["http://a.test/", "http://b.test/"]);
}

#[test]
fn a_failed_stage_is_run_again() {
    let small = Small::new();
    small.archive(&[("http://a.test/", 1, html("", &prose(1)))]);
    small.build();
    let options = ExtractOptions::default();
    small.archive(&[("http://b.test/", 2, html("", &prose(2)))]);
    let lag = jobs::extract_staleness(&small.collection, &options).expect("readable");
    assert_eq!(lag, Some(jobs::Staleness::Files(1)));
    // The directory cannot be written: something else has the name of the file beside it.
    let blocked = small.collection.pages_dir().join("directory.tmp");
    std::fs::create_dir(&blocked).expect("a folder");
    jobs::extract(&small.collection, &options, &silent).expect_err("blocked");
    std::fs::remove_dir(&blocked).expect("removed");
    let report = jobs::extract(&small.collection, &options, &silent).expect("extracted");
    assert_eq!((report.files_read, report.pages), (1, 2));
    assert_eq!(jobs::extract_staleness(&small.collection, &options).expect("readable"), None);
}

#[test]
fn changed_options_reread_all_files() {
    let small = Small::new();
    let asks =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Robots-Tag: gnubot: noindex\r\n\r\n";
    small.archive(&[("http://a.test/", 1, format!("{asks}{}", prose(1)))]);
    assert_eq!(small.build().index.noindex, 0);
    let options = ExtractOptions { agent: "gnubot".to_owned(), ..ExtractOptions::default() };
    let lag = jobs::extract_staleness(&small.collection, &options).expect("readable");
    assert_eq!(lag, Some(jobs::Staleness::Reading));
    let report = jobs::extract(&small.collection, &options, &silent).expect("extracted");
    assert_eq!(report.files_read, 1);
    let table = PageTable::open(&small.collection.pages_dir()).expect("a table");
    assert!(table.directory().entries()[0].noindex);
}

#[test]
fn clusters_and_ranks_of_other_pages_are_not_used() {
    let small = Small::new();
    let pages = [("http://a.test/", 1, html("", &prose(1)))];
    small.archive(&pages);
    small.build();
    let old = PageTable::open(&small.collection.pages_dir()).expect("a table");
    small.archive(&[("http://a.test/", 2, html("", &prose(2)))]);
    let options = ExtractOptions::default();
    jobs::extract(&small.collection, &options, &silent).expect("extracted");
    let table = PageTable::open(&small.collection.pages_dir()).expect("a table");
    let open = |table: &PageTable| Clusters::open(&small.collection, table.directory());
    assert!(open(&old).expect("readable").is_some());
    assert!(open(&table).expect("readable").is_none(), "these clusters are of other pages");
    jobs::link(&small.collection, &silent).expect("linked");
    assert!(!small.collection.ranks_file().exists(), "these ranks are of another graph");
}

#[test]
fn a_row_of_a_removed_part_gives_no_page() {
    let small = Small::new();
    small.archive(&[("http://a.test/", 1, html("", &prose(1)))]);
    small.build();
    let table = PageTable::open(&small.collection.pages_dir()).expect("a table");
    let pointer = table.directory().entries()[0].pointer;
    std::fs::remove_dir_all(small.collection.pages_dir()).expect("removed");
    assert_eq!(table.page(pointer).expect("no error"), None);
}

#[test]
fn an_imported_document_is_cut_at_the_limits_of_a_page() {
    let small = Small::new();
    let text = "é".repeat(1 << 20);
    let block = format!("{{\"title\": \"T\", \"text\": \"{text}\"}}");
    let mut writer = archive::WarcWriter::create(
        &small.collection.archive_dir(),
        archive::WriterOptions::default(),
    )
    .expect("a writer");
    let draft = archive::Draft {
        kind: archive::Kind::Resource,
        date_s: 1,
        date_us: 0,
        target: Some("urn:crivello:1"),
        content_type: "application/json",
        extra: &[],
        block: block.as_bytes(),
        payload_offset: 0,
    };
    writer.write(&draft).expect("written");
    writer.finish().expect("finished");
    let mut options = ExtractOptions::default();
    options.page.text_bytes_max = 1001;
    let report = jobs::extract(&small.collection, &options, &silent).expect("extracted");
    assert_eq!((report.cut, report.cut_urls), (1, vec!["urn:crivello:1".to_owned()]));
    let table = PageTable::open(&small.collection.pages_dir()).expect("a table");
    let pointer = table.directory().entries()[0].pointer;
    let (url, page) = table.page(pointer).expect("readable").expect("a page");
    assert_eq!((url.as_str(), page.text.len()), ("urn:crivello:1", 1000));
    options.page.text_bytes_max = 2 << 20;
    let report = jobs::extract(&small.collection, &options, &silent).expect("extracted");
    assert_eq!((report.files_read, report.cut), (1, 0), "it fits");
}

/// Which capture counts is a matter of dates, not of the order in which a file has them, nor of the file.
#[test]
fn a_page_is_marked_cut_as_its_newest_capture() {
    let text = |bytes: usize| html("", &"word ".repeat(bytes / 5));
    let (short, long) = (text(100), text(4000));
    let mut options = ExtractOptions::default();
    options.page.text_bytes_max = 1000;
    for (captures, is_cut) in [
        ([(20, &long), (10, &short)], true),
        ([(10, &short), (20, &long)], true),
        ([(20, &short), (10, &long)], false),
        ([(10, &long), (20, &short)], false),
        ([(10, &short), (10, &long)], true),
        ([(10, &long), (10, &short)], false),
    ] {
        let dates = captures.map(|(date, page)| (date, page.len()));
        for is_one_file in [true, false] {
            let small = Small::new();
            // Others fill a block of rows before it.
            let filler = |number| (format!("http://b.test/{number}"), html("", &prose(number)));
            let fillers: Vec<_> = (0..200).map(filler).collect();
            let fillers = fillers.iter().map(|(url, page)| (url.as_str(), 10, page.clone()));
            let answers = captures.map(|(date, page)| ("http://a.test/", date, page.clone()));
            if is_one_file {
                small.archive(&fillers.chain(answers).collect::<Vec<_>>());
            } else {
                small.archive(&fillers.collect::<Vec<_>>());
                for answer in answers {
                    small.archive(&[answer]);
                }
            }
            let report = jobs::extract(&small.collection, &options, &silent).expect("extracted");
            let is_told = report.cut_urls.iter().any(|url| url == "http://a.test/");
            assert_eq!(is_told, is_cut, "{dates:?}, one file: {is_one_file}");
        }
    }
}

#[test]
fn a_new_index_ignores_ranks_of_a_removed_index() {
    let small = Small::new();
    small.archive(&[("http://a.test/", 1, html("", &prose(1)))]);
    small.build();
    std::fs::remove_dir_all(small.collection.index_dir()).expect("removed");
    small.archive(&[("http://b.test/", 2, html("", &prose(2)))]);
    let silent = &silent;
    jobs::extract(&small.collection, &ExtractOptions::default(), silent).expect("extracted");
    jobs::fold(&small.collection, &jobs::FoldConfig::default(), silent).expect("folded");
    let analysis = page::AnalysisConfig::default();
    let config = index::Config::default();
    let reuse = Reuse::Unchanged;
    let report = jobs::build_index(&small.collection, &config, &analysis, reuse, &|_| {}, silent)
        .expect("indexed");
    assert_eq!(report.documents, 2);
    let index = Index::open(&small.collection.index_dir()).expect("an index");
    let ranks = collection::document_ranks(&small.collection, &index, &Vector::pagerank());
    let ranks = ranks.expect("no mix-up");
    assert!(ranks.is_none(), "the graph knows nothing of b.test: {ranks:?}");
}

/// Documents with words of several scripts, long ones, and such that stem twice.
#[test]
fn the_index_does_not_depend_on_the_thread_count() {
    let small = Small::new();
    let urls: Vec<String> = (0..40).map(|n| format!("http://h{}.test/p/{n}", n % 7)).collect();
    let body = |n: u64| {
        format!("{} Universities université {n} a_word_that_is_long_{n} 日本語の検索 абв", prose(n))
    };
    for (number, url) in (0_u64..).zip(&urls) {
        small.archive(&[(url.as_str(), number.cast_signed() + 1, html("", &body(number)))]);
    }
    small.build();
    let analysis = page::AnalysisConfig::default();
    let build = |threads| {
        let config = index::Config { threads, ..index::Config::default() };
        jobs::build_index(&small.collection, &config, &analysis, Reuse::Nothing, &|_| {}, &silent)
            .expect("indexed");
        let index = Index::open(&small.collection.index_dir()).expect("an index");
        assert_eq!((index.doc_count(), index.segments().len()), (40, 1));
        let generation = index.generation();
        let folder = small.collection.index_dir().join(format!("segment-{generation}-0"));
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .expect("the segment")
            .map(|entry| entry.expect("a file").path())
            .map(|path| (path.file_name().map(ToOwned::to_owned), std::fs::read(path)))
            .map(|(name, bytes)| (name, bytes.expect("reads")))
            .collect();
        files.sort();
        files
    };
    let alone = build(1);
    assert_eq!(alone.len(), 7);
    for threads in [2, 3, 9] {
        assert!(build(threads) == alone, "{threads} threads");
    }
}
