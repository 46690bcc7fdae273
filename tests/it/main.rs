//! Tests of the binary and of the rules no compiler checks.

mod bad_input;
mod browser;
mod captures;
mod ciff;
mod closing;
mod codes;
mod configuration;
mod crawl_flags;
mod crawl_notes;
mod doctor;
mod errors;
mod fates;
mod guide;
mod import;
mod interrupt;
mod lists;
mod sandbox;
mod spelling;
mod telling;
mod tidy;
mod traps;
mod up;
mod webdriver;
mod whole_way;
mod why;
mod words;
