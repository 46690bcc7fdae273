//! Tests of the server over real sockets, on small collections.

mod limits;
mod connections;
mod copies;
mod pages;
mod site;
