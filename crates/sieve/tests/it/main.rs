//! Tests of the public interface.

mod capacity;
mod conformance;
mod damage;
mod durability;
mod failure;
mod format;
mod signature;
mod start;
