//! All pages except the list of results.
//!
//! **Invariant.** Pages link only to http and https URLs, even if an import contains other schemes.

use maud::{Markup, html};
use search::CachedPage;

use super::layout::{Form, frame};
use crate::ServeError;

/// The first page.
pub(crate) fn home(title: &str, form: &Form<'_>, documents: u64) -> Markup {
    let body = html! {
        p.lead { "Search " (documents) @if documents == 1 { " page." } @else { " pages." } }
        dl.hints {
            dt { code { "solar panels" } } dd { "pages with either word, best those with both" }
            dt { code { "+solar +panels" } } dd { "pages with both words" }
            dt { code { "\"city hall\"" } } dd { "the words side by side" }
            dt { code { "garden OR kitchen -winter" } } dd { "either word, and not the third" }
            dt { code { "title:budget site:example.org lang:it" } }
            dd { "in the title, on one site, in one language" }
            dt { code { "comput* colour~1" } } dd { "words that begin so, or differ in a letter" }
            dt { code { "(solar roof)~8" } } dd { "within eight words, in any order" }
            dt { code { "filetype:txt date:2026-01..2026-03 link:example.org/page" } }
            dd { "by the ending of the address, by date, by what is linked to" }
        }
    };
    frame(title, title, form, &body)
}

/// A sentence instead of results.
pub(crate) fn notice(title: &str, text: &str) -> Markup {
    frame(title, text, &Form::default(), &html! { p role="status" { (text) } })
}

/// A query that cannot be answered, with a mark under the column where it went wrong.
pub(crate) fn failure(title: &str, form: &Form<'_>, error: &ServeError) -> Markup {
    let body = html! {
        p.error role="alert" { (error) }
        @if let Some(column) = error.column() {
            pre { (form.query) "\n" (" ".repeat(column.saturating_sub(1))) "^" }
        }
    };
    frame(title, "This cannot be answered", form, &body)
}

/// A cached copy in a sandboxed frame.
pub(crate) fn cached(title: &str, copy: &CachedPage) -> Markup {
    let date = archive::date_text(copy.date_s);
    let raw = link("/cached/raw", &copy.url);
    let body = html! {
        h1 { "Cached copy" }
        p {
            "This is " (outward(&copy.url, &html! { bdi { (copy.url) } }))
            " as it was on " time datetime=(date) { (date) }
            ". Scripts, styles, frames and pictures are left out."
        }
        iframe sandbox="" src=(raw) title="Cached copy" {}
    };
    frame(title, &format!("Copy of {}", copy.url), &Form::default(), &body)
}

/// The list of the near-duplicates of a page.
pub(crate) fn copies(title: &str, url: &str, copies: &[String]) -> Markup {
    let body = html! {
        h1 { "Near-duplicates" }
        p { "These pages say the same as " (outward(url, &html! { bdi { (url) } })) ":" }
        ul {
            @for copy in copies {
                li {
                    (outward(copy, &html! { bdi { (copy) } })) " "
                    a href=(link("/cached", copy)) { "cached" }
                }
            }
        }
        @if copies.is_empty() { p role="status" { "None." } }
    };
    frame(title, "Near-duplicates", &Form::default(), &body)
}

/// A link to an external page. A URL of a scheme other than http or https becomes plain text.
pub(super) fn outward(url: &str, text: &Markup) -> Markup {
    let web = url.starts_with("http://") || url.starts_with("https://");
    html! {
        @if web { a href=(url) rel="noopener noreferrer" { (text) } } @else { span { (text) } }
    }
}

/// The address of a page of this server about `url`.
pub(super) fn link(path: &str, url: &str) -> String {
    format!("{path}?url={}", escape(url))
}

/// Percent-encodes all bytes except ASCII letters, digits and `-._~`.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push('%');
            for nibble in [byte >> 4, byte & 15] {
                let digit = char::from_digit(u32::from(nibble), 16).expect("a nibble");
                escaped.push(digit.to_ascii_uppercase());
            }
        }
    }
    escaped
}
