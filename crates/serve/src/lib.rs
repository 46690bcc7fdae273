//! HTTP, the pages, snippets, cached copies, API.
