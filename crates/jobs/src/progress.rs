//! Progress of a stage.
//!
//! **Invariant.** Reporting progress does not change the output of a stage.

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

/// A callback that gets the stage, the work done and the total work (0 if unknown).
pub type Progress<'a> = &'a (dyn Fn(Stage, u64, u64) + Sync);
