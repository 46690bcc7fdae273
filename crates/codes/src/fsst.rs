//! [`SymbolTable`]: compresses short byte strings; each can be decoded on its own.
//!
//! A code byte encodes a symbol, a string of one to eight bytes. [`ESCAPE`] encodes the byte after it. The symbols
//! are trained on a sample in five rounds. Each round codes the sample with the current symbols. Of these symbols
//! and all pairs of neighbours, those that save the most bytes become the next symbols. In a large sample, each
//! round uses a fifth more of the strings.
//!
//! What lives here: training, coding and comparing. Callers store the boundaries of strings.
//!
//! **Implied distribution.** That of the sample, as far as 255 strings can describe it.
//! **Range.** All byte strings.
//! **Length.** At most twice the string.
//! **Reference.** P. Boncz, T. Neumann, V. Leis, "FSST: fast random access string compression", PVLDB 13(11),
//! 2020.
//!
//! **Invariant.** A table decodes what it coded. A table depends only on the sample and the order of its strings.
//! On any bytes: no panic.

/// The code that escapes a byte outside all symbols.
pub const ESCAPE: u8 = 255;

/// Longest symbol.
const SYMBOL_BYTES_MAX: usize = 8;
/// Largest number of symbols.
const SYMBOLS_MAX: usize = ESCAPE as usize;
/// Codes of symbols, then every byte as a literal: the units that training counts.
const CODES: usize = SYMBOLS_MAX + 256;
/// Number of training rounds.
const ROUNDS: usize = 5;
/// In a sample of at least this size, each round uses a part of the strings.
const LARGE: usize = 1 << 10;

/// Number of codes compared together, and the number compared before checking whether there are more.
const AT_ONCE: usize = 8;
const AT_FIRST: usize = 6;
/// Longest text of these codes, plus eight bytes.
const TEXT_BYTES: usize = AT_ONCE * SYMBOL_BYTES_MAX + 8;
/// Length of an entry without symbol: more than all symbols compared together, and a mask of no bytes.
const NO_LENGTH: u8 = 0x80;
/// A one in each byte.
const ONES: u64 = u64::MAX / 255;

/// A mask for each number of bytes up to the longest symbol; indexed by four bits.
static LOWEST: [u64; 16] = {
    let (mut lowest, mut count) = ([0; 16], 1);
    while count <= SYMBOL_BYTES_MAX {
        lowest[count] = lowest[count - 1] << 8 | 0xff;
        count += 1;
    }
    lowest
};

/// A symbol: its bytes, padded with zeros, and their number.
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

    /// Concatenates two symbols, which must be short enough together.
    fn and(&self, other: &Symbol) -> Self {
        let mut both = *self;
        let end = usize::from(self.length + other.length);
        both.bytes[self.length.into()..end].copy_from_slice(other.as_bytes());
        both.length += other.length;
        both
    }
}

/// A string to compare with, followed by [`Needle::PADDING`] zeros. So a fixed number of bytes can be read from
/// any offset.
#[derive(Debug, Clone, Copy)]
pub struct Needle<'a> {
    padded: &'a [u8],
    length: usize,
}

impl<'a> Needle<'a> {
    /// Number of zeros required after the string.
    pub const PADDING: usize = TEXT_BYTES;

    /// The first `length` bytes of `padded`; `None` if the padding is too short. The padding must be zeros, which
    /// is not checked: with other bytes, comparisons give wrong results.
    #[inline]
    pub fn new(padded: &'a [u8], length: usize) -> Option<Self> {
        let is_padded = padded.len() >= length.checked_add(Self::PADDING)?;
        debug_assert!(!is_padded || padded[length..].iter().all(|&byte| byte == 0), "zeros");
        is_padded.then_some(Self { padded, length })
    }

    /// The string without padding.
    #[inline]
    pub fn as_bytes(self) -> &'a [u8] {
        &self.padded[..self.length]
    }

    #[inline]
    pub(crate) fn len(self) -> usize {
        self.length
    }

    /// The string as little-endian words, padded with zeros; `None` if it is longer.
    #[inline]
    pub(crate) fn words<const WORDS: usize>(self) -> Option<[u64; WORDS]> {
        let words = self.padded.as_chunks().0.first_chunk::<WORDS>();
        let words = words.filter(|_| self.length <= 8 * WORDS)?;
        Some(words.map(u64::from_le_bytes))
    }

    /// The eight bytes from `from` on, padded with zeros, as a big-endian number.
    #[inline]
    pub fn eight(self, from: usize) -> u64 {
        let from = from.min(self.length);
        // Load aligned words only: a load that overlaps two words just stored would stall.
        let words = self.padded.get(from & !7..).and_then(|rest| rest.first_chunk::<16>());
        let words = u128::from_le_bytes(*words.unwrap_or(&[0; 16]));
        let eight = words >> (8 * (from & 7));
        #[expect(clippy::cast_possible_truncation, reason = "only the lower half is needed")]
        (eight as u64).swap_bytes()
    }

    /// Returns whether the needle contains the first `count` bytes of `padded` at offset `from`. `padded` may have
    /// other bytes after these.
    ///
    /// Up to sixteen bytes, the running time does not depend on the data.
    #[inline]
    pub fn has(self, padded: &[u8], count: usize, from: usize) -> bool {
        let end = from.saturating_add(count);
        if count <= 16
            && let Some(own) = self.text(from)
            && let Some(sixteen) = padded.first_chunk::<16>()
        {
            let lower =
                (window_of(own, 0) ^ crate::fixed::eight(sixteen, 0)) & LOWEST[count.min(8)];
            let upper = window_of(own, 8) ^ crate::fixed::eight(sixteen, 8);
            let upper = upper & LOWEST[count.saturating_sub(8)];
            return lower | upper == 0 && end <= self.length;
        }
        self.as_bytes().get(from..end).is_some_and(|own| padded.get(..count) == Some(own))
    }

    /// A fixed number of bytes from `from` on; `None` if there are fewer.
    #[inline]
    fn text(self, from: usize) -> Option<&'a [u8; TEXT_BYTES]> {
        self.padded.get(from..)?.first_chunk()
    }

    /// Eight bytes from `at` on; zeros if they are out of range.
    #[inline]
    fn window(self, at: usize) -> u64 {
        let bytes = self.padded.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |eight| u64::from_le_bytes(*eight))
    }
}

/// Eight bytes from `at` on; `at` must be below 64.
#[inline]
fn window_of(text: &[u8; TEXT_BYTES], at: usize) -> u64 {
    let from = at % (AT_ONCE * SYMBOL_BYTES_MAX);
    u64::from_le_bytes(*text[from..].first_chunk().expect("eight more than that"))
}

/// Symbols, indexed by their codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolTable {
    /// Entries without symbol never match: [`ESCAPE`] has length zero, the others have [`NO_LENGTH`].
    symbols: Box<[Symbol; 256]>,
    count: usize,
}

impl Default for SymbolTable {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl SymbolTable {
    /// The table of these symbols, at most 255.
    fn new(symbols: &[Symbol]) -> Self {
        let mut all = Box::new([Symbol { bytes: [0; SYMBOL_BYTES_MAX], length: NO_LENGTH }; 256]);
        all[..symbols.len()].copy_from_slice(symbols);
        all[usize::from(ESCAPE)].length = 0;
        Self { symbols: all, count: symbols.len() }
    }

    #[inline]
    fn symbols(&self) -> &[Symbol] {
        &self.symbols[..self.count]
    }

    /// Trains a table on a sample of strings.
    pub fn train(sample: &[&[u8]]) -> Self {
        let (mut table, mut pairs) = (Self::default(), vec![0; CODES * CODES]);
        let is_large = sample.len() >= LARGE;
        for round in 1..=ROUNDS {
            // A part of the sample is enough for the early rounds, whose symbols are replaced.
            let is_seen = |number: usize| !is_large || number % ROUNDS < round;
            let some = sample.iter().enumerate().filter(|&(number, _)| is_seen(number));
            table = table.improve(some.map(|(_, string)| *string), &mut pairs);
        }
        table
    }

    /// Appends the table: the number of symbols, then the length and the bytes of each.
    #[expect(clippy::missing_panics_doc, reason = "there are never more")]
    pub fn save(&self, out: &mut Vec<u8>) {
        out.push(u8::try_from(self.count).expect("255 symbols at most"));
        for symbol in self.symbols() {
            out.push(symbol.length);
            out.extend_from_slice(symbol.as_bytes());
        }
    }

    /// Reads a saved table and advances `input`; `None` if the bytes are invalid.
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
        Some(Self::new(&symbols))
    }

    /// Decodes `coded` and appends the string; `None` if a code is invalid.
    pub fn read(&self, coded: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut codes = coded.iter();
        while let Some(&code) = codes.next() {
            match self.symbols().get(usize::from(code)) {
                Some(symbol) => out.extend_from_slice(symbol.as_bytes()),
                None if code == ESCAPE => out.push(*codes.next()?),
                None => return None,
            }
        }
        Some(())
    }

    /// Returns whether the first `count` bytes of `padded` encode exactly the rest of `needle` from `from` on.
    /// `padded` may have other bytes after these. Returns `None` if a code is invalid.
    ///
    /// Up to six codes, and up to eight, the running time does not depend on the data. Strings are usually equal,
    /// so stopping at the first difference would be slower.
    #[inline]
    pub fn is_rest(
        &self,
        padded: &[u8],
        count: usize,
        needle: Needle<'_>,
        from: usize,
    ) -> Option<bool> {
        if count <= AT_ONCE
            && let Some(eight) = padded.first_chunk()
            && let Some(text) = needle.text(from)
        {
            let (codes, behind) = (u64::from_le_bytes(*eight), !LOWEST[count]);
            // Bytes of zero mark escapes, which have no length. The same code fills the bytes after `count`, so
            // these are excluded.
            let no_escapes = !codes | behind;
            let escapes = no_escapes.wrapping_sub(ONES) & !no_escapes & (ONES << 7);
            let (mut at, mut difference) = (0, 0);
            let mut look_at = |codes: &[u8]| {
                for &code in codes {
                    let Symbol { bytes, length } = self.symbols[usize::from(code)];
                    let window = window_of(text, at) ^ u64::from_le_bytes(bytes);
                    difference |= window & LOWEST[usize::from(length) % LOWEST.len()];
                    at += usize::from(length);
                }
            };
            let codes = (codes | behind).to_le_bytes();
            look_at(&codes[..AT_FIRST]);
            if count > AT_FIRST {
                look_at(&codes[AT_FIRST..]);
            }
            if escapes == 0 && at <= AT_ONCE * SYMBOL_BYTES_MAX {
                return Some(difference == 0 && from + at == needle.length);
            }
        }
        self.is_long_rest(padded.get(..count)?, needle, from)
    }

    /// [`SymbolTable::is_rest`], one code at a time.
    #[inline(never)]
    fn is_long_rest(&self, coded: &[u8], needle: Needle<'_>, from: usize) -> Option<bool> {
        let (mut codes, mut at, mut difference) = (coded.iter(), from, 0);
        while let Some(&code) = codes.next() {
            let (bytes, length) = self.text(code, &mut codes)?;
            difference |= (needle.window(at) ^ bytes) & LOWEST[length];
            at += length;
        }
        Some(difference == 0 && at == needle.length)
    }

    /// The text and length of a code. After an escape, the next byte is the text.
    #[inline]
    fn text(&self, code: u8, behind: &mut std::slice::Iter<'_, u8>) -> Option<(u64, usize)> {
        match self.symbols().get(usize::from(code)) {
            Some(symbol) => Some((u64::from_le_bytes(symbol.bytes), usize::from(symbol.length))),
            None if code == ESCAPE => Some((u64::from(*behind.next()?), 1)),
            None => None,
        }
    }

    /// One training round: returns the table of the symbols that save most. `pairs` counts pairs of neighbouring
    /// codes; it is zero on entry and on return.
    fn improve<'s>(&self, sample: impl Iterator<Item = &'s [u8]>, pairs: &mut [u32]) -> Self {
        let encoder = Encoder::new(self);
        let text = |code: usize| match self.symbols().get(code) {
            Some(symbol) => *symbol,
            None => Symbol::new(&(code - SYMBOLS_MAX).to_le_bytes()[..1]),
        };
        let mut single = vec![0_u32; CODES];
        // Most pairs never occur, so remember those that do.
        let mut seen = Vec::new();
        for string in sample {
            let (mut rest, mut before) = (string, None);
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
        // A symbol may arise in several ways; add up its gains.
        gains.sort_unstable_by_key(|&(_, symbol)| symbol);
        gains.dedup_by(|(gain, symbol), (sum, kept)| {
            let same = symbol == kept;
            *sum += if same { *gain } else { 0 };
            same
        });
        // All symbols differ now, so the selection does not depend on their order.
        if gains.len() > SYMBOLS_MAX {
            gains.select_nth_unstable_by(SYMBOLS_MAX, |a, b| b.cmp(a));
            gains.truncate(SYMBOLS_MAX);
        }
        gains.sort_unstable_by(|a, b| b.cmp(a));
        Self::new(&gains.into_iter().map(|(_, symbol)| symbol).collect::<Vec<_>>())
    }
}

/// Codes strings with a table.
#[derive(Debug, Clone)]
pub struct Encoder {
    /// Symbols of two or more bytes, sorted by their first two bytes, then longest first: bytes, length and code.
    symbols: Vec<(u64, u8, u8)>,
    /// For every two bytes, the index of the first symbol that begins with them, plus one; zero if there is no
    /// such symbol.
    starts: Box<[u8]>,
    /// Codes of the symbols of one byte.
    single: [Option<u8>; 256],
}

impl Encoder {
    /// An encoder for `table`.
    pub fn new(table: &SymbolTable) -> Self {
        let mut single = [None; 256];
        let mut symbols = Vec::with_capacity(table.count);
        for (code, symbol) in (0..=u8::MAX).zip(table.symbols()) {
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

    /// Returns code and length of the longest symbol at the start of `text`, which must not be empty.
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
    fn frequent_strings_are_compressed() {
        let (table, mut out) = (table(), Vec::new());
        Encoder::new(&table).write(b"tation", &mut out);
        assert!(out.len() <= 2, "{out:?}");
        out.clear();
        Encoder::new(&table).write(b"\xff\x00", &mut out);
        assert_eq!(out, [ESCAPE, 0xff, ESCAPE, 0]);
    }

    #[test]
    fn zero_symbols_do_not_match_past_the_end() {
        let table = SymbolTable::train(&[&[0, 0, 0, 0], &[0, 0, 0, 0], &[1, 0, 0]]);
        let encoder = Encoder::new(&table);
        for length in 0..6 {
            let (text, mut coded, mut back) = (vec![0; length], Vec::new(), Vec::new());
            encoder.write(&text, &mut coded);
            assert_eq!(table.read(&coded, &mut back), Some(()));
            assert_eq!(back, text);
        }
    }

    #[test]
    fn invalid_codes_are_distinguished_from_mismatching_codes() {
        let (table, padded) = (table(), [0; Needle::PADDING]);
        let needle = Needle::new(&padded, 0).expect("it is padded");
        let unknown = u8::try_from(table.count).expect("few symbols");
        for (codes, expected) in [
            (&[][..], Some(true)),
            (&[0][..], Some(false)),
            (&[unknown][..], None),
            (&[0, 0, 0, 0, 0, unknown][..], None),
            (&[ESCAPE][..], None),
            (&[ESCAPE, 1][..], Some(false)),
        ] {
            let behind = [codes, &[0; 8]].concat();
            assert_eq!(table.is_rest(&behind, codes.len(), needle, 0), expected, "{codes:?}");
            assert_eq!(table.is_rest(codes, codes.len(), needle, 0), expected, "{codes:?}");
        }
        assert_eq!(table.is_rest(&[0], 2, needle, 0), None);
    }

    #[test]
    fn a_needle_matches_only_equal_bytes() {
        let padded = [&b"beforeabcdefghijklmnopqrst"[..], &[0; Needle::PADDING]].concat();
        let needle = Needle::new(&padded, 26).expect("it is padded");
        for (other, count) in (0..=20).flat_map(|other| (0..=20).map(move |count| (other, count))) {
            for behind in [0, 20] {
                let mut bytes = [&b"abcdefghijklmnopqrst"[..], &[0; 20][..behind]].concat();
                if let Some(byte) = bytes[..20].get_mut(other) {
                    *byte ^= 1;
                }
                assert_eq!(needle.has(&bytes, count, 6), count <= other, "{count} but for {other}");
                assert!(!needle.has(&bytes, 21, 6));
            }
        }
    }

    #[test]
    fn eight_bytes_are_read_at_any_offset() {
        let padded = [&b"abcdefghijklmnopqrst"[..], &[0; Needle::PADDING]].concat();
        let needle = Needle::new(&padded, 20).expect("it is padded");
        for from in 0..20 {
            let eight = *padded[from..].first_chunk().expect("it is padded");
            assert_eq!(needle.eight(from), u64::from_be_bytes(eight), "from {from}");
        }
        assert!([20, 21, 100, usize::MAX].into_iter().all(|from| needle.eight(from) == 0));
        assert_eq!(needle.words::<2>(), None);
        let words = [*b"abcdefgh", *b"ijklmnop", *b"qrst\0\0\0\0", [0; 8]];
        assert_eq!(needle.words(), Some(words.map(u64::from_le_bytes)));
    }

    proptest! {
        /// Compares with a scan of all symbols.
        #[test]
        fn the_encoder_finds_the_longest_symbol(
            sample in vec("[a-c\\x00]{0,12}", 0..40), text in "[a-c\\x00]{1,12}",
        ) {
            let table = SymbolTable::train(&sample.iter().map(String::as_bytes).collect::<Vec<_>>());
            let encoder = Encoder::new(&table);
            for start in 0..text.len() {
                let rest = &text.as_bytes()[start..];
                let fitting = (0..=u8::MAX).zip(table.symbols());
                let fitting = fitting.filter(|(_, symbol)| rest.starts_with(symbol.as_bytes()));
                let longest = fitting.max_by_key(|(_, symbol)| symbol.length);
                let expected = longest.map(|(code, symbol)| (code, usize::from(symbol.length)));
                prop_assert_eq!(encoder.longest(rest), expected);
            }
        }

        #[test]
        fn strings_round_trip_and_compare_correctly(
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
                    for before in ["", "before", "beforebeforebefore"] {
                        let padded = [before.as_bytes(), other, &[0; Needle::PADDING]].concat();
                        let length = before.len() + other.len();
                        let needle = Needle::new(&padded, length).expect("it is padded");
                        prop_assert!(Needle::new(&padded, length + 1).is_none());
                        for behind in [0, 40] {
                            // Add other bytes after the codes.
                            let coded_more = [&coded[..], &[0; 40][..behind]].concat();
                            let is_rest =
                                table.is_rest(&coded_more, coded.len(), needle, before.len());
                            prop_assert_eq!(is_rest, Some(text == other));
                            let text_more = [&text[..], &[0; 40][..behind]].concat();
                            for count in 0..=text.len() {
                                let has = needle.has(&text_more, count, before.len());
                                prop_assert_eq!(has, count <= common, "{} bytes", count);
                            }
                        }
                    }
                }
            }
        }

        #[test]
        fn any_bytes_decode_without_panic(bytes in vec(any::<u8>(), 0..300), text in vec(any::<u8>(), 0..30)) {
            let mut rest = &bytes[..];
            let table = SymbolTable::load(&mut rest).unwrap_or_else(table);
            let _ = table.read(rest, &mut Vec::new());
            let needle = [&text[..], &[0; Needle::PADDING]].concat();
            let needle = Needle::new(&needle, text.len()).expect("it is padded");
            for count in [0, 4, 5, 8, 9, rest.len()] {
                let _ = table.is_rest(rest, count, needle, bytes.len() / 10);
                let _ = needle.has(rest, count, bytes.len() / 10);
            }
        }
    }
}
