//! The operators: from lists of documents to a list of documents.
//!
//! Every operator is a [`DocIterator`](index::DocIterator) over [`DocIterator`](index::DocIterator)s,
//! so they nest without restriction; a tree of them moves its lists only as far as it is asked to. Each
//! asks for the lowest rung of the ladder that it needs: only [`Phrase`] and windows want positions. These
//! are [`Intervals`], a rung of its own above it: [`Adjacent`], [`Either`], [`Unordered`] and [`Ordered`] nest in one
//! another, and [`Occurring`] makes of them the documents in which they are.
//!
//! What lives here: which documents match, and for [`Or`] which of its lists did. What does not:
//! scores, terms, fields (`tree.rs` puts these on).
//!
//! **Invariant.** An operator's documents are those of the set operation in its first sentence, strictly
//! ascending, whatever the mixture of `next_doc` and `skip_to`; `tests/it/operators.rs` holds each against
//! sorted vectors, alone and in one another.

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
