//! The list of results, with paging.
//!
//! **Invariant.** The pages of a query neither overlap nor leave gaps.

use maud::{Markup, html};
use query::{Explanation, Piece};
use search::{Results, SearchResult, stopped_after};

use super::layout::{Form, frame};
use super::notices::{escape, link, outward};
use crate::http::DEPTH_MAX;

/// The display options of the list.
pub(crate) struct View<'a> {
    pub(crate) title: &'a str,
    pub(crate) form: Form<'a>,
    /// The number of the page, from 1. Every page ends within `DEPTH_MAX`.
    pub(crate) number: usize,
    pub(crate) per_page: usize,
    pub(crate) explain: bool,
    /// The time limit of a search.
    pub(crate) time_ms_max: u64,
}

/// One page of results.
pub(crate) fn results(view: &View<'_>, results: &Results) -> Markup {
    let first = results.offset + 1;
    let last = results.offset + results.hits.len();
    let body = html! {
        @if results.partial { p role="status" { (stopped_after(view.time_ms_max)) "." } }
        @for line in results.hint.iter().chain(&results.notes) { p { (line) "." } }
        @if let Some(suggestion) = &results.suggestion {
            p.suggestion {
                "Did you mean " a href=(view.instead(&suggestion.query).href(1, view.explain)) {
                    (suggestion.query)
                } "?"
            }
        }
        @if results.hits.is_empty() && results.total > 0 {
            p role="status" {
                @if results.total == 1 { "There is only 1 result for " }
                @else { "There are only " (results.total) " results for " }
                strong { (view.form.query) } "."
            }
            p { a href=(view.href(1, view.explain)) { "To the first of them" } }
        } @else if results.hits.is_empty() {
            p role="status" { "Nothing found for " strong { (view.form.query) } "." }
            p { "Fewer or other words may help. Quoted words, fields and " code { "+word" } " must be on the page." }
        } @else {
            p.count role="status" {
                "Results " (first) "–" (last) " of "
                @if results.partial { "at least " } (results.total)
                @if let Some(count) = results.with_all { ", " (count) " with all words" }
                " "
                a href=(view.href(view.number, !view.explain)) {
                    @if view.explain { "hide scores" } @else { "explain" }
                }
            }
            ol start=(first) { @for found in &results.hits { (item(found)) } }
        }
        (paging(view, results))
    };
    frame(view.title, view.form.query, &view.form, &body)
}

fn item(found: &SearchResult) -> Markup {
    html! {
        li.result lang=[Some(&found.language).filter(|code| !code.is_empty())] {
            h2 { (outward(&found.url, &html! { bdi { (pieces(&found.title)) } })) }
            p.url { bdi { (found.url) } }
            p.snippet dir="auto" { (pieces(&found.snippet)) }
            p.more lang="en" {
                @if found.cached { a href=(link("/cached", &found.url)) { "cached" } " " }
                time { (archive::date_text(found.date_s).chars().take(10).collect::<String>()) }
                @if !found.language.is_empty() { " " span.language { (found.language) } }
                @if found.copies > 0 {
                    " " a href=(link("/copies", &found.url)) {
                        (found.copies) @if found.copies == 1 { " near-duplicate" } @else { " near-duplicates" }
                    }
                }
            }
            @if let Some(explanation) = &found.explanation {
                ul.explanation lang="en" { (explain(explanation)) }
            }
        }
    }
}

fn pieces(pieces: &[Piece]) -> Markup {
    html! {
        @for piece in pieces {
            @if piece.highlighted { mark { (piece.text) } } @else { (piece.text) }
        }
    }
}

fn explain(explanation: &Explanation) -> Markup {
    html! {
        li {
            code { (format!("{:.6}", explanation.value)) } " " (explanation.what)
            @if !explanation.parts.is_empty() {
                ul { @for part in &explanation.parts { (explain(part)) } }
            }
        }
    }
}

fn paging(view: &View<'_>, results: &Results) -> Markup {
    let shown = (view.number * view.per_page) as u64;
    let total = results.total.min(DEPTH_MAX as u64);
    html! {
        nav aria-label="Pages of results" {
            @if view.number > 1 && !results.hits.is_empty() {
                a rel="prev" href=(view.href(view.number - 1, view.explain)) { "← Previous" }
            }
            @if shown < total {
                " " a rel="next" href=(view.href(view.number + 1, view.explain)) { "Next →" }
            }
        }
    }
}

impl<'a> View<'a> {
    /// This view with another query.
    fn instead(&self, query: &'a str) -> View<'a> {
        View { form: Form { query, ..self.form }, ..*self }
    }

    fn href(&self, number: usize, explain: bool) -> String {
        let explain = if explain { "&explain=1" } else { "" };
        let topic = match self.form.topic {
            "" => String::new(),
            topic => format!("&topic={}", escape(topic)),
        };
        format!("/search?q={}&page={number}{topic}{explain}", escape(self.form.query))
    }
}
