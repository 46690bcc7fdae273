//! Plain text: every line is a block, and the first line is the title.
//!
//! **Invariant.** No character counts as markup. Every visible character is in the text, up to the limit.

use crate::flow::{Flow, Gap};
use crate::{Limits, Page};

/// Fills `page` from plain text.
pub(crate) fn read(page: &mut Page, text: &str, limits: &Limits) {
    let mut flow = Flow::new(limits.text_bytes_max);
    for line in text.split(['\n', '\r']) {
        flow.separate(Gap::Line);
        flow.push(line);
    }
    page.text_is_cut = flow.is_cut();
    page.text = flow.finish();
    let first = page.text.lines().next().unwrap_or_default();
    page.title = first[..first.floor_char_boundary(limits.title_bytes_max)].to_owned();
}
