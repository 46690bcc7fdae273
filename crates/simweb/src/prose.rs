//! Sentences and titles out of a lexicon, by Zipf's law.
//!
//! **Invariant.** The same voice and key give the same words.

use crate::{
    random::{Random, key},
    words::{Language, Lexicon},
};

/// Fewest and most words of a page's prose, before the sentence that reaches the number is ended.
const WORDS_MIN: u64 = 125;
const WORDS_SPREAD: u64 = 220;

/// One writer's voice: a host writes about its topic and has favourite words of its own.
#[derive(Clone, Copy)]
pub(crate) struct Voice {
    pub(crate) lexicon: &'static Lexicon,
    /// The nouns of its topic.
    pub(crate) nouns: &'static [&'static str],
    /// Turns the word lists, so that hosts on one topic prefer different words.
    pub(crate) turn: u64,
}

impl Voice {
    pub(crate) fn language(&self) -> Language {
        self.lexicon.language
    }

    /// The title drawn by `key`.
    pub(crate) fn title(&self, key: u64) -> String {
        let mut random = Random::new(key);
        let mut title = String::with_capacity(64);
        let template = random.pick(self.lexicon.titles, random_turn(key));
        self.expand(&mut random, template, "", &mut title);
        title
    }

    /// One sentence, for the description of a page.
    pub(crate) fn sentence(&self, key: u64) -> String {
        let mut sentence = String::with_capacity(128);
        self.push_sentence(&mut Random::new(key), &mut sentence);
        sentence
    }

    /// The body of a page: paragraphs and sub-headings as HTML; the needle ends the first paragraph.
    pub(crate) fn push_body(&self, draw: u64, needle: &str, out: &mut String) {
        let mut random = Random::new(draw);
        let target = WORDS_MIN + random.below(WORDS_SPREAD);
        let mut words = 0;
        let mut paragraphs = 0;
        while words < target {
            if paragraphs > 0 && paragraphs % 2 == 0 {
                out.push_str("<h2>");
                out.push_str(&self.title(key(&[draw, paragraphs])));
                out.push_str("</h2>\n");
            }
            out.push_str("<p>");
            let start = out.len();
            for _ in 0..3 + random.below(3) {
                self.push_sentence(&mut random, out);
                out.push_str(self.lexicon.space);
            }
            if paragraphs == 0 {
                self.expand(&mut random, self.lexicon.needle, needle, out);
            }
            words += count_words(&out[start..], self.lexicon.space);
            out.push_str("</p>\n");
            paragraphs += 1;
        }
    }

    fn push_sentence(&self, random: &mut Random, out: &mut String) {
        // Templates are drawn evenly: prose is more varied in form than in words.
        let length = u64::try_from(self.lexicon.sentences.len()).expect("a list in memory");
        let index = usize::try_from(random.below(length)).expect("below the list's length");
        self.expand(random, self.lexicon.sentences[index], "", out);
    }

    /// Fills a template's slots and makes its first letter a capital.
    fn expand(&self, random: &mut Random, template: &str, needle: &str, out: &mut String) {
        let start = out.len();
        let mut pieces = template.split('%');
        out.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let lexicon = self.lexicon;
            let phrase = match piece.as_bytes().first() {
                Some(b'n') if random.below(2) == 0 => random.pick(self.nouns, self.turn),
                Some(b'n') => random.pick(lexicon.nouns, self.turn),
                Some(b'v') => random.pick(lexicon.verbs, self.turn),
                Some(b'a') => random.pick(lexicon.adverbs, self.turn),
                Some(b'p') => random.pick(lexicon.places, self.turn),
                Some(b'o') => random.pick(lexicon.openings, self.turn),
                _ => needle,
            };
            out.push_str(phrase);
            out.push_str(piece.get(1..).unwrap_or_default());
        }
        capitalise(out, start);
    }
}

/// Titles turn their template list by the key: they should not all be of the first form.
fn random_turn(key: u64) -> u64 {
    key >> 32
}

fn capitalise(text: &mut String, start: usize) {
    let Some(first) = text[start..].chars().next() else { return };
    if first.is_lowercase() {
        let capital: String = first.to_uppercase().collect();
        text.replace_range(start..start + first.len_utf8(), &capital);
    }
}

/// Words by spaces; without spaces, a word is taken to have two characters.
fn count_words(text: &str, space: &str) -> u64 {
    let count = if space.is_empty() {
        text.chars().count() / 2
    } else {
        text.bytes().filter(|&byte| byte == b' ').count()
    };
    u64::try_from(count).expect("a page in memory")
}
