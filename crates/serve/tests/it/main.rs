//! Tests of the server over real sockets, on small collections.

mod pages;
mod site;
