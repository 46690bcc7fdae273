//! English function words, which do not identify the subject of a query.
//!
//! **Invariant.** Words are compared as terms, after the analysis of the collection.

use page::Analyzer;
use std::collections::BTreeSet;

/// Articles, pronouns, prepositions, conjunctions, and forms of to be, have, do, can.
const JOINING: &str = "a about above after again against all am an and any are as at be because been before being \
    below between both but by can could did do does doing down during each few for from further had has have having he \
    her here hers herself him himself his how i if in into is it its itself just me more most my myself no nor not of \
    off on once only or other ought our ours ourselves out over own same she should so some such than that the their \
    theirs them themselves then there these they this those through to too under until up very was we were what when \
    where which while who whom why will with would you your yours yourself yourselves";

/// The terms of the function words. Empty if the analysis is not English.
pub(crate) fn stop_words(analyzer: &Analyzer) -> BTreeSet<String> {
    if analyzer.stemmer() != "english" {
        return BTreeSet::new();
    }
    analyzer.terms(JOINING).into_iter().collect()
}
