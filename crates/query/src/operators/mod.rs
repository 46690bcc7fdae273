//! Operators: from lists of documents to a list of documents.
//!
//! Every operator is a [`DocIterator`](index::DocIterator) over [`DocIterator`](index::DocIterator)s, so they nest
//! without restriction. A tree of operators moves its lists only as far as required. Each operator requires the
//! least trait that it needs: only [`Phrase`] and windows need positions. Windows use [`Intervals`], a trait above
//! it: [`Adjacent`], [`Either`], [`Unordered`] and [`Ordered`] nest in one another, and [`Occurring`] turns them
//! into lists of documents.
//!
//! What lives here: matching documents and, for [`Or`], the matching lists. What does not: scores, terms and fields
//! (`tree.rs`).
//!
//! **Invariant.** The documents of an operator are those of the set operation in its first sentence. They ascend
//! strictly, for any mixture of `next_doc` and `skip_to`. `tests/it/operators.rs` compares each operator with sorted
//! vectors, alone and nested.

mod adjacent;
mod all;
mod and;
mod and_not;
mod either;
mod forms;
mod intervals;
mod not;
mod or;
mod ordered;
mod phrase;
mod unordered;

pub use adjacent::Adjacent;
pub use all::All;
pub use and::And;
pub use and_not::AndNot;
pub use either::Either;
pub use forms::Forms;
pub use intervals::{Interval, Intervals, Occurring};
pub use not::Not;
pub use or::Or;
pub use ordered::Ordered;
pub use phrase::Phrase;
pub use unordered::Unordered;
