//! Words that say little of what somebody looks for, where any words of a text are searched for.
//!
//! What lives here: the words of English that join others, and those with which people speak of the question rather than
//! of what it is about ("please give details of methods for …"). What does not: queries in which every word must be
//! there, and phrases: there each word was chosen.
//!
//! **Invariant.** They are compared as terms, after the analysis of the collection: `using` is left out because `use` is.

use page::Analyzer;
use std::collections::BTreeSet;

/// Articles, pronouns, prepositions, conjunctions, and forms of to be, have, do, can.
const JOINING: &str = "a about above after again against all am an and any are as at be because been before being \
    below between both but by can could did do does doing down during each few for from further had has have having he \
    her here hers herself him himself his how i if in into is it its itself just me more most my myself no nor not of \
    off on once only or other ought our ours ourselves out over own same she should so some such than that the their \
    theirs them themselves then there these they this those through to too under until up very was we were what when \
    where which while who whom why will with would you your yours yourself yourselves";
/// Of the question.
const ASKING: &str = "concerning describe details discuss explain find give given giving information kind kinds list \
    method methods please regarding show technique techniques tell type types use used using way ways";

/// The terms that they become; none if the analysis is not of English.
pub(crate) fn ignored_terms(analyzer: &Analyzer) -> BTreeSet<String> {
    if analyzer.stemmer() != "english" {
        return BTreeSet::new();
    }
    [JOINING, ASKING].into_iter().flat_map(|words| analyzer.terms(words)).collect()
}
