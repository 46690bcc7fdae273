//! `crivello search`: prints results on the command line. The crates `search` and `query` find them.
//!
//! **Invariant.** Crawled text cannot move the cursor. An invalid query is a usage error, with a mark below the
//! invalid character.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use ::search::{Engine, SearchError, SearchRequest, SearchResult};
use anyhow::Result;
use query::{Explanation, Piece, Stop};

use crate::console;
use crate::context::{Context, Exit, Usage};

/// Length of the longest query that an error repeats.
const SHOWN_BYTES_MAX: usize = 200;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  crivello search solar panels
  crivello search '+solar panels -coal'
  crivello search '\"city hall\" -site:example.org title:budget' -k 20
  crivello search '(garden OR kitchen) AND NOT winter' --explain
  crivello search '(solar roof)~8 comput* colour~1 date:2026'
  crivello search solar panels --topic gardening
  crivello search --complete 'solar pan'

The whole language: docs/guide/searching.md")]
pub(crate) struct Args {
    /// The query; several words are one query
    #[arg(required = true)]
    query: Vec<String>,
    /// Number of results
    #[arg(short, long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1000))]
    k: u16,
    /// Number of results to skip
    #[arg(long, default_value_t = 0)]
    offset: usize,
    /// Rank by a topic of [rank.topics]
    #[arg(long)]
    topic: Option<String>,
    /// Explain each score
    #[arg(long)]
    explain: bool,
    /// Print completions of the last word instead of results, one a line
    #[arg(long, conflicts_with_all = ["k", "offset", "topic", "explain"])]
    complete: bool,
}

pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let config = context.config(&collection)?;
    let time_ms_max = config.search.time_ms_max;
    let engine = Engine::open(&collection, config.search)?;
    let stop = stop_after(time_ms_max);
    let text = args.query.join(" ");
    if args.complete {
        return complete(&engine, &text, &stop, context);
    }
    let (offset, k, explain) = (args.offset, usize::from(args.k), args.explain);
    let topic = args.topic.as_deref();
    let question = SearchRequest { text: &text, offset, k, topic, explain, stop };
    let results = engine.search(&question).map_err(|error| complain(error, &text))?;
    if context.json {
        context.print_json(&results)?;
    } else {
        let with_all = results.with_all.filter(|_| results.total > 0);
        let with_all =
            with_all.map(|count| format!(", {} with all words", console::thousands(count)));
        let total = console::count(results.total, "result");
        console::say(context.quiet, &format!("{total}{}", with_all.unwrap_or_default()));
        if results.partial {
            console::say(context.quiet, &format!("{}.", ::search::stopped_after(time_ms_max)));
        }
        for line in results.hint.iter().chain(&results.notes) {
            console::say(context.quiet, &console::plain(line));
        }
        if let Some(suggestion) = &results.suggestion {
            let count = console::count(suggestion.total, "result");
            let said = format!("did you mean: {} ({count})", console::plain(&suggestion.query));
            console::say(context.quiet, &said);
        }
        let mut out = std::io::stdout().lock();
        let bold = out.is_terminal() && std::env::var_os("NO_COLOR").is_none();
        for (place, found) in (args.offset.saturating_add(1)..).zip(&results.hits) {
            print(&mut out, place, found, bold)?;
        }
    }
    Ok(if results.hits.is_empty() { Exit::NothingFound } else { Exit::Done })
}

/// A flag that is set after the time limit. The limit 0 never sets it.
fn stop_after(time_ms_max: u64) -> Stop {
    let stop = Stop::default();
    if time_ms_max > 0 {
        let late = stop.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(time_ms_max));
            late.set();
        });
    }
    stop
}

/// Prints completions of a query.
fn complete(engine: &Engine, text: &str, stop: &Stop, context: &Context) -> Result<Exit> {
    let found = engine.complete(text, stop)?;
    if context.json {
        context.print_json(&found)?;
    } else {
        let mut out = std::io::stdout().lock();
        for completion in &found.completions {
            writeln!(out, "{}", console::plain(completion))?;
        }
    }
    Ok(if found.completions.is_empty() { Exit::NothingFound } else { Exit::Done })
}

/// Turns an error in the query into a usage error, with a mark below the invalid character.
fn complain(error: SearchError, query: &str) -> anyhow::Error {
    if !error.is_users() {
        return error.into();
    }
    let column = error.column().filter(|_| query.len() <= SHOWN_BYTES_MAX);
    let mark = column.map(|column| {
        let clean = console::plain(query);
        format!("\n  {clean}\n  {:1$}^", "", column.saturating_sub(1))
    });
    Usage(format!("{error}{}", mark.unwrap_or_default())).into()
}

fn print(
    out: &mut impl Write,
    place: usize,
    found: &SearchResult,
    bold: bool,
) -> std::io::Result<()> {
    writeln!(out, "{place}. {}", join(&found.title, bold))?;
    writeln!(out, "   {}", found.url)?;
    let snippet = join(&found.snippet, bold);
    if !snippet.is_empty() {
        writeln!(out, "   {}", snippet.replace('\n', " "))?;
    }
    if found.copies > 0 {
        writeln!(out, "   and {}", console::count(found.copies.into(), "near-identical page"))?;
    }
    if let Some(explanation) = &found.explanation {
        print_explanation(out, explanation, 1)?;
    }
    writeln!(out)
}

/// Crawled text for a terminal, without control characters.
fn join(pieces: &[Piece], bold: bool) -> String {
    let mut text = String::new();
    for piece in pieces {
        let clean = console::plain(&piece.text);
        if piece.highlighted && bold {
            text.push_str("\x1b[1m");
            text.push_str(&clean);
            text.push_str("\x1b[0m");
        } else {
            text.push_str(&clean);
        }
    }
    text
}

fn print_explanation(
    out: &mut impl Write,
    explanation: &Explanation,
    depth: usize,
) -> std::io::Result<()> {
    writeln!(out, "{:1$}{2:.6}  {3}", "", depth * 3, explanation.value, explanation.what)?;
    for part in &explanation.parts {
        print_explanation(out, part, depth + 1)?;
    }
    Ok(())
}
