//! Tests of the binary and of the rules no compiler checks.

mod bad_input;
mod browser;
mod codes;
mod crawl_flags;
mod guide;
mod interrupt;
mod sandbox;
mod spelling;
mod tidy;
mod traps;
mod up;
mod webdriver;
mod whole_way;
mod why;
