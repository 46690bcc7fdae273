//! Measures of effectiveness of a ranking.
//!
//! | name | definition |
//! |---|---|
//! | MAP | mean precision at the ranks of the relevant documents; 0 for each one that is not found |
//! | P@k | fraction of the first k documents that is relevant |
//! | Recall@k | fraction of the relevant documents that is among the first k |
//! | MRR | reciprocal rank of the first relevant document |
//! | nDCG@k | Σ relevance / log₂(rank + 1) over the first k, divided by its maximum |
//!
//! Without k, which only P and Recall require, all documents count.
//!
//! **Invariant.** A figure is from 0 to 1. It is 0 without relevant documents.

use super::qrels::Judgements;
use super::real;
use std::fmt;
use std::str::FromStr;

/// A measure and its cutoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measure {
    kind: Kind,
    /// `None` without a cutoff.
    cut: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    AveragePrecision,
    Precision,
    Recall,
    ReciprocalRank,
    Gain,
}

impl Kind {
    /// Each kind with its name, and whether it requires a k.
    const ALL: [(Kind, &'static str, bool); 5] = [
        (Kind::AveragePrecision, "MAP", false),
        (Kind::Precision, "P", true),
        (Kind::Recall, "Recall", true),
        (Kind::ReciprocalRank, "MRR", false),
        (Kind::Gain, "nDCG", false),
    ];
}

/// The name of a measure that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown measure {name:?}; use MAP, MRR, nDCG, P@k, Recall@k, nDCG@k, MAP@k or MRR@k, with k from 1"
)]
pub struct UnknownMeasure {
    name: String,
}

impl FromStr for Measure {
    type Err = UnknownMeasure;

    fn from_str(name: &str) -> Result<Measure, UnknownMeasure> {
        let unknown = || UnknownMeasure { name: name.to_owned() };
        let (word, cut) = match name.split_once('@') {
            Some((word, cut)) => (word, Some(cut.parse().map_err(|_| unknown())?)),
            None => (name, None),
        };
        let mut kinds = Kind::ALL.into_iter();
        let found = kinds.find(|(_, of_kind, _)| of_kind.eq_ignore_ascii_case(word));
        let (kind, _, needs_cut) = found.ok_or_else(unknown)?;
        if cut == Some(0) || needs_cut && cut.is_none() {
            return Err(unknown());
        }
        Ok(Measure { kind, cut })
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Kind::ALL.into_iter().find(|(kind, ..)| *kind == self.kind);
        out.write_str(name.map_or("", |(_, name, _)| name))?;
        self.cut.map_or(Ok(()), |cut| write!(out, "@{cut}"))
    }
}

impl Measure {
    /// The figure of a ranking, best document first.
    pub(super) fn of(self, ranking: &[(String, f32)], judged: Judgements<'_>) -> f64 {
        let ideal = judged.ideal();
        if ideal.is_empty() {
            return 0.0;
        }
        let cut = self.cut.unwrap_or(usize::MAX);
        let relevances = ranking.iter().take(cut).map(|(doc, _)| judged.relevance(doc));
        let mut hits = (1..).zip(relevances).filter(|&(_, relevance)| relevance > 0);
        match self.kind {
            Kind::AveragePrecision => {
                let precisions = (1..).zip(hits).map(|(found, (rank, _))| real(found) / real(rank));
                precisions.sum::<f64>() / real(ideal.len())
            }
            Kind::Precision => real(hits.count()) / real(cut),
            Kind::Recall => real(hits.count()) / real(ideal.len()),
            Kind::ReciprocalRank => hits.next().map_or(0.0, |(rank, _)| 1.0 / real(rank)),
            Kind::Gain => gain(hits) / gain((1..).zip(ideal).take(cut)),
        }
    }
}

/// Σ relevance / log₂(rank + 1).
fn gain(hits: impl Iterator<Item = (usize, u32)>) -> f64 {
    hits.map(|(rank, relevance)| f64::from(relevance) / real(rank + 1).log2()).sum()
}
