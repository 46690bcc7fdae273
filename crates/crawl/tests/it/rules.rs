//! The URLs that belong to a crawl, and their normalisation, by table.

use crawl::{Config, CrawlError, Normalisation, Rules, Scope};
use page::Url;
use proptest::prelude::*;

fn url(text: &str) -> Url {
    text.parse().expect("a URL")
}

#[track_caller]
fn check(scope: Scope, link: &str, refusal: Option<&str>) {
    let config = Config { scope, url_bytes_max: 100, ..Config::default() };
    let seeds = [url("http://www.example.co.uk/start"), url("http://localhost:8080/")];
    let rules = Rules::new(&config, &seeds).expect("rules");
    let verdict = rules.check(&url(link));
    assert_eq!(verdict.as_ref().err().map(crawl::Refusal::name), refusal, "{link}");
    if let Err(refusal) = verdict {
        assert!(refusal.to_string().len() > 10, "{refusal}");
    }
}

#[test]
fn host_and_domain_scopes_are_obeyed() {
    for (link, host, domain) in [
        ("http://www.example.co.uk/", true, true),
        ("https://example.co.uk/x", true, true),
        ("http://shop.example.co.uk/", false, true),
        ("http://other.co.uk/", false, false),
        ("http://localhost:8080/a", true, true),
        ("http://localhost:8081/a", false, true),
        ("http://example.co.uk.evil.com/", false, false),
    ] {
        check(Scope::Host, link, (!host).then_some("scope"));
        check(Scope::Domain, link, (!domain).then_some("scope"));
        check(Scope::Any, link, None);
    }
}

/// The refusal in scope `host` names the host or the port.
#[test]
fn another_port_and_another_host_are_reported_differently() {
    let seeds = [url("http://www.a.test/"), url("http://b.test:8080/"), url("http://[::1]:81/")];
    let rules = Rules::new(&Config::default(), &seeds).expect("rules");
    for (link, said) in [
        ("http://a.test:81/", "the host a.test, but at the usual port, and this is at port 81"),
        (
            "http://www.b.test/",
            "the host www.b.test, but at port 8080, and this is at the usual port",
        ),
        ("http://b.test:808/", "the host b.test, but at port 8080, and this is at port 808"),
        ("http://[::1]/", "the host [::1], but at port 81, and this is at the usual port"),
        ("http://c.test:8080/", "c.test is not the host of a seed"),
        ("http://b.test.c/", "b.test.c is not the host of a seed"),
    ] {
        let refusal = rules.check(&url(link)).expect_err("it is out of scope");
        assert!(refusal.to_string().contains(said), "{link}: {refusal}");
        assert_eq!(refusal.name(), "scope");
    }
}

#[test]
fn traps_and_overlong_urls_are_refused() {
    for (path, refusal) in [
        ("/a/b/c/d/e", None),
        ("/a/a/a", None),
        ("/a/b/a/b/a/b/a", Some("repetition")),
        ("/?a&b&c&d&e&f&g&h", None),
        ("/?a&b&c&d&e&f&g&h&i", Some("parameters")),
        ("/picture.PNG", Some("extension")),
        ("/picture.png/page", None),
        ("/.png", None),
        ("/page.html", None),
        ("/page.php?file=x.png", None),
        ("/robots.txt", Some("robots-file")),
        ("/a/robots.txt", None),
        ("/cal/2041/7", Some("calendar")),
        ("/cal/2040/7", None),
        ("/cal/1899/7", Some("calendar")),
        ("/2041/07", Some("calendar")),
        ("/2041/07/15/title", Some("calendar")),
        ("/forum/2041/7", None),
        ("/item/2099", None),
        ("/item/9999/01", None),
        ("/day?date=2050-01-31", Some("calendar")),
        ("/day?date=2026-01-31", None),
        ("/events?year=2050&month=3", Some("calendar")),
        ("/events-2050-03.html", Some("calendar")),
        ("/events?id=2050", None),
        ("/a;jsessionid=0A1B/b", Some("session")),
        ("/(S(abc123))/page.aspx", Some("session")),
        ("/a;v=1/b(c)", None),
        (&"/x".repeat(50), Some("length")),
    ] {
        check(Scope::Any, &format!("http://localhost:8080{path}"), refusal);
    }
}

#[test]
fn a_sitemap_may_have_any_extension() {
    let rules = Rules::new(&Config::default(), &[url("http://a.example/")]).expect("rules");
    let sitemap = url("http://a.example/sitemap.xml.gz");
    assert!(rules.check(&sitemap).is_err() && rules.check_sitemap(&sitemap).is_ok());
    assert!(rules.check_sitemap(&url("http://b.example/sitemap.xml")).is_err());
}

#[test]
fn prefix_and_pattern_scopes_are_obeyed() {
    let seeds = [url("http://a.example/docs/start.html?x=1")];
    let check = |config: &Config, wanted: &[(&str, bool)]| {
        let rules = Rules::new(config, &seeds).expect("rules");
        for &(link, inside) in wanted {
            let verdict = rules.check(&url(link));
            assert_eq!(verdict.is_ok(), inside, "{link}: {verdict:?}");
        }
    };
    let mut config = Config { scope: Scope::Prefix, ..Config::default() };
    check(
        &config,
        &[
            ("http://a.example/docs/other.html", true),
            ("http://a.example/docs/", true),
            ("http://a.example/docs", false),
            ("https://a.example/docs/x", false),
            ("http://b.example/docs/x", false),
        ],
    );
    config.scope_prefixes = ["HTTP://B.example".to_owned(), "http://c.example/x".to_owned()].into();
    check(
        &config,
        &[
            ("http://b.example/any", true),
            ("http://c.example/xyz", true),
            ("http://c.example/y", false),
            ("http://a.example/docs/other.html", false),
        ],
    );
    let patterns = [r"^https?://[^/]+\.example\.org/".to_owned(), "/docs/".to_owned()];
    let config =
        Config { scope: Scope::Pattern, scope_patterns: patterns.into(), ..Config::default() };
    check(
        &config,
        &[
            ("http://www.example.org/", true),
            ("https://x.example.org/y", true),
            ("http://example.org/", false),
            ("http://z.example/docs/", true),
        ],
    );
}

#[test]
fn invalid_scopes_are_refused_by_key() {
    let check = |config: Config, key: &str| {
        let error = config.check().expect_err("it cannot be obeyed");
        assert!(
            matches!(&error, CrawlError::Config { key: found, .. } if *found == key),
            "{error}"
        );
        assert!(Rules::new(&config, &[]).is_err());
    };
    let pattern = |text: &str| Config {
        scope: Scope::Pattern,
        scope_patterns: vec![text.to_owned()],
        ..Config::default()
    };
    check(Config { scope: Scope::Pattern, ..Config::default() }, "scope_patterns");
    check(pattern("(a"), "scope_patterns");
    check(pattern("((a{1000}){1000}){1000}"), "scope_patterns");
    let prefixes =
        |text: &str| Config { scope_prefixes: vec![text.to_owned()], ..Config::default() };
    check(prefixes("example.org/docs"), "scope_prefixes");
    check(prefixes("ftp://example.org/"), "scope_prefixes");
}

fn rules_of(normalise: &[Normalisation]) -> Rules {
    let config = Config { normalise: normalise.to_vec(), scope: Scope::Any, ..Config::default() };
    Rules::new(&config, &[]).expect("rules")
}

const ALL: [Normalisation; 5] = [
    Normalisation::SessionIds,
    Normalisation::Tracking,
    Normalisation::Index,
    Normalisation::Www,
    Normalisation::Escapes,
];

#[test]
fn nested_escapes_are_decoded_quickly() {
    let rules = rules_of(&[Normalisation::Escapes]);
    let nested = format!("{}{}74", "%".repeat(300_000), "3".repeat(299_999));
    let url: Url = format!("http://a.b/?{nested}").parse().expect("a URL");
    assert_eq!(rules.normalise(url).query(), Some("t"));
}

#[test]
fn normalisation_rules_remove_url_parts() {
    let [sessions, tracking, index, www, escapes] = ALL;
    for (rule, before, after) in [
        (sessions, "http://a.b/x?sid=1&q=2", "http://a.b/x?q=2"),
        (sessions, "http://a.b/x?PHPSESSID=1", "http://a.b/x"),
        (sessions, "http://a.b/x?side=1&utm_source=x", "http://a.b/x?side=1&utm_source=x"),
        (sessions, "http://a.b/x;jsessionid=1.n?q=2", "http://a.b/x?q=2"),
        (sessions, "http://a.b/x;v=1;jsessionid=1/y", "http://a.b/x;v=1/y"),
        (sessions, "http://a.b/(S(x1y2))/page.aspx", "http://a.b/page.aspx"),
        (sessions, "http://a.b/(S(x1y2))", "http://a.b/"),
        (tracking, "http://a.b/?utm_source=x&gclid=1&q=%20&fbclid=2", "http://a.b/?q=%20"),
        (tracking, "http://a.b/?q&&r", "http://a.b/?q&&r"),
        (escapes, "http://a.b/operator%.html", "http://a.b/operator%25.html"),
        (escapes, "http://a.b/100%/%4/%e4%?q=1%", "http://a.b/100%25/%254/%e4%25?q=1%"),
        (escapes, "http://a.b/a%20b/%%41", "http://a.b/a%20b/%25A"),
        (index, "http://a.b/c/index.html", "http://a.b/c/"),
        (index, "http://a.b/Default.aspx", "http://a.b/"),
        (index, "http://a.b/index.php?p=1", "http://a.b/index.php?p=1"),
        (index, "http://a.b/index.html/", "http://a.b/index.html/"),
        (www, "http://www.a.b:81/", "http://a.b:81/"),
        (www, "http://www.com/", "http://www.com/"),
        (www, "http://wwww.a.b/", "http://wwww.a.b/"),
        (escapes, "http://a.b/%7Eme/%74%2d?", "http://a.b/~me/t-"),
        (escapes, "http://a.b/a%2Fb%20c?q=%41%26", "http://a.b/a%2Fb%20c?q=A%26"),
        (escapes, "http://a.b/%%374%2574", "http://a.b/%2574%2574"),
        (escapes, "http://a.b/?%%374%2574", "http://a.b/?t%2574"),
    ] {
        assert_eq!(rules_of(&[rule]).normalise(url(before)).as_str(), after, "{before}");
        assert_eq!(rules_of(&[]).normalise(url(before)).as_str(), url(before).as_str());
    }
}

proptest! {
    #[test]
    fn normalising_twice_changes_nothing(
        host in prop::sample::select(vec!["a.b", "www.a.b", "www.www.com", "www.www.a.b", "[::1]"]),
        path in prop::collection::vec(
            prop::sample::select(vec![
                "/", "a", ".", "..", "%2e", "(S(", "))", "(X(1)S(", ";sid=1", ";jsessionid=2",
                ";v=1", "index.html", "default.asp", "INDEX.PHP", "%3B", "//", "%", "%7E", "37", "25", "e", "%69ndex.html",
            ]),
            0..8,
        ),
        query in prop::collection::vec(
            prop::sample::select(vec![
                "sid=1", "&", "utm_x", "=", "q='1", "gclid", "%26", "?", "phpsessid=x", "a=b", "%73id=1", "%",
            ]),
            0..8,
        ),
        rules in prop::sample::subsequence(ALL.to_vec(), 0..=ALL.len()),
    ) {
        let rules = rules_of(&rules);
        let text = format!("http://{host}/{}?{}", path.concat(), query.concat());
        let once = rules.normalise(url(&text));
        prop_assert_eq!(rules.normalise(once.clone()), once);
    }

    /// Any URL has one normal form, which has no more escapes than before, and is judged.
    #[test]
    fn any_url_is_normalised_and_checked(
        text in "https?://[a-z0-9.:-]{1,20}/\\PC{0,60}",
        junk in any::<String>(),
        rules in prop::sample::subsequence(ALL.to_vec(), 0..=ALL.len()),
    ) {
        let rules = rules_of(&rules);
        let limits = page::Limits::default();
        for text in [text, format!("http://a.b/?{junk}"), format!("http://a.b/{junk}"), junk] {
            let Ok(url) = page::normalise(&text, None, &limits) else { continue };
            let once = rules.normalise(url.clone());
            prop_assert_eq!(rules.normalise(once.clone()), once.clone());
            prop_assert!(once.as_str().len() <= 3 * url.as_str().len(), "{} from {}", once, url);
            if let Err(refusal) = rules.check(&once) {
                prop_assert!(!refusal.to_string().is_empty());
            }
        }
    }
}

/// Each would take minutes if every part were compared with every other.
#[test]
fn long_urls_are_normalised_and_checked_quickly() {
    let rules = rules_of(&ALL);
    for part in [
        "/a",
        "/../",
        "/a/b",
        "%",
        "%2e/",
        "&sid=1",
        "?",
        ";jsessionid=1",
        "(S(",
        "=",
        "%25",
        "/20261115",
    ] {
        let text = format!("http://a.b/{}", part.repeat(60_000 / part.len()));
        let url = rules.normalise(url(&text));
        let _ = rules.check(&url);
    }
}
