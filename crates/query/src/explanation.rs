//! A score that accounts for itself.
//!
//! What does not live here: any formula; whoever computes a number explains it (`bm25.rs`, `tree.rs`).
//!
//! **Invariant.** The value of a node that has parts is exactly their sum, added from the left.

use std::fmt::{Display, Formatter};

use serde::Serialize;

/// A number and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// What the value is.
    pub what: String,
    /// The value.
    pub value: f64,
    /// What it is the sum of; empty if it is not a sum.
    pub parts: Vec<Explanation>,
}

impl Explanation {
    pub(crate) fn sum(what: String, parts: Vec<Explanation>) -> Explanation {
        let value = parts.iter().fold(0.0, |sum, part| sum + part.value);
        Explanation { what, value, parts }
    }

    fn print(&self, f: &mut Formatter<'_>, depth: usize) -> std::fmt::Result {
        let indent = 2 * depth;
        writeln!(f, "{:indent$}{:.6}  {}", "", self.value, self.what)?;
        self.parts.iter().try_for_each(|part| part.print(f, depth + 1))
    }
}

/// A line a node, parts indented below their sum.
impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.print(f, 0)
    }
}
