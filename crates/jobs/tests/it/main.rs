//! Tests of the batch stages on small collections.

mod collection;
mod damage;
mod fold;
mod ranks;
mod stages;
mod updates;
