//! Patterns of Allow and Disallow lines: `*` matches any bytes, a final `$` the end.
//!
//! **Invariant.** Matching takes time at most proportional to path and pattern together: a `*` once passed is
//! never revisited.

use codes::vbyte;
use memchr::memmem;

use super::canonical::{Side, spell, undo};

/// The value of one Allow or Disallow line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The pieces between the stars, each as [`spell`] spells it; the first is a prefix.
    text: Box<[u8]>,
    /// Whether the path must end where the pattern does.
    anchored: bool,
}

impl Pattern {
    /// Parses the value of a line.
    pub(super) fn parse(value: &[u8]) -> Pattern {
        let (value, anchored) = match value.strip_suffix(b"$") {
            Some(rest) => (rest, true),
            None => (value, false),
        };
        Pattern { text: spell(value, Side::Rule).into(), anchored }
    }

    /// Returns the bytes of memory of the text, with an estimate for the allocator.
    pub(super) fn memory_bytes(&self) -> usize {
        self.text.len() + size_of::<usize>()
    }

    /// Serialises the pattern.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.anchored));
        vbyte::write(out, self.text.len() as u64);
        out.extend_from_slice(&self.text);
    }

    /// Reads the output of [`Pattern::write`] from the front of `bytes`.
    pub(super) fn read(bytes: &mut &[u8]) -> Option<Pattern> {
        let (&anchored, rest) = bytes.split_first()?;
        *bytes = rest;
        let length = usize::try_from(vbyte::read(bytes)?).ok()?;
        let (text, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        Some(Pattern { text: text.into(), anchored: anchored != 0 })
    }

    /// Returns how specific it is: the bytes of the pattern, `$` included.
    pub(super) fn len(&self) -> usize {
        self.text.len() + usize::from(self.anchored)
    }

    /// Returns whether it matches `path`, which has the same spelling.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        let mut pieces = self.text.split(|&byte| byte == b'*');
        let prefix = pieces.next().unwrap_or_default();
        let Some(mut rest) = path.strip_prefix(prefix) else { return false };
        let mut pieces = pieces.peekable();
        if pieces.peek().is_none() {
            return !self.anchored || rest.is_empty();
        }
        while let Some(piece) = pieces.next() {
            if self.anchored && pieces.peek().is_none() {
                return rest.ends_with(piece);
            }
            match memmem::find(rest, piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        true
    }

    /// Returns the pattern of the folder `/x/` if this one is `/x/index.html` (or `.htm…`), which also matches the
    /// folder.
    pub(super) fn folder(&self) -> Option<Pattern> {
        let slash = self.text.iter().rposition(|&byte| byte == b'/')?;
        let (folder, page) = self.text.split_at(slash + 1);
        page.starts_with(b"index.htm").then(|| Pattern { text: folder.into(), anchored: true })
    }

    /// Returns the pattern with its escapes decoded, if that makes a difference.
    pub(super) fn undone(&self) -> Option<Pattern> {
        let text = undo(&self.text)?;
        Some(Pattern { text: text.into(), anchored: self.anchored })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, by trying every length of every star.
    fn matches_slowly(pattern: &[u8], anchored: bool, path: &[u8]) -> bool {
        match pattern.split_first() {
            None => !anchored || path.is_empty(),
            Some((b'*', rest)) => {
                (0..=path.len()).any(|at| matches_slowly(rest, anchored, &path[at..]))
            }
            Some((byte, rest)) => {
                path.first() == Some(byte) && matches_slowly(rest, anchored, &path[1..])
            }
        }
    }

    proptest! {
        #[test]
        fn matching_agrees_with_the_definition(pattern in "/[ab*]{0,7}\\$?", path in "/[ab]{0,9}") {
            let text = pattern.trim_end_matches('$').as_bytes();
            let expected = matches_slowly(text, pattern.ends_with('$'), path.as_bytes());
            prop_assert_eq!(Pattern::parse(pattern.as_bytes()).matches(path.as_bytes()), expected);
        }
    }

    #[test]
    fn a_pattern_full_of_stars_matches_quickly() {
        let pattern = Pattern::parse("*a".repeat(8_000).as_bytes());
        assert!(!pattern.matches("a".repeat(7_999).as_bytes()));
        let pattern = Pattern::parse(format!("/{}b", "*aaaaaaaa".repeat(1_000)).as_bytes());
        assert!(!pattern.matches(format!("/{}", "a".repeat(2_000)).as_bytes()));
    }
}
