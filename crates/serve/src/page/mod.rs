//! The HTML pages, usable with a screen reader, a keyboard or a small screen.
//!
//! **Invariant.** Crawled or typed content appears on a page as text, never as markup.

mod layout;
mod notices;
mod results;

pub(crate) use layout::{Form, ICON, STYLE, opensearch};
pub(crate) use notices::{cached, copies, failure, home, notice};
pub(crate) use results::{View, results};
