//! A cached copy of a page, made piece by piece.
//!
//! This module decodes and cleans a page. `engine.rs` locates the page in the archive. `page::Cleaner` defines the
//! elements that remain.
//!
//! **Invariant.** A copy of any length uses the memory of its archive record and a few pieces of [`PIECE_BYTES`]. It
//! ends after [`COPY_BYTES_MAX`] bytes of the page.

use std::io::{self, Cursor, Read};

use page::Cleaner;

use crate::SearchError;

/// The maximum number of bytes of a page in its copy.
const COPY_BYTES_MAX: u64 = 16 << 20;
/// Bytes of the page that become one piece of the copy.
const PIECE_BYTES: usize = 32 << 10;

/// The copy of a page.
pub struct PageCopy {
    /// The content type of the copy, for an HTTP header.
    pub content_type: String,
    /// The memory used by the record.
    pub record_bytes: usize,
    page: Box<dyn Read + Send>,
    /// Set for markup; other content is sent as text.
    cleaner: Option<Cleaner>,
}

impl PageCopy {
    /// A copy made from the extracted text, for a page without a captured response.
    pub(crate) fn of_text(text: String) -> Self {
        Self {
            content_type: "text/plain; charset=utf-8".to_owned(),
            record_bytes: text.len(),
            page: Box::new(Cursor::new(text.into_bytes())),
            cleaner: None,
        }
    }

    /// A copy of the response body in `block`. Markup is cleaned; all other content is shown as text.
    pub(crate) fn of_response(
        content_type: &str,
        charset: &str,
        mut block: Vec<u8>,
    ) -> Result<Self, SearchError> {
        block.shrink_to_fit();
        let record_bytes = block.len();
        let page = Box::new(archive::body_reader(block)?.take(COPY_BYTES_MAX));
        let content_type = content_type.to_ascii_lowercase();
        let is_markup = content_type.is_empty() || content_type.contains("html");
        let is_xml = content_type.contains("xhtml");
        let (content_type, cleaner) = if is_markup {
            ("text/html; charset=utf-8".to_owned(), Some(Cleaner::new(charset, is_xml)))
        } else {
            (format!("text/plain; charset={charset}"), None)
        };
        Ok(Self { content_type, record_bytes, page, cleaner })
    }

    /// The next piece, which may be empty. Sets `is_over` at the end of the page.
    pub fn piece(&mut self, is_over: &mut bool) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; PIECE_BYTES];
        let read = self.page.read(&mut bytes)?;
        bytes.truncate(read);
        *is_over = read == 0;
        let Some(cleaner) = &mut self.cleaner else { return Ok(bytes) };
        let mut clean = String::new();
        cleaner.push(&bytes, *is_over, &mut clean);
        Ok(clean.into_bytes())
    }
}
