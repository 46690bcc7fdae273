//! Tests of the batch stages on small collections.

mod damage;
mod fold;
mod ranks;
mod small;
mod stages;
mod updates;
