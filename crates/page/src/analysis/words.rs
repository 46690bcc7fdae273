//! Splits text into words.
//!
//! Segments follow the Unicode rules (UAX #29) as implemented by ICU. ICU has a dictionary for Chinese and Japanese,
//! and models for Thai, Lao, Khmer and Burmese. A segment with a letter or a digit is a word.
//!
//! ASCII white space and controls always end words. Between them, a stretch with a character beyond ASCII is split by
//! itself. The few rules for ASCII (`ascii.rs`) split all other text without tables. They also split a stretch whose
//! other characters all behave like ASCII. For example, `é` is a letter like `a`, and `¶` is alone like `!`.
//! Other stretches may have runs of Chinese and Japanese among such characters. The dictionary (`dictionary.rs`) splits
//! the runs, Katakana joins, and the characters between the runs are split by themselves. A joint of full width is
//! alone beside a run or at an end of the stretch.
//!
//! The dictionary contains the letters of Hiragana and Katakana with their marks composed, such as `が`. File names of
//! macOS write letter and mark separately, so they are composed first.
//!
//! **Invariant.** The words are those that ICU finds in the whole text after this composition. The bounds refer to the
//! original text.
//!
//! Reference: <https://www.unicode.org/reports/tr29/#Word_Boundaries>.

use std::sync::LazyLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};
use unicode_normalization::char::compose;

use super::ascii;
use super::dictionary::{self, Dictionary};

/// Bytes of the longest stretch that is split by the ASCII rules.
const SHADOW_BYTES_MAX: usize = 128;

/// Passes the bounds of every word to `emit`, in order.
#[inline]
pub(super) fn each(text: &str, emit: &mut impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let is_break = |byte: &u8| *byte <= b' ';
    let mut from = 0;
    while from < bytes.len() {
        let ascii_end = from + ascii_bytes(&bytes[from..]);
        if ascii_end == bytes.len() {
            return ascii::each(bytes, from, ascii_end, emit);
        }
        let start = bytes[from..ascii_end].iter().rposition(is_break);
        let start = start.map_or(from, |at| from + at + 1);
        ascii::each(bytes, from, start, emit);
        let end = bytes[ascii_end..].iter().position(is_break);
        let end = end.map_or(bytes.len(), |at| ascii_end + at);
        each_unicode(&text[start..end], start, emit);
        from = end;
    }
}

/// The number of bytes before the first one that is not ASCII.
#[inline]
fn ascii_bytes(bytes: &[u8]) -> usize {
    // Whole blocks let the compiler use SIMD instructions.
    let blocks = bytes.chunks_exact(64).take_while(|block| block.is_ascii()).count();
    let rest = &bytes[64 * blocks..];
    64 * blocks + rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len())
}

/// The rules and dictionaries of ICU. They are kept, because loading them takes longer than splitting a word.
static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_auto(WordBreakInvariantOptions::default()));

/// Passes the bounds of every word of a stretch to `emit`, in order. The stretch begins at `offset`.
fn each_unicode(stretch: &str, offset: usize, emit: &mut impl FnMut(usize, usize)) {
    let mut shadow = [0; SHADOW_BYTES_MAX];
    if let Some(shadow) = cast_shadow(stretch, &mut shadow) {
        let to = shadow.len();
        return ascii::each(shadow, 0, to, &mut |start, end| emit(offset + start, offset + end));
    }
    if is_of_runs(stretch)
        && let Some(dictionary) = Dictionary::get()
    {
        return each_of_runs(stretch, dictionary, offset, emit);
    }
    if stretch.contains(VOICE_MARKS)
        && let Some(composed) = Composed::of(stretch)
    {
        return composed.each(offset, emit);
    }
    let mut start = 0;
    for end in SEGMENTER.segment_str(stretch).skip(1) {
        if stretch[start..end].contains(is_alphanumeric) {
            emit(offset + start, offset + end);
        }
        start = end;
    }
}

/// The combining marks that change か to が, and は to ぱ.
const VOICE_MARKS: [char; 2] = ['\u{3099}', '\u{309a}'];

/// A stretch whose marks of Hiragana and Katakana are composed with their letters.
struct Composed {
    text: String,
    /// The ends in `text` of the composed letters. Each was one mark longer in the original.
    ends: Vec<usize>,
}

impl Composed {
    /// Composes a stretch. `None` if no letter has such a mark.
    fn of(stretch: &str) -> Option<Composed> {
        let (mut text, mut ends) = (String::with_capacity(stretch.len()), Vec::new());
        let mut previous = None;
        for letter in stretch.chars() {
            let base = previous.filter(|_| VOICE_MARKS.contains(&letter));
            if let Some(whole) = base.and_then(|base| compose(base, letter)) {
                text.pop();
                text.push(whole);
                ends.push(text.len());
            } else {
                text.push(letter);
            }
            previous = Some(letter);
        }
        (!ends.is_empty()).then_some(Composed { text, ends })
    }

    /// Passes the bounds of every word in the original stretch to `emit`.
    fn each(&self, offset: usize, emit: &mut impl FnMut(usize, usize)) {
        let mut ends = self.ends.iter().peekable();
        let mut longer = 0;
        let mut place = |at: usize| {
            while ends.next_if(|&&end| end <= at).is_some() {
                longer += VOICE_MARKS[0].len_utf8();
            }
            offset + at + longer
        };
        let mut emit = |start: usize, end: usize| emit(place(start), place(end));
        // `each_unicode` calls this function again, so a trait object keeps the type of `emit` finite.
        let mut emit: &mut dyn FnMut(usize, usize) = &mut emit;
        each_unicode(&self.text, 0, &mut emit);
    }
}

/// Returns whether a letter is Katakana, whose letters join (WB13).
fn is_katakana(letter: char) -> bool {
    matches!(letter, 'ァ'..='ヺ' | 'ー')
}

/// Returns whether a letter may be in a run: one of the dictionary, or Katakana.
fn is_of_run(letter: char) -> bool {
    dictionary::has(letter) || is_katakana(letter)
}

/// Returns whether a stretch has runs and otherwise only characters that behave like ASCII, and joints that are alone.
/// Words then end wherever a run or Katakana begins or ends. An underscore is excluded, because it may join either.
fn is_of_runs(stretch: &str) -> bool {
    let (mut has_runs, mut is_behind_run) = (false, true);
    let mut letters = stretch.chars();
    while let Some(letter) = letters.next() {
        let is_run = is_of_run(letter);
        let is_before_run = || letters.clone().next().is_none_or(is_of_run);
        let is_alone = || is_joint(letter) && (is_behind_run || is_before_run());
        let is_plain = || (letter.is_ascii() && letter != '_') || like(letter).is_some();
        if !is_run && !is_alone() && !is_plain() {
            return false;
        }
        has_runs |= is_run;
        is_behind_run = is_run;
    }
    has_runs
}

/// Passes the bounds of every word of a stretch with runs to `emit`. [`is_of_runs`] must accept the stretch.
fn each_of_runs(
    stretch: &str,
    dictionary: &Dictionary,
    offset: usize,
    emit: &mut impl FnMut(usize, usize),
) {
    let (mut rest, mut offset) = (stretch, offset);
    while let Some(first) = rest.chars().next() {
        let end_of = |is_of_it: fn(char) -> bool| {
            rest.find(|letter| !is_of_it(letter)).unwrap_or(rest.len())
        };
        let end;
        if dictionary::has(first) {
            end = end_of(dictionary::has);
            dictionary.each(&rest[..end], offset, emit);
        } else if is_katakana(first) {
            end = end_of(is_katakana);
            emit(offset, offset + end);
        } else {
            end = end_of(|letter| !is_of_run(letter));
            each_unicode(&rest[..end], offset, emit);
        }
        (rest, offset) = (&rest[end..], offset + end);
    }
}

/// Returns whether a character is a letter or a digit. Runs are checked first, because they are the most frequent here.
fn is_alphanumeric(letter: char) -> bool {
    is_of_run(letter) || letter.is_alphanumeric()
}

/// The stretch with every byte of a character beyond ASCII replaced by the ASCII character of [`like`]. `None` if a
/// character has no such ASCII character, or if the stretch is long.
#[inline]
fn cast_shadow<'s>(stretch: &str, shadow: &'s mut [u8; SHADOW_BYTES_MAX]) -> Option<&'s [u8]> {
    let shadow = shadow.get_mut(..stretch.len())?;
    shadow.copy_from_slice(stretch.as_bytes());
    for (at, letter) in stretch.char_indices().filter(|(_, letter)| !letter.is_ascii()) {
        let end = at + letter.len_utf8();
        let is_alone = is_joint(letter) && (at == 0 || end == stretch.len());
        shadow[at..end].fill(if is_alone { b'!' } else { like(letter)? });
    }
    Some(shadow)
}

/// Returns whether a character joins both its neighbours, as its ASCII form does. Beside a run or an end it is alone.
#[inline]
fn is_joint(letter: char) -> bool {
    matches!(letter, '，' | '；' | '：' | '．' | '＇')
}

/// The ASCII character that the rules treat like this character. Only frequent characters have one.
#[inline]
fn like(letter: char) -> Option<u8> {
    match letter {
        // Latin, Greek, Cyrillic, Arabic, Hangul.
        'À'..='Ö'
        | 'Ø'..='ö'
        | 'ø'..='\u{2c1}'
        | 'Έ'..='Ί'
        | 'Ό'
        | 'Ύ'..='Ρ'
        | 'Σ'..='ϵ'
        | 'Ϸ'..='\u{481}'
        | '\u{48a}'..='\u{52f}'
        | 'ؠ'..='ي'
        | 'Ḁ'..='ἕ'
        | '가'..='힣' => Some(b'a'),
        // Punctuation, currencies, arrows, operators, frames and other figures.
        '\u{a0}'..='©'
        | '«'
        | '¬'
        | '®'..='±'
        | '´'
        | '¶'
        | '»'
        | '¿'
        | '×'
        | '÷'
        | '‐'..='‗'
        | '‚'..='‣'
        | '‥'
        | '…'
        | '‰'..='‾'
        | '⁁'..='⁃'
        | '⁅'..='⁓'
        | '₠'..='₿'
        | '←'..='⑊'
        | '─'..='⛿'
        | '、'..='〄'
        | '〈'..='〠'
        | '・'
        | '！'..='＆'
        | '（'..='＋'
        | '－'
        | '／'
        | '＜'..='＠'
        | '［'..='＾'
        | '｀'
        | '｛'..='､' => Some(b'!'),
        // Digits of full width.
        '０'..='９' => Some(b'0'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests every character of [`like`] between two characters of every kind.
    #[test]
    fn similar_characters_are_segmented_alike_by_icu() {
        let others =
            ['a', '1', '_', '.', ':', ',', '\'', '!', 'é', '’', '\u{301}', 'カ', '一', 'א'];
        let bounds = |text: &str| -> Vec<usize> {
            let bounds = SEGMENTER.segment_str(text);
            bounds.map(|at| text[..at].chars().count()).collect()
        };
        let (mut count, mut wrong) = (0, Vec::new());
        for letter in '\u{80}'..=char::MAX {
            let Some(like) = like(letter).map(char::from) else { continue };
            count += 1;
            let is_alike = |other: char| {
                ["xox", "oxo", "x", "xx", "oxxo", "ox", "xo", "axox", "1oxo1"].iter().all(|of| {
                    let text = |x: char| -> String {
                        of.chars()
                            .map(|c| {
                                if c == 'x' {
                                    x
                                } else if c == 'o' {
                                    other
                                } else {
                                    c
                                }
                            })
                            .collect()
                    };
                    bounds(&text(letter)) == bounds(&text(like))
                })
            };
            let is_word = letter.is_alphanumeric();
            if is_word != like.is_alphanumeric() || !others.into_iter().all(is_alike) {
                wrong.push(letter);
            }
        }
        assert!(
            wrong.is_empty(),
            "{}",
            wrong.iter().map(|c| c.escape_unicode().to_string()).collect::<String>()
        );
        assert!(count > 13_000, "{count} characters");
    }

    #[test]
    fn alphanumeric_characters_match_the_standard_library() {
        for letter in char::MIN..=char::MAX {
            assert_eq!(is_alphanumeric(letter), letter.is_alphanumeric(), "{letter}");
        }
    }

    /// Checks that texts of these parts are split as by ICU.
    fn check_parts(parts: &[impl AsRef<str>], count: usize) {
        let mut state = 1_u32;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..count {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                text.push_str(parts[(state >> 12) as usize % parts.len()].as_ref());
            }
            let (mut start, mut expected, mut found) = (0, Vec::new(), Vec::new());
            for end in SEGMENTER.segment_str(&text).skip(1) {
                if text[start..end].contains(char::is_alphanumeric) {
                    expected.push((start, end));
                }
                start = end;
            }
            each_unicode(&text, 0, &mut |start, end| found.push((start, end)));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn substituted_texts_are_segmented_like_their_originals() {
        let parts = [
            "é", "—", "a", "1", "_", ".", ":", ",", "'", "’", "·", "Ωμ", "한", "¶", "²", "中",
            "e\u{301}",
        ];
        check_parts(&parts, 8);
    }

    #[test]
    fn dictionary_runs_are_segmented_as_by_icu() {
        assert!(Dictionary::get().is_some());
        let frequent = "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可\
            日本語の文章を書くためにコンピュータープログラムとデータ設定方法使用";
        let letters: Vec<String> = frequent.chars().map(String::from).collect();
        check_parts(&letters, 12);
        let beside =
            "。 、 a 1 . é 中国 コンピュータ の ー 々 _ ’ カ\u{3099} 한 「 Ａ 使用 \u{200d} ゝ 〇 ﾞ";
        check_parts(&beside.split(' ').collect::<Vec<_>>(), 9);
        let joints = "， ； ： ． ＇ ０ 1 、 ・ ［ 中 使用 の a é カ ー ｱ . : ' 々 \u{3000}";
        check_parts(&joints.split(' ').collect::<Vec<_>>(), 9);
        let marks = "， ： ． 中 の ア a 1 \u{3099} \u{fe0f} \u{200d} \u{301} \u{3000} ﾞ";
        check_parts(&marks.split(' ').collect::<Vec<_>>(), 6);
        // Longer than the limit of the ASCII rules.
        let long = "é".repeat(SHADOW_BYTES_MAX / 2);
        check_parts(&[&long, "a", "：", "，", "1", "中", "使用", "、"], 5);
        // All characters of the dictionary ranges, with those that are in no word.
        let all: Vec<String> = ('\u{3041}'..='\u{9fff}')
            .filter(|&letter| dictionary::has(letter))
            .map(String::from)
            .collect();
        assert!(all.len() > 21_000);
        check_parts(&all, 12);
    }
}
