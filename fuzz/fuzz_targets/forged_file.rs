//! Bytes as one file of an index, with sums that match.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| crivello_fuzz::forged_file(bytes));
