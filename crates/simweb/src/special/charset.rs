//! The host whose pages are not in UTF-8, or say so wrongly.
//!
//! **Invariant.** The bytes of a page, decoded as browsers decode them, are its text.
//!
//! The right answer is the browsers': byte order mark before HTTP header before meta element before
//! detection (WHATWG Encoding and HTML standards).

use super::{Entry, Fate};
use crate::words::Language;
use std::borrow::Cow;

/// The encoding of a page, and the charsets that it declares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Charset {
    encoding: Encoding,
    /// The charset of the Content-Type header; none if empty.
    header: &'static str,
    /// The charset of the meta element; none if empty.
    pub(super) meta: &'static str,
}

#[derive(Debug, Clone, Copy)]
enum Encoding {
    Utf8,
    Utf8WithMark,
    Utf16LittleWithMark,
    Table(&'static encoding_rs::Encoding),
}

impl Charset {
    pub(super) const UTF_8: Self =
        Self { encoding: Encoding::Utf8, header: "utf-8", meta: "utf-8" };

    pub(super) fn content_type(&self) -> Cow<'static, str> {
        match self.header {
            "" => "text/html".into(),
            "utf-8" => "text/html; charset=utf-8".into(),
            name => format!("text/html; charset={name}").into(),
        }
    }

    pub(super) fn encode(&self, text: &str) -> Vec<u8> {
        match self.encoding {
            Encoding::Utf8 => text.into(),
            Encoding::Utf8WithMark => format!("\u{feff}{text}").into(),
            Encoding::Utf16LittleWithMark => {
                format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
            }
            Encoding::Table(table) => table.encode(text).0.into_owned(),
        }
    }
}

pub(super) fn charset() -> Vec<Entry> {
    use Encoding::{Table, Utf8WithMark, Utf16LittleWithMark};
    use Language::{Czech, French, Japanese, Russian};
    let cyrillic = Table(encoding_rs::WINDOWS_1251);
    let central = Table(encoding_rs::ISO_8859_2);
    let shift_jis = Table(encoding_rs::SHIFT_JIS);
    let pages = [
        ("/header/windows-1251.html", Russian, cyrillic, "windows-1251", ""),
        ("/meta/windows-1251.html", Russian, cyrillic, "", "windows-1251"),
        ("/bare/windows-1251.html", Russian, cyrillic, "", ""),
        ("/header/iso-8859-2.html", Czech, central, "iso-8859-2", ""),
        ("/meta/iso-8859-2.html", Czech, central, "", "iso-8859-2"),
        ("/header/shift_jis.html", Japanese, shift_jis, "Shift_JIS", ""),
        ("/meta/shift_jis.html", Japanese, shift_jis, "", "shift_jis"),
        ("/bare/shift_jis.html", Japanese, shift_jis, "", ""),
        ("/mark/utf-16le.html", Russian, Utf16LittleWithMark, "", ""),
        ("/mark/lying-header.html", French, Utf8WithMark, "windows-1252", ""),
        ("/header/lying-meta.html", Russian, cyrillic, "windows-1251", "utf-8"),
    ];
    let paths = pages.map(|(path, ..)| path);
    let mut entries = vec![Entry::page("/").linking(&paths)];
    entries.extend(pages.map(|(path, language, encoding, header, meta)| {
        Entry::page(path)
            .in_language(language)
            .planned(|plan| plan.charset = Charset { encoding, header, meta })
            .fated(Fate::Page)
    }));
    entries
}
