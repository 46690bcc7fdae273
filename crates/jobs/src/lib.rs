//! Batch pipelines: archive to pages, graph, ranks, clusters, index.
