//! A host whose pages forbid robots to index them or to follow their links.
//!
//! **Invariant.** The target of a link that must not be followed has no other link. A request for
//! it therefore proves that the crawler did not obey.

use super::{Entry, Fate};
use crate::html::Href;

pub(super) fn meta(url: &dyn Fn(&str) -> String) -> Vec<Entry> {
    let linked = [
        "/noindex.html",
        "/nofollow.html",
        "/none.html",
        "/rel.html",
        "/x-noindex.html",
        "/x-nofollow.html",
        "/x-other-robot.html",
        "/copy/1.html",
        "/copy/2.html",
        "/copy/3.html",
        "/based.html",
        "/refresh.html",
    ];
    let robots = |path, content: &str| {
        let head = format!("<meta name=\"robots\" content=\"{content}\">\n");
        Entry::page(path).planned(|plan| plan.head = head)
    };
    let tagged = |path, value: &str| {
        let header = ("X-Robots-Tag", value.to_owned());
        Entry::page(path).planned(|plan| plan.headers.push(header))
    };
    let beyond = ["/beyond/1.html", "/beyond/2.html", "/beyond/3.html", "/beyond/4.html"];
    let unendorsed = Href { nofollow: true, ..Href::to(beyond[2], beyond[2]) };
    let mut entries = vec![
        Entry::page("/").linking(&linked),
        robots("/noindex.html", "noindex").fated(Fate::Noindex).linking(&["/after-noindex.html"]),
        Entry::page("/after-noindex.html"),
        robots("/nofollow.html", "NoFollow").linking(&beyond[..1]),
        robots("/none.html", "none").fated(Fate::Noindex).linking(&beyond[1..2]),
        Entry::page("/rel.html").planned(|plan| plan.links.push(unendorsed)),
        tagged("/x-noindex.html", "noindex").fated(Fate::Noindex),
        tagged("/x-nofollow.html", "nofollow").linking(&beyond[3..]),
        tagged("/x-other-robot.html", "some-other-robot: noindex"),
        Entry::page("/based.html")
            .planned(|plan| plan.head = format!("<base href=\"{}\">\n", url("/elsewhere/")))
            .linking(&["based-there.html"]),
        Entry::page("/elsewhere/based-there.html"),
        Entry::page("/refresh.html").planned(|plan| {
            plan.head = "<meta http-equiv=\"refresh\" content=\"0; url=/refreshed.html\">\n".into();
        }),
        Entry::page("/refreshed.html"),
    ];
    entries.extend(beyond.map(Entry::forbidden));
    let canonical = format!("<link rel=\"canonical\" href=\"{}\">\n", url("/copy/1.html"));
    entries.extend(["/copy/1.html", "/copy/2.html", "/copy/3.html"].map(|path| {
        Entry::page(path).planned(|plan| {
            plan.head.clone_from(&canonical);
            plan.number = COPY;
        })
    }));
    entries
}

/// The number that the three copies share. It is greater than the numbers that other pages get by their position.
const COPY: u32 = 1000;
