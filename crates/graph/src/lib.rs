//! Compressed link graph, centralities, spectral ranks.
