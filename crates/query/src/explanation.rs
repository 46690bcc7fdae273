//! The explanation of a score as a sum of parts.
//!
//! Elsewhere: formulas. Each module explains the numbers that it computes (`bm25.rs`, `tree.rs`).
//!
//! **Invariant.** The value of a node with parts is exactly their sum, added from the left.

use std::fmt::{Display, Formatter};

use serde::Serialize;

/// A number and its origin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// A description of the value.
    pub what: String,
    /// The value.
    pub value: f64,
    /// The summands. Empty if the value is not a sum.
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

/// One line per node, with parts indented below their sum.
impl Display for Explanation {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.print(f, 0)
    }
}
