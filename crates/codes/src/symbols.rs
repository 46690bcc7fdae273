//! [`SymbolTable`]: short byte strings in fewer bytes, each readable without the others.
//!
//! A code byte stands for a symbol, a byte string of one to eight bytes; [`ESCAPE`] for the byte that
//! follows it. The symbols are found in a sample: starting from none, the sample is coded with the
//! symbols so far, and of these and of all pairs that stand side by side those become the next symbols
//! that save most; five rounds of this.
//!
//! What lives here: the table, coding and comparing. What does not: where strings begin and end.
//!
//! **Implied distribution.** That of the sample, as far as 255 strings tell it.
//! **Range.** All byte strings. **Length.** At most twice the string.
//! **Reference.** P. Boncz, T. Neumann, V. Leis, "FSST: fast random access string compression", PVLDB
//! 13(11), 2020.
//!
//! **Invariant.** What was coded with a table comes back with the same table. Tables depend on the
//! sample alone. On any bytes: no panic.

use std::cmp::Ordering;

/// The code of a byte that is no symbol.
pub const ESCAPE: u8 = 255;

/// The longest symbol.
const SYMBOL_BYTES_MAX: usize = 8;
/// The most symbols.
const SYMBOLS_MAX: usize = ESCAPE as usize;
/// Codes of symbols, and every byte as a literal: what a sample is counted in.
const CODES: usize = SYMBOLS_MAX + 256;
/// How often the symbols are chosen anew.
const ROUNDS: usize = 5;

/// For each number of bytes up to those of a symbol, ones in as many.
static LOWEST: [u64; SYMBOL_BYTES_MAX + 1] = {
    let (mut lowest, mut count) = ([0; SYMBOL_BYTES_MAX + 1], 1);
    while count <= SYMBOL_BYTES_MAX {
        lowest[count] = lowest[count - 1] << 8 | 0xff;
        count += 1;
    }
    lowest
};

/// A symbol: its bytes from the lowest up, zeros above, and how many they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol {
    bytes: [u8; SYMBOL_BYTES_MAX],
    length: u8,
}

impl Symbol {
    fn new(text: &[u8]) -> Self {
        let mut bytes = [0; SYMBOL_BYTES_MAX];
        bytes[..text.len()].copy_from_slice(text);
        Self { bytes, length: text.len().to_le_bytes()[0] }
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Both, one behind the other, which are short enough together.
    fn and(&self, other: &Symbol) -> Self {
        let mut both = *self;
        let end = usize::from(self.length + other.length);
        both.bytes[self.length.into()..end].copy_from_slice(other.as_bytes());
        both.length += other.length;
        both
    }
}

/// A string to compare with. Behind it lie [`Needle::PADDING`] bytes more, which count for nothing: so eight
/// can be read from anywhere in it at once.
#[derive(Debug, Clone, Copy)]
pub struct Needle<'a> {
    padded: &'a [u8],
    length: usize,
}

impl<'a> Needle<'a> {
    /// How many bytes there must be behind the string.
    pub const PADDING: usize = 8;

    /// The string that `padded` begins with; `None` if there are too few bytes behind it.
    #[inline]
    pub fn new(padded: &'a [u8], length: usize) -> Option<Self> {
        (padded.len() >= length.checked_add(Self::PADDING)?).then_some(Self { padded, length })
    }

    /// The string.
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        &self.padded[..self.length]
    }

    /// How many bytes it has.
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.length
    }

    /// Its words, the lowest byte first and zeros behind its end; `None` if it has more.
    #[inline]
    pub(crate) fn words<const WORDS: usize>(self) -> Option<[u64; WORDS]> {
        let word = |word: usize| {
            let left = self.length.saturating_sub(8 * word);
            self.window(8 * word) & LOWEST[left.min(8)]
        };
        (self.length <= 8 * WORDS).then(|| std::array::from_fn(word))
    }

    /// The eight bytes from `from` on, zeros behind its end, as a number that compares as they do.
    #[inline]
    pub fn eight(self, from: usize) -> u64 {
        let left = self.length.saturating_sub(from);
        (self.window(from) & LOWEST[left.min(8)]).swap_bytes()
    }

    /// Eight bytes from `at` on; zeros from beyond all of them.
    #[inline]
    fn window(self, at: usize) -> u64 {
        let bytes = self.padded.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |eight| u64::from_le_bytes(*eight))
    }
}

/// Symbols and their codes, which are their places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolTable {
    symbols: Vec<Symbol>,
}

impl SymbolTable {
    /// The table for strings like those of `sample`.
    pub fn train(sample: &[&[u8]]) -> Self {
        let (mut table, mut pairs) = (Self::default(), vec![0; CODES * CODES]);
        for _ in 0..ROUNDS {
            table = table.improve(sample, &mut pairs);
        }
        table
    }

    /// Appends the table: how many symbols, then for each its length and its bytes.
    #[expect(clippy::missing_panics_doc, reason = "there are never more")]
    pub fn save(&self, out: &mut Vec<u8>) {
        out.push(u8::try_from(self.symbols.len()).expect("255 symbols at most"));
        for symbol in &self.symbols {
            out.push(symbol.length);
            out.extend_from_slice(symbol.as_bytes());
        }
    }

    /// Reads a table that was saved, and advances `input` behind it; `None` if the bytes are none.
    pub fn load(input: &mut &[u8]) -> Option<Self> {
        let (&count, mut rest) = input.split_first()?;
        let mut symbols = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            let (&length, behind) = rest.split_first()?;
            let length = usize::from(length);
            let bytes = behind.get(..length)?;
            if length == 0 || length > SYMBOL_BYTES_MAX {
                return None;
            }
            symbols.push(Symbol::new(bytes));
            rest = &behind[length..];
        }
        *input = rest;
        Some(Self { symbols })
    }

    /// Appends the string that `coded` stands for; `None` if it stands for none.
    pub fn read(&self, coded: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut codes = coded.iter();
        while let Some(&code) = codes.next() {
            match self.symbols.get(usize::from(code)) {
                Some(symbol) => out.extend_from_slice(symbol.as_bytes()),
                None if code == ESCAPE => out.push(*codes.next()?),
                None => return None,
            }
        }
        Some(())
    }

    /// Compares the string that `coded` stands for with what `needle` has from `from` on: up to where the needle has
    /// the same, and how the string compares; `None` if it stands for none.
    #[inline]
    pub fn compare(
        &self,
        coded: &[u8],
        needle: Needle<'_>,
        from: usize,
    ) -> Option<(usize, Ordering)> {
        let (mut codes, mut common) = (coded.iter(), from);
        while let Some(&code) = codes.next() {
            let (bytes, length) = self.text(code, &mut codes)?;
            let window = needle.window(common);
            let equal = (window ^ bytes).trailing_zeros() as usize / 8;
            let left = needle.length.saturating_sub(common);
            let same = equal.min(length).min(left);
            common += same;
            if same < length {
                let byte = |word: u64| word.to_le_bytes()[same];
                let order =
                    if same == left { Ordering::Greater } else { byte(bytes).cmp(&byte(window)) };
                return Some((common, order));
            }
        }
        Some((common, if common < needle.length { Ordering::Less } else { Ordering::Equal }))
    }

    /// Whether `coded` stands for what `needle` has from `from` on, all of it; `None` if it stands for nothing.
    ///
    /// Nothing but the number of codes decides how long this takes: where strings are mostly the same, to stop at the
    /// first difference takes longer than to go on.
    #[inline]
    pub fn is_rest(&self, coded: &[u8], needle: Needle<'_>, from: usize) -> Option<bool> {
        let (mut codes, mut at, mut difference) = (coded.iter(), from, 0);
        while let Some(&code) = codes.next() {
            let (bytes, length) = self.text(code, &mut codes)?;
            difference |= (needle.window(at) ^ bytes) & LOWEST[length];
            at += length;
        }
        Some(difference == 0 && at == needle.length)
    }

    /// Whether what `coded` stands for begins with what `needle` has from `from` to `to`; `None` if it stands for
    /// nothing.
    #[inline]
    pub fn begins_with(
        &self,
        coded: &[u8],
        needle: Needle<'_>,
        from: usize,
        to: usize,
    ) -> Option<bool> {
        let (mut codes, mut at, mut difference) = (coded.iter(), from, 0);
        while at < to {
            let Some(&code) = codes.next() else { return Some(false) };
            let (bytes, length) = self.text(code, &mut codes)?;
            difference |= (needle.window(at) ^ bytes) & LOWEST[length.min(to - at)];
            at += length;
        }
        Some(difference == 0 && to <= needle.length)
    }

    /// What a code stands for, and its length; behind an escape stands the byte itself.
    #[inline]
    fn text(&self, code: u8, behind: &mut std::slice::Iter<'_, u8>) -> Option<(u64, usize)> {
        match self.symbols.get(usize::from(code)) {
            Some(symbol) => Some((u64::from_le_bytes(symbol.bytes), usize::from(symbol.length))),
            None if code == ESCAPE => Some((u64::from(*behind.next()?), 1)),
            None => None,
        }
    }

    /// One round: the symbols that save most of what this table leaves. `pairs` are zeros, and will be again: how
    /// often each code stands before each other.
    fn improve(&self, sample: &[&[u8]], pairs: &mut [u32]) -> Self {
        let encoder = Encoder::new(self);
        let text = |code: usize| match self.symbols.get(code) {
            Some(symbol) => *symbol,
            None => Symbol::new(&(code - SYMBOLS_MAX).to_le_bytes()[..1]),
        };
        let mut single = vec![0_u32; CODES];
        // Most pairs never come: those that do are noted, and the others are not looked at.
        let mut seen = Vec::new();
        for string in sample {
            let (mut rest, mut before) = (*string, None);
            while !rest.is_empty() {
                let (code, length) = encoder.longest(rest).map_or_else(
                    || (SYMBOLS_MAX + usize::from(rest[0]), 1),
                    |(code, length)| (usize::from(code), length),
                );
                single[code] += 1;
                if let Some(before) = before {
                    let pair = CODES * before + code;
                    if pairs[pair] == 0 {
                        seen.push(pair);
                    }
                    pairs[pair] += 1;
                }
                (before, rest) = (Some(code), &rest[length..]);
            }
        }
        let alone = single.iter().enumerate().filter(|(_, count)| **count > 0);
        let mut gains: Vec<(u64, Symbol)> = alone
            .map(|(code, &count)| (u64::from(count) * u64::from(text(code).length), text(code)))
            .collect();
        for pair in seen {
            let count = std::mem::take(&mut pairs[pair]);
            let (first, second) = (text(pair / CODES), text(pair % CODES));
            let length = first.length + second.length;
            if count > 1 && usize::from(length) <= SYMBOL_BYTES_MAX {
                gains.push((u64::from(count) * u64::from(length), first.and(&second)));
            }
        }
        // The same symbol may come in several ways: its gains are added.
        gains.sort_unstable_by_key(|&(_, symbol)| symbol);
        gains.dedup_by(|(gain, symbol), (sum, kept)| {
            let same = symbol == kept;
            *sum += if same { *gain } else { 0 };
            same
        });
        // No two are the same: the best are the same in whatever order they were.
        if gains.len() > SYMBOLS_MAX {
            gains.select_nth_unstable_by(SYMBOLS_MAX, |a, b| b.cmp(a));
            gains.truncate(SYMBOLS_MAX);
        }
        gains.sort_unstable_by(|a, b| b.cmp(a));
        Self { symbols: gains.into_iter().map(|(_, symbol)| symbol).collect() }
    }
}

/// Codes strings with a table.
#[derive(Debug, Clone)]
pub struct Encoder {
    /// Those of two bytes or more, by their first two bytes, and there the longest first: bytes, length and code.
    symbols: Vec<(u64, u8, u8)>,
    /// For every two bytes where those begin that begin with them, plus one, or zero if there are none.
    starts: Box<[u8]>,
    /// The codes of those of one byte.
    single: [Option<u8>; 256],
}

impl Encoder {
    /// An encoder for `table`.
    pub fn new(table: &SymbolTable) -> Self {
        let mut single = [None; 256];
        let mut symbols = Vec::with_capacity(table.symbols.len());
        for (code, symbol) in (0..=u8::MAX).zip(&table.symbols) {
            if symbol.length == 1 {
                let code_of = &mut single[usize::from(symbol.bytes[0])];
                *code_of = code_of.or(Some(code));
            } else {
                symbols.push((u64::from_le_bytes(symbol.bytes), symbol.length, code));
            }
        }
        symbols.sort_unstable_by_key(|&(bytes, length, code)| {
            (two(bytes), std::cmp::Reverse(length), code)
        });
        let mut starts = vec![0; 1 << 16].into_boxed_slice();
        for (place, &(bytes, ..)) in (1..=u8::MAX).zip(&symbols).rev() {
            starts[two(bytes)] = place;
        }
        Self { symbols, starts, single }
    }

    /// Appends the codes of `text`.
    pub fn write(&self, text: &[u8], out: &mut Vec<u8>) {
        let mut rest = text;
        while let Some(&first) = rest.first() {
            if let Some((code, length)) = self.longest(rest) {
                out.push(code);
                rest = &rest[length..];
            } else {
                out.extend_from_slice(&[ESCAPE, first]);
                rest = &rest[1..];
            }
        }
    }

    /// The longest symbol that `text`, which is not empty, begins with: its code and its length.
    #[inline]
    fn longest(&self, text: &[u8]) -> Option<(u8, usize)> {
        let window = crate::fixed::eight(text, 0);
        let begin = two(window);
        let mut place = usize::from(self.starts[begin]);
        while let Some(&(bytes, length, code)) = self.symbols.get(place.wrapping_sub(1)) {
            if two(bytes) != begin {
                break;
            }
            let mask = crate::fixed::mask(8 * u32::from(length));
            if usize::from(length) <= text.len() && (window ^ bytes) & mask == 0 {
                return Some((code, usize::from(length)));
            }
            place += 1;
        }
        self.single[usize::from(text[0])].map(|code| (code, 1))
    }
}

/// The first two of eight bytes as a number.
#[inline]
fn two(bytes: u64) -> usize {
    (bytes & 0xffff) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn table() -> SymbolTable {
        let sample = ["tation", "tations", "ting", "tingly", "ing", "ion", "1234", "123", "tation"];
        SymbolTable::train(&sample.map(str::as_bytes))
    }

    #[test]
    fn frequent_strings_become_short() {
        let (table, mut out) = (table(), Vec::new());
        Encoder::new(&table).write(b"tation", &mut out);
        assert!(out.len() <= 2, "{out:?}");
        out.clear();
        Encoder::new(&table).write(b"\xff\x00", &mut out);
        assert_eq!(out, [ESCAPE, 0xff, ESCAPE, 0]);
    }

    #[test]
    fn symbols_of_zeros_do_not_match_behind_the_end() {
        let table = SymbolTable::train(&[&[0, 0, 0, 0], &[0, 0, 0, 0], &[1, 0, 0]]);
        let encoder = Encoder::new(&table);
        for length in 0..6 {
            let (text, mut coded, mut back) = (vec![0; length], Vec::new(), Vec::new());
            encoder.write(&text, &mut coded);
            assert_eq!(table.read(&coded, &mut back), Some(()));
            assert_eq!(back, text);
        }
    }

    proptest! {
        /// Against a look at every symbol.
        #[test]
        fn the_longest_symbol_is_the_longest(
            sample in vec("[a-c\\x00]{0,12}", 0..40), text in "[a-c\\x00]{1,12}",
        ) {
            let table = SymbolTable::train(&sample.iter().map(String::as_bytes).collect::<Vec<_>>());
            let encoder = Encoder::new(&table);
            for start in 0..text.len() {
                let rest = &text.as_bytes()[start..];
                let fitting = (0..=u8::MAX).zip(&table.symbols);
                let fitting = fitting.filter(|(_, symbol)| rest.starts_with(symbol.as_bytes()));
                let longest = fitting.max_by_key(|(_, symbol)| symbol.length);
                let expected = longest.map(|(code, symbol)| (code, usize::from(symbol.length)));
                prop_assert_eq!(encoder.longest(rest), expected);
            }
        }

        #[test]
        fn strings_come_back_and_compare_as_they_are(
            sample in vec("[a-c0-2]{0,12}", 0..40), texts in vec(vec(any::<u8>(), 0..20), 1..6),
            near in "[a-c0-2]{0,12}",
        ) {
            let table = SymbolTable::train(&sample.iter().map(String::as_bytes).collect::<Vec<_>>());
            let encoder = Encoder::new(&table);
            let mut saved = Vec::new();
            table.save(&mut saved);
            prop_assert_eq!(SymbolTable::load(&mut &saved[..]), Some(table.clone()));
            let strings = sample.iter().map(|text| text.clone().into_bytes()).chain(texts);
            for text in strings {
                let (mut coded, mut back) = (Vec::new(), Vec::new());
                encoder.write(&text, &mut coded);
                prop_assert!(coded.len() <= 2 * text.len());
                prop_assert_eq!(table.read(&coded, &mut back), Some(()));
                prop_assert_eq!(&back, &text);
                for other in [near.as_bytes(), &text, &text[..text.len() / 2]] {
                    let common = text.iter().zip(other).take_while(|(a, b)| a == b).count();
                    for (before, behind) in [("", [0; 8]), ("before", *b"a0b1c2a0")] {
                        let padded = [before.as_bytes(), other, &behind].concat();
                        let length = before.len() + other.len();
                        let needle = Needle::new(&padded, length).expect("eight more");
                        prop_assert!(Needle::new(&padded, length + 1).is_none());
                        let expected = Some((before.len() + common, text.as_slice().cmp(other)));
                        prop_assert_eq!(table.compare(&coded, needle, before.len()), expected);
                        let is_rest = table.is_rest(&coded, needle, before.len());
                        prop_assert_eq!(is_rest, Some(text == other));
                        for to in 0..=padded.len() {
                            let begins = table.begins_with(&coded, needle, before.len(), to);
                            let wanted = to.saturating_sub(before.len());
                            let expected = wanted <= common && to <= length;
                            prop_assert_eq!(begins, Some(expected), "to {}", to);
                        }
                    }
                }
            }
        }

        #[test]
        fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..300), text in vec(any::<u8>(), 0..30)) {
            let mut rest = &bytes[..];
            let table = SymbolTable::load(&mut rest).unwrap_or_else(table);
            let _ = table.read(rest, &mut Vec::new());
            if let Some(needle) = text.len().checked_sub(Needle::PADDING).and_then(|length| Needle::new(&text, length)) {
                let _ = table.compare(rest, needle, bytes.len() / 10);
                let _ = table.is_rest(rest, needle, bytes.len() / 10);
                let _ = table.begins_with(rest, needle, bytes.len() / 10, bytes.len() / 5);
            }
        }
    }
}
