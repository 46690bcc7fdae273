//! Runs: the results of an engine for each topic, with their scores.
//!
//! **Invariant.** The documents of a topic are distinct. They are ordered by falling 32-bit score, ties by falling
//! name. Ranks in a file are ignored.

use super::BadLine;
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// The ranking of each topic.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    by_topic: BTreeMap<String, Vec<(String, f32)>>,
}

impl Run {
    /// Parses lines of `topic Q0 document rank score name`.
    pub fn parse(text: &str) -> Result<Run, BadLine> {
        let mut run = Run::default();
        let mut seen = HashSet::new();
        for (number, line) in (1..).zip(text.lines()) {
            let parts: Vec<&str> = line.split_whitespace().collect();
            let (topic, doc, score) = match parts.as_slice() {
                [] => continue,
                &[topic, _, doc, _, score, _] => (topic, doc, score),
                _ => {
                    let what = "not of the form `topic Q0 document rank score name`";
                    return Err(BadLine::new(number, what));
                }
            };
            let is_number = |score: &f32| !score.is_nan();
            let Some(score) = score.parse().ok().filter(is_number) else {
                return Err(BadLine::new(number, format!("{score:?} is not a number")));
            };
            if !seen.insert((topic, doc)) {
                let what = format!("document {doc} occurs twice for topic {topic}");
                return Err(BadLine::new(number, what));
            }
            run.push(topic, doc, score);
        }
        run.by_topic.values_mut().for_each(|ranking| order(ranking));
        Ok(run)
    }

    /// Makes a run of documents in the given order. White space in names becomes `_`, because it separates columns.
    /// A score that is not below the one before it, as a 32-bit number, is lowered slightly, so that readers find
    /// this order.
    pub fn of_rankings<T: Into<String>>(
        rankings: impl IntoIterator<Item = (T, Vec<(String, f64)>)>,
    ) -> Run {
        let mut run = Run::default();
        for (topic, ranking) in rankings {
            let mut below = f32::INFINITY;
            let mut falling = |score: f64| {
                #[expect(clippy::cast_possible_truncation, reason = "runs are read as such")]
                let score = score as f32;
                below = if score < below { score } else { below.next_down() };
                below
            };
            let ranking = ranking.into_iter();
            let ranking = ranking.map(|(doc, score)| (one_word(doc), falling(score)));
            run.by_topic.insert(topic.into(), ranking.collect());
        }
        run
    }

    fn push(&mut self, topic: &str, doc: &str, score: f32) {
        let ranking = match self.by_topic.get_mut(topic) {
            Some(ranking) => ranking,
            None => self.by_topic.entry(topic.to_owned()).or_default(),
        };
        ranking.push((doc.to_owned(), score));
    }

    /// The number of topics.
    pub fn topic_count(&self) -> usize {
        self.by_topic.len()
    }

    /// The documents of a topic, best first.
    pub fn ranking(&self, topic: &str) -> &[(String, f32)] {
        self.by_topic.get(topic).map_or(&[], Vec::as_slice)
    }

    /// The lines of the file.
    pub fn lines<'a>(&'a self, name: &'a str) -> impl Iterator<Item = RunLine<'a>> {
        self.by_topic.iter().flat_map(move |(topic, ranking)| {
            (1..).zip(ranking).map(move |(rank, (doc, score))| RunLine {
                topic,
                doc,
                rank,
                score: *score,
                name,
            })
        })
    }
}

fn one_word(name: String) -> String {
    if name.contains(char::is_whitespace) {
        return name.replace(char::is_whitespace, "_");
    }
    name
}

fn order(ranking: &mut [(String, f32)]) {
    ranking.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
}

/// A line of a run. `Display` formats it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLine<'a> {
    topic: &'a str,
    doc: &'a str,
    rank: usize,
    score: f32,
    name: &'a str,
}

impl fmt::Display for RunLine<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunLine { topic, doc, rank, score, name } = self;
        write!(out, "{topic} Q0 {doc} {rank} {score} {name}")
    }
}
