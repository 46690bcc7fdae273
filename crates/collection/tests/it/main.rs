//! Tests of a collection's folder.

mod layout;
