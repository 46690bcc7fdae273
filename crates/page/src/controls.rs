//! Characters that change how the text around them is shown.
//!
//! [`is_harmless`] and [`without_controls`] serve crawled text that is written to a page, a terminal or JSON.
//!
//! **Invariant.** The returned text moves no cursor and reorders no text outside itself.
//!
//! Reference: Unicode Standard Annex #9, section 2; ECMA-48 for the C0 and C1 controls.

use std::borrow::Cow;

/// The text with a space in place of each control character. Marks, embeddings, overrides and isolates of the
/// bidirectional algorithm are removed.
pub fn without_controls(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let kept = text.chars().filter(|&c| !is_bidi_control(c));
    Cow::Owned(kept.map(|c| if c.is_control() { ' ' } else { c }).collect())
}

/// Returns whether a character is neither a control character nor one of the bidirectional algorithm.
pub fn is_harmless(c: char) -> bool {
    !c.is_control() && !is_bidi_control(c)
}

fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_become_spaces_and_bidi_controls_are_removed() {
        for (text, expected) in [
            ("plain, naïve, עברית, \u{200D}", "plain, naïve, עברית, \u{200D}"),
            ("a\u{1b}[2Jb\nc\u{9b}d\u{85}e\u{7f}", "a [2Jb c d e "),
            ("gpj\u{202E}exe.\u{2066}x\u{2069}\u{200E}\u{200F}\u{61C}", "gpjexe.x"),
        ] {
            assert_eq!(without_controls(text), expected);
        }
        for code in (0..0xA0).chain(0x2000..0x2070) {
            let c = char::from_u32(code).expect("a character");
            let kept = without_controls(c.encode_utf8(&mut [0; 4])).into_owned();
            assert!(kept.chars().all(is_harmless), "{code:x}");
        }
    }
}
