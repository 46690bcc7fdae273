//! Tests of the binary and of the rules no compiler checks.

mod tidy;
