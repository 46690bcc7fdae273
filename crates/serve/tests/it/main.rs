//! Tests of the server over real sockets, on small collections.

mod connections;
mod copies;
mod limits;
mod pages;
mod site;
