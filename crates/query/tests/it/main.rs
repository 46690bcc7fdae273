//! Tests of the public interface.

mod bm25;
mod config;
mod evaluation;
mod language;
mod operators;
mod search;
mod snippet;
mod top_k;
