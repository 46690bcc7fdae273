//! What people see: plain HTML that a screen reader, a keyboard and a small screen can use.
//!
//! **Invariant.** Whatever was crawled or typed is text on a page and never markup.

mod layout;
mod notices;
mod results;

pub(crate) use layout::{Form, ICON, STYLE, opensearch};
pub(crate) use notices::{cached, copies, failure, home, notice};
pub(crate) use results::{View, results};
