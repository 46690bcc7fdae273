//! Tests of the public interface.

mod client;
mod http;
mod judge;
mod walk;
mod walker;
mod web;
