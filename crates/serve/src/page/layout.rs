//! The frame of every page: head, search form, footer.
//!
//! **Invariant.** A page needs no script and no other server.

use maud::{DOCTYPE, Markup, html};

/// The style sheet.
pub(crate) const STYLE: &str = include_str!("style.css");

/// The logo: a sieve.
pub(crate) const ICON: &str = include_str!("icon.svg");

/// The contents of the search form.
#[derive(Clone, Copy, Default)]
pub(crate) struct Form<'a> {
    pub(crate) query: &'a str,
    /// The available topics.
    pub(crate) topics: &'a [&'a str],
    /// The selected topic; blank for no topic.
    pub(crate) topic: &'a str,
}

/// A whole page around `body`.
pub(super) fn frame(title: &str, heading: &str, form: &Form<'_>, body: &Markup) -> Markup {
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
                    (form.markup())
                }
                main #main { (body) }
                footer { "Crivello: a search engine in one binary" }
            }
        }
    }
}

impl Form<'_> {
    /// The search form.
    fn markup(&self) -> Markup {
        html! {
            form action="/search" role="search" {
                label for="q" { "Search" }
                input #q type="search" name="q" value=(self.query) autofocus[self.query.is_empty()]
                    autocomplete="off" spellcheck="false" maxlength="4096";
                @if !self.topics.is_empty() {
                    select name="topic" aria-label="Topic" {
                        option value="" { "any topic" }
                        @for topic in self.topics {
                            option value=(topic) selected[*topic == self.topic] { (topic) }
                        }
                    }
                }
                button { "Search" }
            }
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
