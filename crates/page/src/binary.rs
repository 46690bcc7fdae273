//! Detects bodies that are not text, whatever their content type.
//!
//! The first test compares the first bytes with well-known formats, before decoding. The second test counts
//! characters that text does not contain, after decoding. A few NULs or escapes do not make a page binary.
//!
//! **Invariant.** Both tests read a bounded part of the body.

use crate::PageError;

/// First bytes of formats that servers send with a text content type.
const MAGIC: [(&[u8], &str); 22] = [
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"RIFF", "a RIFF file"),
    (b"\0\0\x01\0", "an icon"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PK\x05\x06", "a ZIP archive"),
    (b"%PDF-", "a PDF document"),
    (b"\x1f\x8b", "a gzip stream"),
    (b"BZh", "a bzip2 stream"),
    (b"\xfd7zXZ\0", "an xz stream"),
    (b"\x28\xb5\x2f\xfd", "a zstd stream"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x7fELF", "an ELF program"),
    (b"\xca\xfe\xba\xbe", "a Java class"),
    (b"\0asm", "a WebAssembly module"),
    (b"OggS", "an Ogg stream"),
    (b"ID3", "an MP3 file"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
];

/// Characters of the text that are counted.
const SAMPLED_CHARS: usize = 2 << 10;
/// Fewer foreign characters than this never make a body binary.
const FOREIGN_MIN: usize = 16;
/// A body is binary if more than one character in this number is foreign. In random bytes one in ten is.
const FOREIGN_SHARE: usize = 20;

/// Refuses a body that begins with the first bytes of a known binary format.
pub(crate) fn refuse_magic(body: &[u8]) -> Result<(), PageError> {
    match MAGIC.iter().find(|(magic, _)| body.starts_with(magic)) {
        Some((_, found)) => Err(PageError::NotText { found }),
        None => Ok(()),
    }
}

/// Refuses a text with too many foreign characters.
pub(crate) fn refuse_controls(text: &str) -> Result<(), PageError> {
    // Nearly every text passes this quick upper bound.
    let start = &text.as_bytes()[..text.len().min(4 * SAMPLED_CHARS)];
    if foreign_bytes(start) + 1 < FOREIGN_MIN {
        return Ok(());
    }
    let (mut sampled, mut foreign) = (0, 0);
    for c in text.chars().take(SAMPLED_CHARS) {
        sampled += 1;
        foreign += usize::from(is_foreign(c));
    }
    if foreign >= FOREIGN_MIN && foreign * FOREIGN_SHARE > sampled {
        return Err(PageError::NotText { found: "control bytes all over" });
    }
    Ok(())
}

/// Returns whether a character is U+FFFD or a control other than white space and escape.
fn is_foreign(c: char) -> bool {
    matches!(c, '\0'..='\x08' | '\x0e'..='\x1a' | '\x1c'..='\x1f' | '\x7f'..='\u{84}'
        | '\u{86}'..='\u{9f}' | '\u{fffd}')
}

/// An upper bound of the number of foreign characters in the UTF-8 `bytes`, not counting the last byte.
/// The loop has no branch and counts in `u8`, so the compiler can vectorise it.
fn foreign_bytes(bytes: &[u8]) -> usize {
    const TOGETHER: usize = 128;
    let nexts = bytes.get(1..).unwrap_or_default();
    let chunks = bytes.chunks(TOGETHER).zip(nexts.chunks(TOGETHER));
    let count = |(bytes, nexts): (&[u8], &[u8])| {
        let pairs = bytes.iter().zip(nexts);
        usize::from(pairs.map(|(&byte, &next)| u8::from(may_be_foreign(byte, next))).sum::<u8>())
    };
    chunks.map(count).sum()
}

/// Returns whether a foreign character may begin with these two bytes of UTF-8.
#[expect(clippy::needless_bitwise_bool, reason = "a branch a byte costs more than the byte")]
fn may_be_foreign(byte: u8, next: u8) -> bool {
    let is_control = (byte < b' ') & !(b'\t'..=b'\r').contains(&byte) & (byte != b'\x1b');
    is_control
        | (byte == 0x7f)
        | (byte == 0xc2) & (next < 0xa0) & (next != 0x85)
        | (byte == 0xef) & (next == 0xbf)
}
