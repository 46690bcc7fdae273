//! A deterministic web on loopback: the built-in sample, load and fault tests.
