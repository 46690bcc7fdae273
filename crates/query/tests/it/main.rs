//! Tests of the public interface.

mod bm25;
mod completion;
mod config;
mod damage;
mod evaluation;
mod impact_tables;
mod language;
mod operators;
mod prior;
mod proximity;
mod pruning;
mod replay;
mod search;
mod snippet;
mod suggestion;
mod tf_idf;
mod top_k;
