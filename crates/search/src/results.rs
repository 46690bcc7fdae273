//! The types of a search: the question, the results, and the completions of an unfinished query.
//!
//! **Invariant.** Crawled text in an answer has no control characters.

use query::{Explanation, Piece, Stop, Suggestion};
use serde::Serialize;

/// URLs with their scores, best first.
pub type Ranking = Vec<(String, f64)>;

/// A query, and the range of results to return.
#[derive(Debug, Clone, Default)]
pub struct SearchRequest<'a> {
    /// The query, as typed.
    pub text: &'a str,
    /// The number of best results to skip.
    pub offset: usize,
    /// The maximum number of results to return after the skipped ones.
    pub k: usize,
    /// The topic whose ranks order the results, if any.
    pub topic: Option<&'a str>,
    /// Whether each result includes an explanation of its score.
    pub explain: bool,
    /// Ends the search early. The results are then partial.
    pub stop: Stop,
}

/// The answer to a query.
#[derive(Debug, Serialize)]
pub struct Results {
    /// The query as parsed.
    pub query: String,
    /// The requested topic, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// The number of matching documents; a lower bound if the results are partial.
    pub total: u64,
    /// The number of matches with every plain word of the query. `None` if the query requires every word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_all: Option<u64>,
    /// Whether the search was stopped before its end.
    pub partial: bool,
    /// The number of results skipped before the first hit.
    pub offset: usize,
    /// The results, best first.
    pub hits: Vec<SearchResult>,
    /// A warning about a field name in the query that does not exist.
    pub hint: Option<String>,
    /// Notes on parts of the query that were not applied and on missing files, one line each.
    pub notes: Vec<String>,
    /// A corrected query, if the query has few matches.
    pub suggestion: Option<Suggestion>,
}

/// Completions of an unfinished query.
#[derive(Debug, Serialize)]
pub struct Completions {
    /// The query as typed.
    pub query: String,
    /// Complete queries, most likely first. Empty if the query does not end in a word.
    pub completions: Vec<String>,
}

/// One result.
#[derive(Debug, Serialize)]
pub struct SearchResult {
    /// The URL of the page.
    pub url: String,
    /// The title with the query's words marked. The URL if the page has no title.
    pub title: Vec<Piece>,
    /// The part of the text that best matches the query.
    pub snippet: Vec<Piece>,
    /// The ISO 639-1 code of the language; empty if unknown.
    pub language: String,
    /// The time of the capture, in seconds since the Unix epoch.
    pub date_s: i64,
    /// The score of the page.
    pub score: f64,
    /// The number of near-duplicates folded into this result.
    pub copies: u32,
    /// Whether a cached copy exists. Documents of an imported index have no copy.
    pub cached: bool,
    /// The explanation of the score, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// A page with a cached copy.
pub struct CachedPage {
    /// The URL of the page.
    pub url: String,
    /// The time of the capture, in seconds since the Unix epoch.
    pub date_s: i64,
}

/// A note that the results are partial because the search reached its time limit.
pub fn stopped_after(time_ms_max: u64) -> String {
    let (seconds, rest) = (time_ms_max / 1000, time_ms_max % 1000);
    let time = match (seconds, rest) {
        (0, _) | (_, 1..) => format!("{time_ms_max} ms"),
        _ => format!("{seconds} s"),
    };
    format!("Stopped after {time}: these results are incomplete")
}
