//! Whether a text is in the language that it is declared to be in, told by its small words.
//!
//! Articles, prepositions and their like are between a quarter and a half of any prose, and hardly a
//! twentieth of prose in another language. To count them is much quicker than to compare a text with all
//! languages there are, and a declaration that they confirm needs no further test.
//!
//! What does not live here: finding a language that nobody declares (`language.rs`).
//!
//! **Invariant.** The words of a language are in lower case, and none of the languages here is so near to
//! another that its small words pass for those.
//!
//! Reference: G. Grefenstette, "Comparing two language identification schemes", JADT 1995.

/// Letters of a word that is looked up; small words are short.
const WORD_BYTES_MAX: usize = 8;
/// Fewer words than this prove nothing.
const WORDS_MIN: usize = 40;
/// More are not looked at.
const WORDS_MAX: usize = 120;
/// Of so many words, one at least is a small one.
const SHARE: usize = 5;

#[rustfmt::skip]
const LANGUAGES: [(&str, &[&str]); 7] = [
    ("de", &["aber", "als", "am", "an", "auch", "auf", "aus", "bei", "das", "dem", "den", "der", "des",
        "die", "ein", "eine", "einem", "einen", "einer", "er", "es", "für", "ich", "im", "in", "ist",
        "mit", "nach", "nicht", "noch", "nur", "oder", "sich", "sie", "sind", "so", "um", "und", "von",
        "vor", "war", "was", "werden", "wie", "wird", "zu", "zum", "zur", "über"]),
    ("en", &["a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "for", "from", "had",
        "has", "have", "he", "his", "if", "in", "is", "it", "its", "may", "not", "of", "on", "or",
        "that", "the", "their", "then", "there", "they", "this", "to", "was", "we", "were", "when",
        "which", "will", "with", "you", "your"]),
    ("es", &["al", "como", "con", "de", "del", "el", "en", "entre", "es", "esta", "fue", "ha", "hasta",
        "la", "las", "lo", "los", "muy", "más", "no", "o", "para", "pero", "por", "que", "se", "ser",
        "sin", "sobre", "son", "su", "sus", "también", "un", "una", "y", "ya"]),
    ("fr", &["au", "aux", "avec", "ce", "ces", "cette", "dans", "de", "des", "du", "elle", "en", "est",
        "et", "il", "la", "le", "les", "leur", "mais", "ne", "nous", "on", "ou", "par", "pas", "plus",
        "pour", "qu", "que", "qui", "sa", "se", "ses", "son", "sont", "sur", "un", "une", "vous", "à"]),
    ("it", &["a", "al", "alla", "anche", "che", "ci", "come", "con", "da", "dal", "dalla", "dei", "del",
        "della", "delle", "di", "e", "gli", "ha", "i", "il", "in", "la", "le", "lo", "ma", "nel",
        "nella", "non", "o", "per", "più", "questo", "se", "si", "sono", "sua", "suo", "un", "una", "è"]),
    ("nl", &["aan", "als", "bij", "dan", "dat", "de", "deze", "die", "dit", "door", "een", "en", "er",
        "had", "heeft", "het", "hij", "ik", "in", "is", "je", "maar", "met", "naar", "niet", "nog",
        "of", "om", "ook", "op", "over", "te", "tot", "uit", "van", "voor", "was", "wordt", "ze",
        "zich", "zijn"]),
    ("pt", &["a", "ao", "aos", "as", "com", "como", "da", "das", "de", "do", "dos", "e", "em", "entre",
        "foi", "mais", "mas", "na", "nas", "no", "nos", "não", "o", "os", "ou", "para", "pela", "pelo",
        "por", "que", "se", "sem", "ser", "seu", "sua", "são", "também", "um", "uma", "à", "é"]),
];

/// Whether the small words of `text` say that it is in `language`, a code of two letters.
pub(crate) fn confirm(language: &str, text: &str) -> bool {
    let Some((_, small)) = LANGUAGES.iter().find(|(code, _)| *code == language) else {
        return false;
    };
    let (mut words, mut found) = (0, 0);
    let all = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    for word in all.take(WORDS_MAX) {
        words += 1;
        found += usize::from(is_among(small, word));
    }
    words >= WORDS_MIN && found * SHARE >= words
}

fn is_among(small: &[&str], word: &str) -> bool {
    let mut lower = [0; WORD_BYTES_MAX];
    let Some(lower) = lower.get_mut(..word.len()) else { return false };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    small.binary_search_by(|small| small.as_bytes().cmp(lower)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_are_sorted_and_short() {
        for (language, small) in LANGUAGES {
            assert!(small.is_sorted_by(|a, b| a < b), "{language}");
            assert!(small.iter().all(|word| word.len() <= WORD_BYTES_MAX), "{language}");
            assert!(small.iter().all(|word| word.to_lowercase() == *word), "{language}");
        }
    }

    /// Of no two languages here are the lists so near that one passes for the other.
    #[test]
    fn lists_share_less_than_half() {
        for (one, words) in LANGUAGES {
            for (other, others) in LANGUAGES.iter().filter(|(other, _)| *other != one) {
                let shared = words.iter().filter(|word| others.contains(word)).count();
                assert!(shared * 2 < words.len(), "{one} and {other} share {shared}");
            }
        }
    }
}
