//! Lexicon, postings, positions, document table, segments; the cursor traits.
