//! Bytes as one file of an index, with sums that match.
//!
//! **Invariant.** Whatever the bytes, it ends, and without a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| crivello_fuzz::forged_file(bytes));
