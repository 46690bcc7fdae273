//! Tests of the public interface.

mod cluster;
mod golden;
mod realistic;
mod tables;
