//! `crivello codes` on a collection: entropy, bits a number under every code, and a recommendation.
//!
//! The three streams of the index are measured list by list over all segments. Every query reads gaps and frequencies, so
//! the smallest code that SIMD instructions decode is recommended. For gaps, sets of bits are recommended if they are
//! hardly longer, since they are searched without decoding. Only phrases read positions, so the smallest code is
//! recommended.
//!
//! **Invariant.** The configuration accepts every recommended name.

use std::fs;
use std::io::Write;
use std::path::Path;

use ::codes::{Cost, Histogram, Survey};
use ::index::{Index, ListNumbers, Segment, StreamCode};
use anyhow::{Context as _, Result};
use serde::Serialize;

use super::plot;
use crate::console;
use crate::context::{Context, Exit};

/// One of the streams of an index.
pub(super) struct Stream {
    pub(super) name: &'static str,
    /// The key of `[index]` for its code.
    key: &'static str,
    numbers: fn(&ListNumbers) -> &[u32],
    /// Whether every query reads it.
    hot: bool,
    /// Whether a block in unary is a set that is searched without decoding.
    has_sets: bool,
}

/// Sets of bits may be longer by one part in this number.
const SETS_OVER: u64 = 32;

const STREAMS: [Stream; 3] = [
    Stream {
        name: "gaps",
        key: "docs_code",
        numbers: |list| &list.gaps,
        hot: true,
        has_sets: true,
    },
    Stream {
        name: "frequencies",
        key: "freqs_code",
        numbers: |list| &list.frequencies,
        hot: true,
        has_sets: false,
    },
    Stream {
        name: "positions",
        key: "positions_code",
        numbers: |list| &list.positions,
        hot: false,
        has_sets: false,
    },
];

#[derive(Serialize)]
struct Answer {
    documents: u64,
    streams: Vec<StreamAnswer>,
}

#[derive(Serialize)]
struct StreamAnswer {
    stream: &'static str,
    /// The key of `[index]` for the recommended code.
    key: &'static str,
    numbers: u64,
    mean: f64,
    max: u32,
    /// Bits a number.
    entropy: f64,
    /// Bits a number in the present index, without headers.
    stored: f64,
    /// The smallest first.
    codes: Vec<CodeAnswer>,
    smallest: String,
    /// The name for the key.
    recommended: &'static str,
    why: &'static str,
}

#[derive(Serialize)]
struct CodeAnswer {
    code: &'static str,
    parameter: Option<u64>,
    bits_per_number: f64,
    /// Bits a number above the entropy. It is negative for some codes of whole lists.
    over_entropy: f64,
    vectorised: bool,
    /// Its name in the configuration; `None` if an index cannot have it.
    choose: Option<&'static str>,
}

pub(super) fn run(svg: Option<&Path>, context: &Context) -> Result<Exit> {
    let collection = context.collection()?;
    let index = Index::open(&collection.index_dir()).context("run `crivello index` first")?;
    let surveys = survey(&index);
    index.intact()?;
    let surveys = surveys?;
    if surveys.iter().all(|survey| survey.histogram().count() == 0) {
        context.say("Empty", "the index has no numbers");
        return Ok(Exit::NothingFound);
    }
    if let Some(path) = svg {
        let streams = STREAMS.iter().map(|stream| stream.name).zip(&surveys);
        let picture = plot::svg(streams);
        fs::write(path, picture).with_context(|| format!("cannot write {}", path.display()))?;
        context.say("Written", path.display().to_string());
    }
    let stored = stored_bytes(&index);
    let streams = STREAMS.iter().zip(&surveys).zip(stored);
    let streams = streams.map(|((stream, survey), bytes)| answer(stream, survey, bytes)).collect();
    let answer = Answer { documents: index.doc_count(), streams };
    if context.json {
        context.print_json(&answer)?;
    } else {
        let mut out = std::io::stdout().lock();
        answer.streams.iter().try_for_each(|stream| print(&mut out, stream))?;
    }
    Ok(Exit::Done)
}

/// Counts all numbers, then measures list by list.
fn survey(index: &Index) -> Result<Vec<Survey>> {
    let mut histograms = vec![Histogram::default(); STREAMS.len()];
    for segment in index.segments() {
        segment.each_list(|list| {
            for (stream, histogram) in STREAMS.iter().zip(&mut histograms) {
                histogram.add((stream.numbers)(list));
            }
        })?;
    }
    let mut surveys: Vec<Survey> = histograms.into_iter().map(Survey::new).collect();
    for segment in index.segments() {
        segment.each_list(|list| {
            for (stream, survey) in STREAMS.iter().zip(&mut surveys) {
                survey.add((stream.numbers)(list));
            }
        })?;
    }
    Ok(surveys)
}

/// Number of bytes in the files of each stream.
fn stored_bytes(index: &Index) -> [u64; STREAMS.len()] {
    let sizes = index.segments().iter().map(Segment::sizes);
    sizes.fold([0; 3], |[docs, freqs, positions], sizes| {
        [docs + sizes.docs, freqs + sizes.freqs, positions + sizes.positions]
    })
}

fn answer(stream: &Stream, survey: &Survey, stored: u64) -> StreamAnswer {
    let histogram = survey.histogram();
    let numbers = histogram.count();
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    let each = |bits: u64| if numbers == 0 { 0.0 } else { bits as f64 / numbers as f64 };
    let entropy = histogram.entropy();
    let mut costs = survey.costs();
    costs.sort_by_key(|cost| cost.bits);
    let smallest = costs.first().map_or_else(String::new, label);
    let (recommended, why) = recommend(stream, &costs);
    let codes = costs.iter().map(|cost| CodeAnswer {
        code: cost.code,
        parameter: cost.parameter,
        bits_per_number: each(cost.bits),
        over_entropy: each(cost.bits) - entropy,
        vectorised: cost.is_vectorised,
        choose: choose(cost).map(StreamCode::name),
    });
    StreamAnswer {
        stream: stream.name,
        key: stream.key,
        numbers,
        mean: histogram.mean(),
        max: histogram.max(),
        entropy,
        stored: each(stored * 8),
        codes: codes.collect(),
        smallest,
        recommended,
        why,
    }
}

/// The recommended code for a stream and the reason. The smallest cost comes first.
fn recommend(stream: &Stream, costs: &[Cost]) -> (&'static str, &'static str) {
    let mut candidates = costs.iter().filter(|cost| !stream.hot || cost.is_vectorised);
    let smallest = candidates.find_map(|cost| choose(cost).map(|code| (code.name(), cost.bits)));
    let Some((name, bits)) = smallest else { return ("", "") };
    let sets = StreamCode::PforUnary.name();
    let is_near = |cost: &Cost| cost.code == sets && cost.bits <= bits + bits / SETS_OVER;
    if stream.has_sets && costs.iter().any(is_near) {
        return (
            sets,
            "read by every query: searched without decoding, hardly longer than the smallest",
        );
    }
    if stream.hot {
        (name, "read by every query: the smallest that SIMD instructions decode")
    } else {
        (name, "read only by phrases: the smallest that an index can have")
    }
}

/// The code of an index for a code of the survey. In an index, a code with a parameter has one for each block or
/// document, and ζ is ζ₃.
fn choose(cost: &Cost) -> Option<StreamCode> {
    let name = match (cost.code, cost.parameter) {
        ("zeta", Some(3)) => "zeta",
        ("zeta", _) => return None,
        (code, _) => code.strip_suffix("-list").unwrap_or(code),
    };
    StreamCode::ALL.into_iter().find(|code| code.name() == name)
}

fn label(cost: &Cost) -> String {
    name(cost.code, cost.parameter)
}

/// `zeta 3`, `gamma`.
pub(super) fn name(code: &str, parameter: Option<u64>) -> String {
    parameter.map_or_else(|| code.to_owned(), |parameter| format!("{code} {parameter}"))
}

fn print(out: &mut impl Write, stream: &StreamAnswer) -> Result<()> {
    let StreamAnswer { stream: name, numbers, mean, max, entropy, stored, .. } = stream;
    let numbers = console::count(*numbers, "number");
    writeln!(
        out,
        "{name}: {numbers}, mean {mean:.2}, greatest {}",
        console::thousands((*max).into())
    )?;
    writeln!(out, "  entropy {entropy:.3} bits a number; in the index now {stored:.3}")?;
    writeln!(out, "  {:<28} {:>8} {:>14}  in crivello.toml", "code", "bits", "over entropy")?;
    for code in &stream.codes {
        let name = self::name(code.code, code.parameter);
        let (bits, over) = (code.bits_per_number, code.over_entropy);
        let choose = code.choose.map_or_else(|| "–".to_owned(), |name| format!("{name:?}"));
        writeln!(out, "  {name:<28} {bits:>8.3} {over:>+14.3}  {choose}")?;
    }
    let StreamAnswer { key, recommended, why, smallest, .. } = stream;
    writeln!(out, "  recommended: {key} = {recommended:?} ({why})")?;
    if smallest != recommended {
        writeln!(out, "  smallest of all: {smallest}")?;
    }
    writeln!(out)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_recommended_for_gaps_if_barely_longer() {
        let cost = |code, is_vectorised, bits| Cost { code, parameter: None, is_vectorised, bits };
        let recommended = |stream: &Stream, unary| {
            let mut costs = vec![
                cost("rans", false, 900),
                cost("pfor-optimum", true, 1_000),
                cost("pfor", true, 1_100),
                cost("pfor-unary", true, unary),
            ];
            costs.sort_by_key(|cost| cost.bits);
            recommend(stream, &costs).0
        };
        let [gaps, frequencies, positions] = &STREAMS;
        assert_eq!(recommended(gaps, 990), "pfor-unary");
        assert_eq!(recommended(gaps, 1_031), "pfor-unary");
        assert_eq!(recommended(gaps, 1_032), "pfor-optimum");
        assert_eq!(recommended(frequencies, 1_001), "pfor-optimum");
        assert_eq!(recommended(positions, 1_001), "rans");
    }
}
