//! Bounds the work of word segmentation for a snippet.
//!
//! Thai, Lao, Khmer and Burmese are segmented by neural models, which take more than a microsecond a byte. A
//! mebibyte takes 1.5 seconds; in any other script it takes hundredths of a second. So only the first
//! [`BYTES_MAX`] bytes of such letters are segmented. After that, stretches between spaces are segmented if they
//! may contain a query word, up to another [`SOUGHT_BYTES_MAX`] bytes. Any other stretch counts as one long word.
//!
//! **Invariant.** The parts are consecutive and together are the text. A text with at most [`BYTES_MAX`] such
//! bytes is one part.

use std::ops::Range;

/// This many bytes in letters of these scripts are always segmented.
const BYTES_MAX: usize = 1 << 14;
/// Further bytes that are segmented in stretches that may contain a query word.
const SOUGHT_BYTES_MAX: usize = 1 << 12;
/// Maximum number of terms to look for.
const SOUGHT_MAX: usize = 8;

/// Passes the parts of `text` to `each`, in order, with a flag for those to be segmented.
pub(crate) fn parts(text: &str, terms: &[String], mut each: impl FnMut(Range<usize>, bool)) {
    if text.is_ascii() || cost(text) <= BYTES_MAX {
        return each(0..text.len(), true);
    }
    let costly = terms.iter().filter(|term| term.contains(is_modelled));
    let sought: Vec<String> = costly.take(SOUGHT_MAX).map(|term| written(term)).collect();
    let (mut rest, mut sought_rest) = (BYTES_MAX, SOUGHT_BYTES_MAX);
    // `from` is the start of the text to be segmented next.
    let (mut from, mut start) = (0, 0);
    for stretch in text.split_inclusive(|letter: char| letter.is_ascii_whitespace()) {
        let (cost, end) = (cost(stretch), start + stretch.len());
        if cost <= rest {
            rest -= cost;
        } else if cost <= sought_rest && sought.iter().any(|term| stretch.contains(term)) {
            (rest, sought_rest) = (0, sought_rest - cost);
        } else {
            // A stretch that exceeds the whole budget is segmented up to the budget.
            let within = if cost > BYTES_MAX { rest } else { 0 };
            let middle = text.floor_char_boundary(start + within);
            if from < middle {
                each(from..middle, true);
            }
            each(middle..end, false);
            (from, rest) = (end, 0);
        }
        start = end;
    }
    if from < text.len() {
        each(from..text.len(), true);
    }
}

/// The number of bytes in letters that need a model.
fn cost(text: &str) -> usize {
    text.chars().filter(|&letter| is_modelled(letter)).map(char::len_utf8).sum()
}

/// Returns whether it is a letter or a mark of Thai, Lao, Burmese or Khmer.
fn is_modelled(letter: char) -> bool {
    matches!(letter, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}')
}

/// A term in its usual spelling: analysis splits one vowel of Thai and of Lao that is usually one letter.
fn written(term: &str) -> String {
    term.replace("\u{e4d}\u{e32}", "\u{e33}").replace("\u{ecd}\u{eb2}", "\u{eb3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts_of(text: &str, terms: &[&str]) -> Vec<(Range<usize>, bool)> {
        let terms: Vec<String> = terms.iter().map(|&term| term.to_owned()).collect();
        let mut found = Vec::new();
        parts(text, &terms, |range, is_cut| found.push((range, is_cut)));
        let ends: Vec<usize> = found.iter().map(|(range, _)| range.end).collect();
        let starts: Vec<usize> = found.iter().map(|(range, _)| range.start).collect();
        assert_eq!(starts[..], [&[0], &ends[..ends.len() - 1]].concat(), "no gap");
        assert_eq!(ends.last(), Some(&text.len()));
        assert!(ends.iter().all(|&end| text.is_char_boundary(end)));
        found
    }

    fn cut_cost(text: &str, terms: &[&str]) -> usize {
        let parts = parts_of(text, terms).into_iter().filter(|&(_, is_cut)| is_cut);
        parts.map(|(range, _)| cost(&text[range])).sum()
    }

    #[test]
    fn cheap_text_is_segmented_completely() {
        for text in ["", "plain ".repeat(1 << 16).as_str(), "中国 を ".repeat(1 << 14).as_str()]
        {
            assert_eq!(parts_of(text, &["ไทย"]), [(0..text.len(), true)]);
        }
        let most = "ภาษา ".repeat(BYTES_MAX / 12);
        assert_eq!(parts_of(&most, &[]), [(0..most.len(), true)]);
    }

    #[test]
    fn expensive_text_is_segmented_up_to_a_limit() {
        for word in ["ภาษา", "ພາສາ", "ဘာသာ", "ភាសា"] {
            for scrap in [word.to_owned(), format!("{word} "), format!("{word} plain ")] {
                let text = scrap.repeat((1 << 20) / scrap.len());
                let cost = cut_cost(&text, &["none"]);
                assert!((BYTES_MAX - 12..=BYTES_MAX).contains(&cost), "{scrap}: {cost}");
                let sought = cut_cost(&text, &[word]);
                assert!(sought <= BYTES_MAX + SOUGHT_BYTES_MAX, "{scrap}: {sought}");
                assert!(sought > cost || !scrap.contains(' '), "{scrap}: {sought}");
            }
        }
    }

    #[test]
    fn query_words_after_the_limit_are_found() {
        let much = "ภาษา ".repeat(1 << 14);
        let text = format!("{much}ดื่มน้ำเย็น and water {much}");
        let at = |needle: &str| text.find(needle).expect("there");
        let is_cut = |terms: &[&str], needle: &str| {
            let (parts, at) = (parts_of(&text, terms), at(needle));
            parts.iter().find(|(range, _)| range.contains(&at)).expect("a part").1
        };
        assert!(is_cut(&[], "water") && !is_cut(&[], "น้ำ"));
        assert!(is_cut(&["water", "น้\u{e4d}\u{e32}"], "น้ำ"), "as analysis writes it");
    }
}
