//! Tests of the batch stages on small collections.

mod collection;
mod damage;
mod stages;
mod updates;
