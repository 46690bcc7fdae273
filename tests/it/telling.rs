//! That `crawl`, `status` and `why` tell the same, and say why: of flags that the last run had, of ports, of hosts that
//! cannot be reached, of what is known already, of a crawl that runs.

use std::fs;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use crate::fates::{HTML, Pages, SETTINGS, check, crawl, page, why};
use crate::sandbox::Sandbox;

/// A server without robots.txt that has these pages.
fn site(pages: &[(&str, String)]) -> Pages {
    let pages: Vec<(&str, &str)> =
        pages.iter().map(|(path, text)| (*path, text.as_str())).collect();
    Pages::serve(&pages)
}

/// Scope goes by host and port.
#[test]
fn another_port_of_the_host_of_a_seed_is_told_as_that() {
    let other = "http://127.0.0.1:9/x";
    let server = site(&[("/", page(&[other, "http://127.0.0.2:9/y"]))]);
    let sandbox = Sandbox::new();
    crawl(&sandbox, "", &[&server.url("/")]);
    let port = server.url("").rsplit(':').next().expect("a port").to_owned();
    let said = format!(
        "refused: a seed has the host 127.0.0.1, but at port {port}, and this is at port 9"
    );
    check(&sandbox, other, &said);
    check(&sandbox, "http://127.0.0.2:9/y", "refused: 127.0.0.2 is not the host of a seed");
}
