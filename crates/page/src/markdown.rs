//! Markdown: turned into HTML, which it may contain anyway, and read as such.
//!
//! What does not live here: any reading of its own. **Invariant.** A Markdown page keeps to the limits
//! of an HTML page, since it is one.
//!
//! Reference: <https://spec.commonmark.org/>, with the tables and the strikethrough of GitHub.

use pulldown_cmark::{Options, Parser};

use crate::Page;
use crate::html::{self, Syntax};
use crate::parse::Reading;

/// Fills `page` with what is wanted of a Markdown text; returns the language that HTML in it declares.
pub(crate) fn read(page: &mut Page, text: &str, reading: &Reading<'_>) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut markup = String::with_capacity(text.len() + text.len() / 4);
    pulldown_cmark::html::push_html(&mut markup, Parser::new_ext(text, options));
    let declared = html::read(page, &markup, Syntax::Html, reading);
    if page.title.is_empty() {
        page.title = page.headings.first().cloned().unwrap_or_default();
    }
    declared
}
