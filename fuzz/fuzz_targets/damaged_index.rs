//! Bytes as a script of damage to the files of an index.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| crivello_fuzz::damaged_index(bytes));
