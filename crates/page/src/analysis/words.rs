//! Where words begin and end.
//!
//! Segments are those of the Unicode rules (UAX #29) as ICU ships them, with its dictionary for
//! Chinese and Japanese and its models for Thai, Lao, Khmer and Burmese; a segment with a letter
//! or a digit in it is a word.
//!
//! There is always a boundary at ASCII white space and controls. So a stretch between them that has a
//! character beyond ASCII is taken by itself, and everything else by the few rules that matter in ASCII
//! (`ascii.rs`) rather than by tables. So are stretches in which every other character is to those rules
//! what one of ASCII is: `é` is a letter like `a`, and `¶` stands alone like `!`. Where there are runs of Chinese
//! and Japanese among such characters, they are cut by their dictionary (`dictionary.rs`), Katakana sticks
//! together, and the others are taken by themselves; a joint of full width beside a run, or at an end, stands alone.
//!
//! The dictionary has the letters of Hiragana and Katakana with their marks in them, as `が`; where they are written as letter and mark,
//! as file names of macOS are, they are put together first.
//!
//! **Invariant.** The words are those that ICU finds in the whole text with these letters put together; the bounds are
//! those in the text as it is.
//!
//! Reference: <https://www.unicode.org/reports/tr29/#Word_Boundaries>.

use std::sync::LazyLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};
use unicode_normalization::char::compose;

use super::ascii;
use super::dictionary::{self, Dictionary};

/// A longer stretch is never taken for ASCII.
const SHADOW_BYTES_MAX: usize = 128;

/// Hands the bounds of every word to `emit`, in order.
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

/// How many bytes there are before the first that is not ASCII.
#[inline]
fn ascii_bytes(bytes: &[u8]) -> usize {
    // Many at a time, by instructions for that where there are any.
    let blocks = bytes.chunks_exact(64).take_while(|block| block.is_ascii()).count();
    let rest = &bytes[64 * blocks..];
    64 * blocks + rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len())
}

/// ICU's rules and dictionaries; to look them up takes longer than a word.
static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_auto(WordBreakInvariantOptions::default()));

/// Hands the bounds of every word of a stretch, which begins at `offset`, to `emit`, in order.
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

/// What makes か to が, and は to ぱ.
const VOICE_MARKS: [char; 2] = ['\u{3099}', '\u{309a}'];

/// A stretch with the marks of Hiragana and Katakana put together with their letters.
struct Composed {
    text: String,
    /// Where in it a letter ends that was put together; each was longer by a mark.
    ends: Vec<usize>,
}

impl Composed {
    /// `None` if there is no letter with such a mark.
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

    /// Hands over the bounds of every word in the stretch as it was.
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
        // The type of what is handed on must not grow with every turn.
        let mut emit: &mut dyn FnMut(usize, usize) = &mut emit;
        each_unicode(&self.text, 0, &mut emit);
    }
}

/// Whether a letter is one of Katakana, which stick together (WB13).
fn is_katakana(letter: char) -> bool {
    matches!(letter, 'ァ'..='ヺ' | 'ー')
}

/// Whether a letter is of a run, one that the dictionary has or one of Katakana.
fn is_of_run(letter: char) -> bool {
    dictionary::has(letter) || is_katakana(letter)
}

/// Whether a stretch has runs, and else only characters that are like those of ASCII, and joints that stand alone. Then there
/// is a boundary wherever a run begins or ends, or Katakana; but an underscore may stick to either.
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

/// Hands over the bounds of every word of such a stretch.
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

/// Whether it is a letter or a digit. Where ICU is asked most are letters of Chinese and Japanese.
fn is_alphanumeric(letter: char) -> bool {
    is_of_run(letter) || letter.is_alphanumeric()
}

/// The stretch with every character beyond ASCII replaced by the one that it is like, as many of them as it
/// has bytes; `None` if there is one that is like none, or if the stretch is long.
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

/// Whether it joins what is on both sides, as its like in ASCII does; with nothing or with a run on one side it stands alone.
#[inline]
fn is_joint(letter: char) -> bool {
    matches!(letter, '，' | '；' | '：' | '．' | '＇')
}

/// The letter, the digit or the mark of ASCII that is the same to the rules, among the most frequent ones.
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
        // Full width.
        '０'..='９' => Some(b'0'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character between two others of any kind, itself included.
    #[test]
    fn what_is_like_another_is_so_to_icu() {
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
    fn letters_and_digits_are_what_they_are() {
        for letter in char::MIN..=char::MAX {
            assert_eq!(is_alphanumeric(letter), letter.is_alphanumeric(), "{letter}");
        }
    }

    /// A text of some of these parts is cut as ICU cuts it.
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
    fn shadows_are_cut_like_what_casts_them() {
        let parts = [
            "é", "—", "a", "1", "_", ".", ":", ",", "'", "’", "·", "Ωμ", "한", "¶", "²", "中",
            "e\u{301}",
        ];
        check_parts(&parts, 8);
    }

    #[test]
    fn runs_are_cut_as_the_dictionary_has_them() {
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
        // Longer than what is taken for ASCII.
        let long = "é".repeat(SHADOW_BYTES_MAX / 2);
        check_parts(&[&long, "a", "：", "，", "1", "中", "使用", "、"], 5);
        // Any of them, also such as are in no word.
        let all: Vec<String> = ('\u{3041}'..='\u{9fff}')
            .filter(|&letter| dictionary::has(letter))
            .map(String::from)
            .collect();
        assert!(all.len() > 21_000);
        check_parts(&all, 12);
    }
}
