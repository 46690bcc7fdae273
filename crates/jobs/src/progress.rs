//! How a stage tells how far it is.
//!
//! **Invariant.** Telling changes nothing of what a stage does.

use std::fmt;

/// A stage of the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Archive to pages.
    Extract,
    /// Pages to link graph.
    Link,
    /// Link graph to ranks.
    Rank,
    /// Pages to clusters of near-duplicates.
    Fold,
    /// Pages to index.
    Index,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Extract => "reading",
            Self::Link => "linking",
            Self::Rank => "ranking",
            Self::Fold => "folding",
            Self::Index => "indexing",
        })
    }
}

/// Called with the stage, what is done and what there is to do (0 where that is not known).
pub type Progress<'a> = &'a (dyn Fn(Stage, u64, u64) + Sync);
