//! Compares Crivello's index with tantivy's on the same text.
//!
//! ```text
//! index-peer corpus COLLECTION CORPUS                 the text of every document, as a flat file
//! index-peer tokenise ours|own CORPUS                 only turns the text into terms
//! index-peer build crivello CORPUS DIR MEMORY_BYTES url|bisection
//! index-peer build crivello CORPUS DIR default        builds with the default settings
//! index-peer build tantivy ours|own CORPUS DIR        builds with Crivello's terms or tantivy's own
//! index-peer same DIR DIR                             whether two of Crivello's indices are equal
//! index-peer compare CRIVELLO TANTIVY N               whether both give the same answers
//! index-peer lexicon CRIVELLO TANTIVY                 compares the lexicon with a finite-state transducer
//! index-peer decode CRIVELLO                          every code on the numbers of an index
//! index-peer walk CRIVELLO TANTIVY                    all posting lists from end to end
//! index-peer passages CORPUS CORPUS WORDS             cuts the bodies into pieces of WORDS words
//! index-peer search CRIVELLO TANTIVY CORPUS N         N questions a class, of the corpus's titles
//! index-peer fields CRIVELLO TANTIVY CORPUS N         N questions a class in all fields, default configuration
//! index-peer ask CRIVELLO CORPUS N CLASS ROUNDS       N questions of one class, repeated, for a profiler
//! index-peer handover CRIVELLO CORPUS N CIFF FILE     the text for another engine, N questions and their answers
//! index-peer equal CRIVELLO CORPUS N                  whether pruning changes the answer to N questions
//! index-peer nested CRIVELLO CORPUS N                 N nested questions with windows, and the least they must cost
//! ```
//!
//! Each command prints one line of JSON. `bench/index/run` calls the commands and makes the table. What lives here: the
//! commands. What does not: the choice of the figures to compare, and the goals.
//!
//! **Invariant.** Times are processor times of the process, measured when all input is in memory. The results of a
//! timed task were checked before, here or by an earlier command.

mod answers;
mod ask;
mod collection;
mod corpus;
mod crivello;
mod decode;
mod equal;
mod fields;
mod handover;
mod lexicon;
mod measure;
mod nested;
mod passages;
mod peer;
mod questions;
mod sample;
mod search;

use std::error::Error;
use std::path::Path;

use index::{Config, DocOrder};

/// The result of a command: a line of JSON, or an error.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let found = match arguments[..] {
        ["corpus", from, to] => collection::write_corpus(Path::new(from), Path::new(to))?,
        ["tokenise", terms, text] => {
            let text = corpus::Corpus::read(Path::new(text))?;
            match terms {
                "ours" => crivello::tokenise(&text)?,
                _ => peer::tokenise(&text),
            }
        }
        ["build", "crivello", text, dir, memory_bytes, order @ ("url" | "bisection")] => {
            let order = if order == "url" { DocOrder::Url } else { DocOrder::Bisection };
            // As the peer bounds scores, with the parameters that questions are asked with.
            let slope = index::Slope::of(search::config().b);
            let memory_bytes = memory_bytes.parse()?;
            let config = Config { memory_bytes, order, slope, ..Config::default() };
            crivello::build(&corpus::Corpus::read(Path::new(text))?, Path::new(dir), &config)?
        }
        ["build", "crivello", text, dir, "default"] => {
            let text = corpus::Corpus::read(Path::new(text))?;
            crivello::build(&text, Path::new(dir), &Config::default())?
        }
        ["build", "tantivy", terms @ ("ours" | "own"), text, dir] => {
            let text = corpus::Corpus::read(Path::new(text))?;
            peer::build(&text, terms == "ours", Path::new(dir))?
        }
        ["same", one, other] => answers::same(Path::new(one), Path::new(other))?,
        ["compare", ours, theirs, n] => {
            answers::compare(Path::new(ours), Path::new(theirs), n.parse()?)?
        }
        ["lexicon", ours, theirs] => lexicon::measure(Path::new(ours), Path::new(theirs))?,
        ["decode", dir] => decode::measure(Path::new(dir))?,
        ["passages", text, to, words] => {
            passages::write(&corpus::Corpus::read(Path::new(text))?, Path::new(to), words.parse()?)?
        }
        ["equal", dir, titles, n] => equal::measure(Path::new(dir), Path::new(titles), n.parse()?)?,
        ["nested", dir, titles, n] => {
            nested::measure(Path::new(dir), Path::new(titles), n.parse()?)?
        }
        ["search", ours, theirs, titles, n] => {
            search::measure(Path::new(ours), Path::new(theirs), Path::new(titles), n.parse()?)?
        }
        ["fields", ours, theirs, titles, n] => {
            fields::measure(Path::new(ours), Path::new(theirs), Path::new(titles), n.parse()?)?
        }
        ["ask", dir, titles, n, class, rounds] => {
            ask::measure(Path::new(dir), Path::new(titles), n.parse()?, class, rounds.parse()?)?
        }
        ["handover", dir, titles, n, ciff, questions] => {
            let [dir, titles, ciff, questions] = [dir, titles, ciff, questions].map(Path::new);
            handover::write(dir, titles, n.parse()?, ciff, questions)?
        }
        ["walk", ours, theirs] => answers::walk(Path::new(ours), Path::new(theirs))?,
        _ => return Err("see the head of bench/index/index-peer/src/main.rs".into()),
    };
    println!("{found}");
    Ok(())
}
