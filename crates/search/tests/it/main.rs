//! Tests of the engine on small collections.

mod engine;
mod small;
