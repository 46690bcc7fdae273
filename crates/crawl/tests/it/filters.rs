//! The filter language, by table and by random expressions, and its four places on a simulated web.

use std::collections::BTreeSet;

use archive::Archive;
use crawl::{Config, CrawlError, Facts, Filter, Point};
use page::Url;
use proptest::prelude::*;
use simweb::{Kind, Server};

use crate::faults::{serve, write};
use crate::support::{archived, config, crawl, server};

fn url(text: &str) -> Url {
    text.parse().expect("a URL")
}

#[track_caller]
fn check(point: Point, text: &str, facts: &Facts<'_>, wanted: bool) {
    let filter = Filter::compile(text, point).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(filter.accepts(facts), wanted, "{text}");
    let written = filter.to_string();
    assert_eq!(Filter::compile(&written, point).as_ref(), Ok(&filter), "{text} became {written}");
}

#[test]
fn every_field_and_operator_is_evaluated() {
    let page = url("http://docs.Example.org:81/docs/a/Guide.PDF?q=1&r");
    let from = url("http://docs.example.org:81/");
    let facts = Facts {
        url: Some(&page),
        content_type: "Text/HTML; charset=utf-8",
        language: "de",
        length: 1000,
        status: 200,
        depth: 3,
        noindex: true,
        from: Some(&from),
        anchor: "Read more",
        ..Facts::default()
    };
    for (text, wanted) in [
        (r#"host ~ "\.example\.org$""#, true),
        (r#"host !~ "\.EXAMPLE\.org$""#, false),
        ("host = DOCS.example.org", true),
        ("host != docs.example.org", false),
        ("scheme = http and not scheme = https", true),
        ("ext in (pdf, zip)", true),
        ("ext in (zip)", false),
        ("type = text/html", true),
        ("lang in (en, DE)", true),
        ("lang = \"\"", false),
        ("length < 1000", false),
        ("length <= 1000 and length >= 1000 and length > 999 and length = 1000", true),
        ("length != 1000", false),
        ("status in (200, 203)", true),
        ("noindex", true),
        ("noindex = false", false),
        ("noindex != false", true),
        ("not nofollow", true),
        ("depth <= 5", true),
        ("levels = 3", true),
        (r#"path ~ "^/docs/""#, true),
        ("path = /DOCS/a/Guide.PDF", false),
        (r#"query = "q=1&r""#, true),
        (r#"url ~ "^http://docs""#, true),
        ("noindex and depth = 1 or status = 200", true),
        ("noindex and (depth = 1 or status = 404)", false),
        ("not (noindex or nofollow)", false),
        ("not not noindex", true),
    ] {
        check(Point::Store, text, &facts, wanted);
    }
    check(Point::Link, "not offsite and anchor ~ \"^Read\" and from ~ \"/$\"", &facts, true);
    let other = url("http://other.example/");
    check(Point::Link, "offsite", &Facts { from: Some(&other), ..facts }, true);
    check(Point::Store, "duplicate", &Facts { duplicate: true, ..facts }, true);
    check(Point::Fetch, r#"path ~ "say \"hello\"""#, &facts, false);
}

#[track_caller]
fn refused(point: Point, text: &str, column: usize, why: &str, suggestion: Option<&str>) {
    let error = Filter::compile(text, point).expect_err(text);
    assert_eq!((error.column, error.suggestion.as_deref()), (column, suggestion), "{error}");
    assert!(error.why.contains(why), "{error}");
    let shown = error.to_string();
    let mark = shown.lines().last().expect("a mark");
    assert_eq!(mark.chars().count(), 2 + column, "{shown}");
}

#[test]
fn an_error_is_reported_with_its_position() {
    use Point::{Fetch, Link, Parse, Store};
    refused(Fetch, "hots = a", 1, "`hots` is no field", Some("host"));
    refused(Fetch, "host = a ant path = b", 10, "`and` or `or`", Some("and"));
    refused(Fetch, "host = a & path = b", 10, "means nothing", Some("and"));
    refused(Fetch, "host = 'a'", 8, "means nothing", Some("\""));
    refused(Fetch, "host", 5, "a comparison is expected", None);
    refused(Fetch, "host =", 7, "a value is expected", None);
    refused(Fetch, "host = \"a", 8, "no end", None);
    refused(Fetch, "(host = a", 10, "column 1 should be closed", None);
    refused(Fetch, "host = a)", 9, "should end", None);
    refused(Fetch, "host ~ \"(a\"", 8, "no regular expression", None);
    refused(Fetch, "host ~ \"((a{1000}){1000}){1000}\"", 8, "no regular expression", None);
    refused(Fetch, "host < 3", 6, "is text", None);
    refused(Fetch, "levels ~ 3", 8, "is a number", None);
    refused(Fetch, "levels = many", 10, "is a number", None);
    refused(Fetch, "ext in pdf", 8, "a list is expected", None);
    refused(Fetch, "ext in (pdf,)", 13, "a value is expected", None);
    refused(Fetch, "status = 200", 1, "only in parse_filter, store_filter", None);
    refused(Link, "duplicate", 1, "only in store_filter", None);
    refused(Parse, "noindex = treu", 11, "true or false", Some("true"));
    refused(Parse, "noindex in (true)", 9, "true or false", None);
    refused(Store, "länge = 3", 2, "means nothing", None);
    refused(Store, "", 1, "a field is expected", None);
    refused(Store, &"not ".repeat(100), 257, "nested deeper", None);
    assert!(Filter::compile(&"(".repeat(10_000), Store).is_err());
}

#[test]
fn an_invalid_filter_is_a_configuration_error() {
    let config = Config { link_filter: "depth <= many".to_owned(), ..Config::default() };
    let error = config.check().expect_err("it is no filter");
    assert!(matches!(error, CrawlError::Config { key: "link_filter", .. }), "{error}");
    assert!(error.to_string().ends_with("\n  depth <= many\n           ^"), "{error}");
}

fn test() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        "[a-z/.+-]{1,5}".prop_map(|word| word),
        "[ -~é]{0,6}".prop_map(|text| quote(&text))
    ];
    prop_oneof![
        (
            prop::sample::select(vec!["host", "path", "url", "ext", "type", "lang"]),
            prop::sample::select(vec!["=", "!="]),
            value.clone(),
        )
            .prop_map(|(field, sign, value)| format!("{field} {sign} {value}")),
        ("[a-z.^$]{1,4}", prop::sample::select(vec!["~", "!~"]))
            .prop_map(|(pattern, sign)| format!("path {sign} \"{pattern}\"")),
        prop::collection::vec(value, 1..4).prop_map(|list| format!("ext in ({})", list.join(","))),
        (prop::sample::select(vec!["<", "<=", ">", ">=", "=", "!="]), any::<u64>())
            .prop_map(|(sign, number)| format!("length{sign}{number}")),
        prop::collection::vec(any::<u16>(), 1..4)
            .prop_map(|list| format!("status in {list:?}").replace('[', "(").replace(']', ")")),
        prop::sample::select(vec!["noindex", "nofollow = false", "duplicate != true"])
            .prop_map(str::to_owned),
    ]
}

fn quote(text: &str) -> String {
    // A backslash before the closing quotation mark would keep the string open.
    format!("\"{}\"", text.trim_end_matches('\\').replace('"', "\\\""))
}

fn expression() -> impl Strategy<Value = String> {
    test().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| parts.join(" and ")),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| parts.join(" or ")),
            inner.clone().prop_map(|part| format!("not {part}")),
            inner.prop_map(|part| format!("({part})")),
        ]
    })
}

proptest! {
    #[test]
    fn a_printed_filter_parses_to_the_same_filter(text in expression()) {
        let filter = Filter::compile(&text, Point::Store).expect("it is of the grammar");
        let written = filter.to_string();
        let again = Filter::compile(&written, Point::Store);
        prop_assert_eq!(again.as_ref(), Ok(&filter), "{}", written);
        prop_assert_eq!(again.expect("as above").to_string(), written);
    }

    #[test]
    fn any_text_is_a_filter_or_a_positioned_error(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "host", "not", "and", "or", "in", "(", ")", ",", "=", "~", "<=", "\"", "\\", "a",
                "200", "noindex", " ", "é", "!", "length",
            ]),
            0..14,
        ),
    ) {
        let text = parts.join(" ");
        if let Err(error) = Filter::compile(&text, Point::Store) {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.column), "{}", error);
        }
    }
}

/// Crawls the whole web with one filter; returns the archived pages, and how often the filter refused.
fn crawl_with(
    server: &Server,
    seeds: &[String],
    config: &Config,
    name: &str,
) -> (BTreeSet<String>, u64) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let report = crawl(dir.path(), config, seeds).expect("the crawl runs");
    let pages = archived(dir.path());
    assert_eq!(report.pages, pages.len() as u64);
    // Nothing is fetched again, and the count is the same.
    let requests = pages_asked(server);
    let again = crawl(dir.path(), config, &[]).expect("the crawl goes on");
    assert_eq!(pages_asked(server), requests, "fetched again");
    assert_eq!(again.pages, report.pages);
    (pages.into_keys().collect(), report.refused.get(name).copied().unwrap_or(0))
}

fn pages_asked(server: &Server) -> Vec<(String, String)> {
    let mut asked: Vec<_> = server
        .log()
        .into_iter()
        .filter(|line| line.status == 200 && !line.path.contains("robots.txt"))
        .map(|line| (line.host, line.path))
        .collect();
    asked.sort();
    asked
}

#[test]
fn a_fetch_filter_keeps_urls_out_of_the_queues() {
    let server = server();
    let web = server.web();
    let name = &web.hosts()[1].name;
    let config = Config {
        fetch_filter: format!("host != {name} and not path ~ \"^/$\" or host ~ \"^portal\""),
        ..config(&server)
    };
    let (pages, refused) = crawl_with(&server, &web.seeds(), &config, "fetch-filter");
    assert!(refused > 0 && !pages.is_empty());
    assert!(pages.iter().all(|page| !page.contains(name.as_str())), "{pages:?}");
    assert!(server.log().iter().all(|line| line.host != *name));
    let home = |page: &&String| page.ends_with('/') && page.matches('/').count() == 3;
    assert!(pages.iter().filter(home).all(|page| page.contains("portal")), "{pages:?}");
}

#[test]
fn a_link_filter_limits_site_and_depth() {
    let server = server();
    let web = server.web();
    let host = &web.hosts()[1];
    let seeds = [web.url(host, "/")];
    let mut config = Config { link_filter: "not offsite".to_owned(), ..config(&server) };
    let (pages, refused) = crawl_with(&server, &seeds, &config, "link-filter");
    assert!(refused > 0 && pages.len() > 5);
    assert!(pages.iter().all(|page| page.contains(host.name.as_str())), "{pages:?}");
    config.link_filter = "not offsite and depth <= 1".to_owned();
    config.sitemaps = false;
    let (near, refused) = crawl_with(&server, &seeds, &config, "link-filter");
    assert!(refused > 0 && near.len() > 1 && near.len() < pages.len(), "{near:?}");
    // `depth_max` has the same effect.
    config.link_filter = "not offsite".to_owned();
    config.depth_max = 1;
    let (limited, refused) = crawl_with(&server, &seeds, &config, "depth");
    assert!(refused > 0);
    assert_eq!(limited, near);
}

#[test]
fn a_parse_filter_leaves_links_unread() {
    let server = server();
    let web = server.web();
    let truth = web.truth(30);
    let host = &web.hosts()[1];
    let seeds = [web.url(host, "/")];
    let mut config =
        Config { parse_filter: "status = 404".to_owned(), sitemaps: false, ..config(&server) };
    let (pages, refused) = crawl_with(&server, &seeds, &config, "parse-filter");
    assert_eq!((pages.len(), refused), (1, 1));
    // A condition on the page's language: the links of pages in other languages are not followed.
    let language = &truth.page(&seeds[0]).expect("a page").language;
    for (filter, alone) in
        [(format!("lang = {language}"), false), (format!("lang != {language}"), true)]
    {
        config.parse_filter = filter;
        let (pages, refused) = crawl_with(&server, &seeds, &config, "parse-filter");
        assert_eq!(pages.len() == 1, alone, "{}", config.parse_filter);
        assert!(refused > 0 || !alone);
    }
    config.parse_filter = "length > 100 and length < 101".to_owned();
    assert_eq!(crawl_with(&server, &seeds, &config, "parse-filter").0.len(), 1);
}

#[test]
fn a_store_filter_excludes_pages_but_keeps_their_links() {
    let server = server();
    let web = server.web();
    let truth = web.truth(30);
    let meta = web.special(Kind::Meta).expect("there are oddities");
    let seeds = [web.url(meta, "/")];
    let mut config = Config { link_filter: "not offsite".to_owned(), ..config(&server) };
    let (all, _) = crawl_with(&server, &seeds, &config, "store-filter");
    let noindex = |page: &String| truth.page(page).is_some_and(|page| page.noindex);
    assert!(all.iter().any(noindex));
    config.store_filter = "not noindex".to_owned();
    let (some, refused) = crawl_with(&server, &seeds, &config, "store-filter");
    let wanted: BTreeSet<String> = all.iter().filter(|page| !noindex(page)).cloned().collect();
    assert_eq!(some, wanted);
    assert_eq!(refused, (all.len() - wanted.len()) as u64);
    // Without any page in the archive the crawl still continues.
    config.store_filter = "host = nobody".to_owned();
    let (none, refused) = crawl_with(&server, &seeds, &config, "store-filter");
    assert!(none.is_empty() && refused >= all.len() as u64);
}

#[test]
fn a_crawl_without_an_archive_resumes_from_logged_links() {
    let server = server();
    let web = server.web();
    let seeds = [web.url(&web.hosts()[1], "/")];
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut config = Config {
        store_filter: "host = nobody".to_owned(),
        link_filter: "not offsite".to_owned(),
        sitemaps: false,
        requests_per_host_max: 3,
        ..config(&server)
    };
    let report = crawl(dir.path(), &config, &seeds).expect("the crawl runs");
    assert_eq!((report.pages, report.refused.get("store-filter")), (0, Some(&3)));
    config.requests_per_host_max = 0;
    let report = crawl(dir.path(), &config, &[]).expect("the crawl goes on");
    assert!(report.requests > 10 && archived(dir.path()).is_empty(), "{report:?}");
    let asked = pages_asked(&server);
    let once: BTreeSet<_> = asked.iter().collect();
    assert_eq!(once.len(), asked.len(), "fetched again");
}

/// The answer of a busy server can be refused too, and its Retry-After is remembered.
#[test]
fn a_store_filter_applies_to_errors_too() {
    let port = serve(|path, out| {
        let answer = match path {
            "/robots.txt" => "404 Not Found\r\nContent-Length: 0\r\n\r\n",
            "/busy" => "503 Busy\r\nRetry-After: 4000\r\nContent-Length: 6\r\n\r\nsecret",
            _ => {
                "200 OK\r\nContent-Type: text/html\r\nContent-Length: 18\r\n\r\n<a href=/busy>b</a"
            }
        };
        write(out, &format!("HTTP/1.1 {answer}"));
    });
    let dir = tempfile::tempdir().expect("a temporary folder");
    let config =
        Config { store_filter: "status = 200".to_owned(), delay_ms: 1, ..Config::default() };
    let seeds = [format!("http://127.0.0.1:{port}/")];
    let report = crawl(dir.path(), &config, &seeds).expect("the crawl runs");
    assert_eq!((report.pages, report.waiting), (1, 1), "{report:?}");
    let archive = Archive::open(&dir.path().join("archive")).expect("there is one");
    let records: Vec<_> = archive.records().map(|record| record.expect("readable")).collect();
    assert!(records.iter().all(|record| !record.block.ends_with(b"secret")));
    let busy = |record: &&archive::Record| {
        record.target.as_ref().is_some_and(|url| url.ends_with("/busy"))
    };
    let told = records.iter().filter(busy).find_map(crawl::VisitRecord::read).expect("a visit");
    let record = records.iter().find(busy).expect("a record");
    // Waits are counted in milliseconds, rounded up.
    let date_s = record.date_s + i64::from(record.date_us > 999_000);
    assert_eq!((told.status, told.is_unstored), (Some(503), true));
    assert_eq!(told.not_before_s, Some(date_s + 4000));
}
