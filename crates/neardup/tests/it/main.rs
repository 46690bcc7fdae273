//! Tests of the public interface.

mod golden;
mod realistic;
mod similarity;
mod tables;
