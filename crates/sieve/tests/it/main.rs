//! Tests of the public interface.

mod capacity;
mod conformance;
mod damage;
mod durability;
mod failure;
mod format;
mod reopen;
mod resident;
mod signature;
mod start;
