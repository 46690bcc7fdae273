//! The name that was perhaps meant.
//!
//! **Invariant.** What is suggested is one of the names that there are.

/// How far a misspelt name may be from the one suggested, by Jaro and Winkler.
const LIKENESS_MIN: f64 = 0.7;

/// The one of `names` that is nearest to `unknown`, if it is near at all; capital letters are small ones.
pub(crate) fn nearest<'a>(
    unknown: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let unknown = unknown.to_lowercase();
    let likeness = |name: &str| strsim::jaro_winkler(&unknown, name);
    let best = names.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) >= LIKENESS_MIN).then_some(best)
}
