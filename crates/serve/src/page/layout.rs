//! The frame of every page: head, search form, footer.
//!
//! **Invariant.** A page needs no script and nothing of any other server.

use maud::{DOCTYPE, Markup, html};

/// The style sheet.
pub(crate) const STYLE: &str = include_str!("style.css");

/// The mark of the house: a sieve.
pub(crate) const ICON: &str = include_str!("icon.svg");

/// A whole page around `body`; `query` stands in the search box.
pub(super) fn frame(title: &str, heading: &str, query: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (heading) @if heading != title { " – " (title) } }
                link rel="stylesheet" href="/style.css";
                link rel="icon" type="image/svg+xml" href="/icon.svg";
                link rel="search" type="application/opensearchdescription+xml"
                    title=(title) href="/opensearch.xml";
            }
            body {
                a.skip href="#main" { "Skip to the results" }
                header {
                    a.name href="/" { (title) }
                    (form(query))
                }
                main #main { (body) }
                footer { "Crivello: a search engine in one binary" }
            }
        }
    }
}

/// The search box.
fn form(query: &str) -> Markup {
    html! {
        form action="/search" role="search" {
            label for="q" { "Search" }
            input #q type="search" name="q" value=(query) autofocus[query.is_empty()]
                autocomplete="off" spellcheck="false" maxlength="4096";
            button { "Search" }
        }
    }
}

/// The OpenSearch description, so that browsers can offer this engine.
pub(crate) fn opensearch(title: &str, host: &str) -> String {
    let markup = html! {
        ShortName { (title) }
        Description { "Search " (title) }
        InputEncoding { "UTF-8" }
        Url type="text/html" template=(format!("http://{host}/search?q={{searchTerms}}")) {}
        Url type="application/json" template=(format!("http://{host}/api/search?q={{searchTerms}}")) {}
    };
    let body = markup.into_string();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <OpenSearchDescription xmlns=\"http://a9.com/-/spec/opensearch/1.1/\">{body}\
         </OpenSearchDescription>\n"
    )
}
