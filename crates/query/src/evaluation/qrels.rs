//! Judgements: the relevance of documents to topics.
//!
//! **Invariant.** A document has at most one judgement for a topic.

use super::BadLine;
use std::collections::{BTreeMap, HashMap};

/// Judgements by topic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Qrels {
    by_topic: BTreeMap<String, HashMap<String, i32>>,
}

impl Qrels {
    /// Parses lines of `topic iteration document relevance`.
    pub fn parse(text: &str) -> Result<Qrels, BadLine> {
        let mut qrels = Qrels::default();
        for (number, line) in (1..).zip(text.lines()) {
            let parts: Vec<&str> = line.split_whitespace().collect();
            let [topic, _, doc, relevance] = match parts.as_slice() {
                [] => continue,
                &[a, b, c, d] => [a, b, c, d],
                _ => {
                    let what = "not of the form `topic 0 document relevance`";
                    return Err(BadLine::new(number, what));
                }
            };
            let relevance = relevance.parse().map_err(|_| {
                BadLine::new(number, format!("{relevance:?} is not a whole number"))
            })?;
            let of_topic = qrels.by_topic.entry(topic.to_owned()).or_default();
            if of_topic.insert(doc.to_owned(), relevance).is_some() {
                let what = format!("document {doc} is judged twice for topic {topic}");
                return Err(BadLine::new(number, what));
            }
        }
        Ok(qrels)
    }

    /// The topics that have judgements, in the order of their names.
    pub fn topics(&self) -> impl Iterator<Item = &str> {
        self.by_topic.keys().map(String::as_str)
    }

    /// Returns whether any document of a ranking is judged, as relevant or not.
    pub fn has_any(&self, topic: &str, ranking: &[(String, f32)]) -> bool {
        let judged = self.by_topic.get(topic);
        judged.is_some_and(|judged| ranking.iter().any(|(doc, _)| judged.contains_key(doc)))
    }

    /// The judgements for a topic.
    pub(super) fn of(&self, topic: &str) -> Judgements<'_> {
        Judgements(self.by_topic.get(topic))
    }
}

/// The judgements for one topic.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judgements<'a>(Option<&'a HashMap<String, i32>>);

impl Judgements<'_> {
    /// The relevance of a document. 0 if it is not judged, or judged as negative.
    pub(super) fn relevance(self, doc: &str) -> u32 {
        let judged = self.0.and_then(|judged| judged.get(doc)).copied();
        judged.and_then(|relevance| u32::try_from(relevance).ok()).unwrap_or(0)
    }

    /// The relevances of all relevant documents, in falling order.
    pub(super) fn ideal(self) -> Vec<u32> {
        let judged = self.0.into_iter().flatten();
        let relevant = judged.filter_map(|(_, &relevance)| u32::try_from(relevance).ok());
        let mut relevant: Vec<u32> = relevant.filter(|&relevance| relevance > 0).collect();
        relevant.sort_unstable_by(|a, b| b.cmp(a));
        relevant
    }
}
