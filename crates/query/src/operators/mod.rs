//! The operators: from lists of documents to a list of documents.
//!
//! Every operator is a [`DocIterator`](index::DocIterator) over [`DocIterator`](index::DocIterator)s,
//! so they nest without restriction; a tree of them moves its lists only as far as it is asked to. Each
//! asks for the lowest rung of the ladder that it needs: only [`Phrase`] wants positions.
//!
//! What lives here: which documents match, and for [`Or`] which of its lists did. What does not:
//! scores, terms, fields (`tree.rs` puts these on).
//!
//! **Invariant.** An operator's documents are those of the set operation in its first sentence, strictly
//! ascending, whatever the mixture of `next_doc` and `skip_to`; `tests/it/operators.rs` holds each against
//! sorted vectors.

mod all;
mod and;
mod and_not;
mod not;
mod or;
mod phrase;

pub use all::All;
pub use and::And;
pub use and_not::AndNot;
pub use not::Not;
pub use or::Or;
pub use phrase::Phrase;
