//! The class of each page of a host.

use crawl::{CLASSES, Config, CrawlError, Order, VisitOrder, Weights, visit_order};

const NONE: Weights = Weights { short_url: 0, off_site: 0, url_keywords: 0, page_keywords: 0 };

fn ranking(order: Order, weights: Weights) -> Box<dyn VisitOrder> {
    let keywords = ["Sieve".to_owned(), "web crawler".to_owned()].to_vec();
    visit_order(&Config { order, weights, keywords, ..Config::default() })
}

fn class(ranking: &dyn VisitOrder, path: &str, off_site: bool, similarity: f32) -> u8 {
    ranking.class(&format!("http://a.example{path}"), path, off_site, similarity)
}

#[test]
fn breadth_first_and_shallow_first_classify_urls() {
    let breadth = ranking(Order::BreadthFirst, Weights::default());
    let shallow = ranking(Order::ShallowFirst, Weights::default());
    let paths = ["/", "/a", "/a/", "/a/b", "/a?b=/c/d", "/a/b/c"];
    assert_eq!(paths.map(|path| class(&*breadth, path, true, 1.0)), [0; 6]);
    assert_eq!(paths.map(|path| class(&*shallow, path, true, 1.0)), [0, 0, 1, 1, 0, 2]);
    assert_eq!(class(&*shallow, &"/x".repeat(300), false, 0.0), CLASSES - 1);
}

#[test]
fn each_signal_counts_only_by_its_weight() {
    let last = CLASSES - 1;
    for (weights, good, bad) in [
        (Weights { short_url: 7, ..NONE }, ("/a", false, 0.0), ("/a/b/c/d", false, 0.0)),
        (Weights { off_site: 1, ..NONE }, ("/a/b", true, 0.0), ("/a/b", false, 1.0)),
        (Weights { url_keywords: 1, ..NONE }, ("/sieve", false, 0.0), ("/other", true, 1.0)),
        (Weights { page_keywords: 1, ..NONE }, ("/a/b", false, 1.0), ("/sieve", true, 0.0)),
    ] {
        let ranking = ranking(Order::Priority, weights);
        let good = class(&*ranking, good.0, good.1, good.2);
        let bad = class(&*ranking, bad.0, bad.1, bad.2);
        assert!(good < bad && bad <= last, "{weights:?}: {good} {bad}");
    }
    let both = ranking(Order::Priority, Weights { off_site: 3, page_keywords: 1, ..NONE });
    let classes = [(true, 1.0), (true, 0.0), (false, 1.0), (false, 0.0)];
    let classes = classes.map(|(off_site, similarity)| class(&*both, "/", off_site, similarity));
    assert_eq!(classes, [0, 4, 11, last]);
}

#[test]
fn similarity_is_the_cosine_of_counts() {
    let ranking = ranking(Order::Priority, Weights::default());
    // The keywords are the three words sieve, web, crawler, once each.
    let check = |text: &str, wanted: f32| {
        let found = ranking.similarity(text);
        assert!((found - wanted).abs() < 1e-6, "{text:?}: {found}");
    };
    check("Web, sieve: CRAWLER!", 1.0);
    check("web web web", 1.0 / 3.0_f32.sqrt());
    check("a web of lies", 1.0 / (3.0_f32.sqrt() * 2.0));
    check("sieves crawl", 0.0);
    check("", 0.0);
}

#[track_caller]
fn refused(config: &Config, key: &str, word: &str) {
    match config.check() {
        Err(CrawlError::Config { key: found, why }) => {
            assert!(found == key && why.contains(word), "{found}: {why}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn invalid_orders_are_refused_with_a_reason() {
    let config = |order, weights| Config { order, weights, ..Config::default() };
    refused(&config(Order::DepthFirst, Weights::default()), "order", "never comes back");
    refused(&config(Order::Priority, NONE), "weights", "all are 0");
    let keywords_only = Weights { url_keywords: 1, ..NONE };
    refused(&config(Order::Priority, keywords_only), "keywords", "there are none");
    assert!(config(Order::Priority, Weights::default()).check().is_ok());
}
