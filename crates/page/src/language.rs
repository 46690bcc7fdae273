//! The language of a page, by its text and its declaration.
//!
//! Small words (`function_words.rs`) decide first if they are clear, because they take a tenth of the time of detection.
//! Then a reliable detection overrides the declaration, which is often left over from a template. For short texts
//! detection is unreliable, so the declaration decides.
//!
//! **Invariant.** A language is two or three lower-case letters, or empty. A declaration that is not a code is
//! ignored.
//!
//! Reference: W. B. Cavnar, J. M. Trenkle, "N-gram-based text categorization", SDAIR 1994. Detection
//! by `whatlang`.

use whatlang::Lang;

use crate::function_words;

/// Bytes of text that detection reads.
const SAMPLE_BYTES_MAX: usize = 2048;
/// Detection needs at least this number of bytes of letters. Bytes are counted because a letter of a large alphabet,
/// a syllable or an ideograph carries more information.
const LETTER_BYTES_MIN: usize = 60;
/// Lines of at least this number of bytes count as prose and are sampled first.
const PROSE_BYTES_MIN: usize = 80;

/// The language of `text`, as [`parse`](crate::parse) finds it for a page without a declaration. The result is an
/// ISO 639-1 code. It is empty if the text is too short or fits several languages.
///
/// ```
/// let text = "Ein Sieb trennt feine von groben Körnern, und mehr als das soll es auch nicht tun.";
/// assert_eq!(page::language_of(text), "de");
/// assert_eq!(page::language_of("42"), "");
/// ```
#[must_use]
pub fn language_of(text: &str) -> String {
    identify("", text)
}

/// The code of the language of `text`. `declared` is the BCP 47 tag that the page declares, or empty.
pub(crate) fn identify(declared: &str, text: &str) -> String {
    let sample = sample(text);
    if let Some(found) = function_words::find(&sample) {
        return found.to_owned();
    }
    detect(&sample).map_or_else(|| from_tag(declared), str::to_owned)
}

/// The code of the language of a sample, if detection is reliable.
fn detect(sample: &str) -> Option<&'static str> {
    let detected = has_letters(sample).then(|| whatlang::detect(sample)).flatten();
    detected.filter(whatlang::Info::is_reliable).map(|info| code(info.lang()))
}

/// Returns whether a sample has enough letters for detection.
fn has_letters(sample: &str) -> bool {
    let mut bytes = 0;
    sample.chars().filter(|c| c.is_alphabetic()).any(|c| {
        bytes += c.len_utf8();
        bytes >= LETTER_BYTES_MIN
    })
}

/// The long lines from the top. If they are too short together, the other lines follow.
fn sample(text: &str) -> String {
    let mut sample = String::new();
    for wants_prose in [true, false] {
        for line in text.lines().filter(|line| (line.len() >= PROSE_BYTES_MIN) == wants_prose) {
            let room = SAMPLE_BYTES_MAX - sample.len();
            if room == 0 {
                return sample;
            }
            sample.push_str(&line[..line.floor_char_boundary(room - 1)]);
            sample.push('\n');
        }
        if sample.len() >= SAMPLE_BYTES_MAX / 2 {
            return sample;
        }
    }
    sample
}

/// The primary language of a BCP 47 tag. The first tag of a list counts: `en` of `en-GB, fr`, `de` of `deu`.
fn from_tag(tag: &str) -> String {
    let primary = tag.trim().split(['-', '_', ',', ' ']).next().unwrap_or_default();
    let primary = primary.to_ascii_lowercase();
    let is_code = matches!(primary.len(), 2 | 3) && primary.bytes().all(|b| b.is_ascii_lowercase());
    if !is_code {
        return String::new();
    }
    if primary.len() == 2 {
        return primary;
    }
    Lang::from_code(primary.as_str()).map_or(primary, |lang| code(lang).to_owned())
}

/// The ISO 639-3 and ISO 639-1 codes of every language that `whatlang` detects.
const CODES: [&str; 70] = [
    "afr af", "aka ak", "amh am", "ara ar", "aze az", "bel be", "ben bn", "bul bg", "cat ca",
    "ces cs", "cmn zh", "cym cy", "dan da", "deu de", "ell el", "eng en", "epo eo", "est et",
    "fin fi", "fra fr", "guj gu", "heb he", "hin hi", "hrv hr", "hun hu", "hye hy", "ind id",
    "ita it", "jav jv", "jpn ja", "kan kn", "kat ka", "khm km", "kor ko", "lat la", "lav lv",
    "lit lt", "mal ml", "mar mr", "mkd mk", "mya my", "nep ne", "nld nl", "nob nb", "ori or",
    "pan pa", "pes fa", "pol pl", "por pt", "ron ro", "rus ru", "sin si", "slk sk", "slv sl",
    "sna sn", "spa es", "srp sr", "swe sv", "tam ta", "tel te", "tgl tl", "tha th", "tuk tk",
    "tur tr", "ukr uk", "urd ur", "uzb uz", "vie vi", "yid yi", "zul zu",
];

/// The ISO 639-1 code of a language.
fn code(lang: Lang) -> &'static str {
    let line = CODES.iter().find_map(|line| line.strip_prefix(lang.code()));
    line.unwrap_or_default().trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_two_letter_code() {
        for &lang in Lang::all() {
            assert_eq!(code(lang).len(), 2, "{lang}");
        }
    }

    /// Sentences of known languages, each after its code.
    const SENTENCES: &str = include_str!("../tests/it/languages.txt");

    /// Every run of consecutive sentences in one language.
    fn runs() -> Vec<(&'static str, String)> {
        let lines = SENTENCES.lines().map(|line| line.split_once(' ').expect("a code"));
        let lines: Vec<(&str, &str)> = lines.collect();
        let mut runs = Vec::new();
        for of_code in lines.chunk_by(|one, next| one.0 == next.0) {
            for start in 0..of_code.len() {
                let mut run = String::new();
                for (code, sentence) in &of_code[start..] {
                    run = format!("{run} {sentence}");
                    runs.push((*code, run.clone()));
                }
            }
        }
        runs
    }

    /// Small words never give a wrong language, and never replace a correct detection by a wrong one.
    #[test]
    fn function_words_never_cause_a_wrong_language() {
        for (known, text) in runs() {
            let (found, detected) = (identify("", &text), detect(&sample(&text)));
            let is_right = found == known;
            assert!(is_right || found == detected.unwrap_or_default(), "{found}: {text}");
            assert!(is_right || detected != Some(known), "{found}: {text}");
        }
    }

    /// Long texts of these languages do not need detection.
    #[test]
    fn function_words_identify_most_long_texts() {
        for language in ["de", "en", "es", "fr", "it", "pt"] {
            let long = runs().into_iter().filter(|(known, text)| {
                *known == language && text.split_whitespace().count() >= 80
            });
            let (mut count, mut decided) = (0, 0);
            for (_, text) in long {
                count += 1;
                decided += usize::from(function_words::find(&text) == Some(language));
            }
            assert!(count > 0 && decided == count, "{language}: {decided} of {count}");
        }
    }
}
