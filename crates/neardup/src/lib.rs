//! Fingerprints of a text and how to find the close ones.
