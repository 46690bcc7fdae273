//! Which URLs are for a crawl, by table.

use crawl::{Config, Rules, Scope};
use page::Url;

fn url(text: &str) -> Url {
    text.parse().expect("a URL")
}

#[track_caller]
fn check(scope: Scope, link: &str, refusal: Option<&str>) {
    let config = Config { scope, url_bytes_max: 100, ..Config::default() };
    let seeds = [url("http://www.example.co.uk/start"), url("http://localhost:8080/")];
    let verdict = Rules::new(&config, &seeds).check(&url(link));
    assert_eq!(verdict.as_ref().err().map(crawl::Refusal::name), refusal, "{link}");
    if let Err(refusal) = verdict {
        assert!(refusal.to_string().len() > 10, "{refusal}");
    }
}

#[test]
fn scopes() {
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

#[test]
fn traps_and_limits() {
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
        (&"/x".repeat(50), Some("length")),
    ] {
        check(Scope::Any, &format!("http://localhost:8080{path}"), refusal);
    }
}

#[test]
fn a_sitemap_may_end_as_it_likes() {
    let rules = Rules::new(&Config::default(), &[url("http://a.example/")]);
    let sitemap = url("http://a.example/sitemap.xml.gz");
    assert!(rules.check(&sitemap).is_err() && rules.check_sitemap(&sitemap).is_ok());
    assert!(rules.check_sitemap(&url("http://b.example/sitemap.xml")).is_err());
}
