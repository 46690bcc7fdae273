//! Bytes as a script of damage to the files of an index.
//!
//! **Invariant.** Whatever the bytes, it ends, and without a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| crivello_fuzz::damaged_index(bytes));
