//! Query language, operators, scoring, top k.
