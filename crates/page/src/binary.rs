//! Bodies that are not text, whatever their label says.
//!
//! Two tests: the first bytes of well-known formats, before decoding; and, after decoding, the
//! share of characters that no text contains. Stray NULs or escapes do not make a page binary.
//!
//! **Invariant.** Both look at a bounded part of the body.

use crate::PageError;

/// First bytes of formats that get served under the label of text.
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

/// Characters looked at.
const SAMPLED_CHARS: usize = 2 << 10;
/// Fewer foreign characters than this never make a body binary.
const FOREIGN_MIN: usize = 16;
/// More than one in this many does. Random bytes have one in ten.
const FOREIGN_SHARE: usize = 20;

/// Refuses a body that begins as a known binary format does.
pub(crate) fn refuse_magic(body: &[u8]) -> Result<(), PageError> {
    match MAGIC.iter().find(|(magic, _)| body.starts_with(magic)) {
        Some((_, found)) => Err(PageError::NotText { found }),
        None => Ok(()),
    }
}

/// Refuses a text with too many characters that are no text.
pub(crate) fn refuse_controls(text: &str) -> Result<(), PageError> {
    // Nearly every text is clear at a glance.
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

/// Controls other than white space and escape, and what stands for bytes that decode to nothing.
fn is_foreign(c: char) -> bool {
    matches!(c, '\0'..='\x08' | '\x0e'..='\x1a' | '\x1c'..='\x1f' | '\x7f'..='\u{84}'
        | '\u{86}'..='\u{9f}' | '\u{fffd}')
}

/// At least as many as there are foreign characters in the UTF-8 `bytes`, up to one; without a
/// branch and in small numbers, so that many bytes are looked at together.
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

/// Whether a foreign character may begin with these two bytes of UTF-8.
#[expect(clippy::needless_bitwise_bool, reason = "a branch a byte costs more than the byte")]
fn may_be_foreign(byte: u8, next: u8) -> bool {
    let is_control = (byte < b' ') & !(b'\t'..=b'\r').contains(&byte) & (byte != b'\x1b');
    is_control
        | (byte == 0x7f)
        | (byte == 0xc2) & (next < 0xa0) & (next != 0x85)
        | (byte == 0xef) & (next == 0xbf)
}
