//! Tests of the server over real sockets, on small collections.

mod limits;
mod pages;
mod site;
