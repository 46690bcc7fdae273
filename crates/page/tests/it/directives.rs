//! Tests directives to robots in every syntax, with tables.

use page::Directives;

use crate::shared::html;

const NOTHING: Directives = Directives { noindex: false, nofollow: false };
const NOINDEX: Directives = Directives { noindex: true, nofollow: false };
const NOFOLLOW: Directives = Directives { noindex: false, nofollow: true };
const NONE: Directives = Directives { noindex: true, nofollow: true };

#[test]
fn header() {
    let table = [
        ("", NOTHING),
        ("all", NOTHING),
        ("index, follow", NOTHING),
        ("noindex", NOINDEX),
        (" NoIndex ", NOINDEX),
        ("nofollow", NOFOLLOW),
        ("none", NONE),
        ("noindex,nofollow", NONE),
        ("noarchive, noindex , nosnippet", NOINDEX),
        ("noindex nofollow", NONE),
        ("noindexing", NOTHING),
        ("crivello: noindex", NOINDEX),
        ("CRIVELLO : noindex, nofollow", NONE),
        ("*: noindex", NOINDEX),
        ("otherbot: noindex, nofollow", NOTHING),
        ("otherbot: noindex, crivello: nofollow", NOFOLLOW),
        ("noindex, otherbot: nofollow", NOINDEX),
        ("crivello: nofollow, otherbot: noindex", NOFOLLOW),
        ("crivellobot: noindex", NOTHING),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST", NOTHING),
        ("unavailable_after: Tuesday, 25-Jun-30 15:00:00 UTC, noindex", NOINDEX),
        ("otherbot: unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", NOTHING),
        ("max-snippet:20, noindex", NOINDEX),
        ("max-image-preview: large, nofollow", NOFOLLOW),
        ("crivello: max-image-preview: none, nofollow", NOFOLLOW),
        (": noindex", NOINDEX),
        (",,,:,", NOTHING),
    ];
    for (value, expected) in table {
        assert_eq!(Directives::from_header(value, "crivello"), expected, "{value:?}");
        let agent = "Crivello/0.1 (+https://example.com/bot)";
        assert_eq!(Directives::from_header(value, agent), expected, "{value:?} to {agent:?}");
    }
}

#[test]
fn meta() {
    let table = [
        ("", NOTHING),
        ("index,follow", NOTHING),
        ("noindex", NOINDEX),
        ("NOINDEX, NoFollow", NONE),
        ("noindex nofollow", NONE),
        ("none", NONE),
        ("nofollow,noarchive", NOFOLLOW),
        ("noindex;nofollow", NOTHING),
        ("max-image-preview:none", NOTHING),
        ("max-image-preview: none", NOTHING),
        ("MAX-IMAGE-PREVIEW: none nofollow", NOFOLLOW),
        ("max-snippet:, noindex", NOINDEX),
        ("googlebot: noindex", NOINDEX),
    ];
    for (content, expected) in table {
        assert_eq!(Directives::from_meta(content), expected, "{content:?}");
        let page = html(&format!("<meta name='robots' content='{content}'><p>text"));
        assert_eq!(page.robots, expected, "{content:?}");
    }
}

#[test]
fn meta_in_a_page() {
    let table = [
        ("<META CONTENT=noindex NAME=ROBOTS>", NOINDEX),
        ("<meta name=robots content=noindex><meta name=robots content=nofollow>", NONE),
        ("<meta name=robots content=noindex><meta name=robots content=index>", NOINDEX),
        ("<meta name=crivello content=noindex>", NOINDEX),
        ("<meta name=Crivello content=none>", NONE),
        ("<meta name=otherbot content=noindex>", NOTHING),
        ("<meta name=robots>", NOTHING),
        ("<meta name=robots content>", NOTHING),
        ("<meta name=description content=noindex>", NOTHING),
        ("<meta name=robots content=index content=noindex>", NOTHING),
        ("<!-- <meta name=robots content=noindex> -->", NOTHING),
        ("<script>'<meta name=robots content=noindex>'</script>", NOTHING),
        ("<template><meta name=robots content=noindex></template>", NOTHING),
        ("<noscript><meta name=robots content=noindex></noscript>", NOINDEX),
        ("<body><p><meta name=robots content=noindex>", NOINDEX),
        ("<meta property=robots content=noindex>", NOTHING),
    ];
    for (markup, expected) in table {
        assert_eq!(html(markup).robots, expected, "{markup}");
    }
}

#[test]
fn a_union_forbids_what_either_forbids() {
    assert_eq!(NOINDEX.union(NOFOLLOW), NONE);
    assert_eq!(NOINDEX.union(NOTHING), NOINDEX);
    assert_eq!(NOTHING.union(NOTHING), NOTHING);
}
