//! Notes of `crivello crawl` on passwords, files and names that it may take otherwise than meant, and on agents without
//! work. Where `init` makes a folder.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};

use crate::sandbox::Sandbox;
use crate::why_servers::Pages;

/// A server with one page for all paths but robots.txt.
fn serve() -> Pages {
    Pages::serve(&[("*", "200 OK\nContent-Type: text/html\n\n<p>hello")])
}

/// A collection `web` with these lines under `[crawl]`.
fn collection(lines: &str) -> Sandbox {
    let text = format!("[crawl]\ndelay_ms = 5\nip_delay_ms = 0\nretry_ms = 5\n{lines}");
    Sandbox::with_settings(text)
}

#[test]
fn unsent_passwords_are_reported_but_never_shown() {
    let server = serve();
    let port = server.port();
    let host = format!(
        "[[crawl.auth]]\nhost = \"LOCALHOST:{port}\"\nuser = \"me\"\npassword = \"word\"\n"
    );
    let sandbox = collection(&host);
    let seed = format!("http://you:hidden@localhost:{port}/");
    let ran = sandbox.run(&["crawl", "--dir", "web", &seed]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!ran.stderr.contains("hidden"), "{ran:#?}");
    let heard = server.take_requests().concat();
    assert!(!heard.to_lowercase().contains("authorization"), "{heard}");

    let sandbox = collection(&host.replace("LOCALHOST", "http://LOCALHOST"));
    let ran = sandbox.run(&["crawl", "--dir", "web", &format!("http://localhost:{port}/")]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let heard = server.take_requests();
    let told =
        |request: &String| request.to_lowercase().contains("\r\nauthorization: basic bwu6d29yza");
    assert!(heard.len() == 2 && heard.iter().all(told), "{heard:?}");
}

#[test]
fn configured_files_are_relative_to_the_configuration_folder() {
    let server = serve();
    let sandbox = collection("cookies_file = \"cookies.txt\"\n");
    let seed = server.url("/");
    let ran = sandbox.run(&["crawl", "--dir", "web", &seed]);
    assert!(ran.code == 2 && ran.stderr.contains("`cookies_file`"), "{ran:#?}");
    fs::write(sandbox.path("web/cookies.txt"), "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n")
        .expect("a file");
    fs::write(sandbox.path("here.txt"), "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t2\n").expect("a file");
    sandbox.done(&["crawl", "--dir", "web", &seed]);
    // On the command line it is the current folder that counts.
    let set = "crawl.cookies_file=here.txt";
    sandbox.done(&["crawl", "--dir", "web", "--set", set, &format!("{seed}2")]);
    let heard = server.take_requests().concat();
    assert!(
        heard.contains("\r\ncookie: a=1\r\n") && heard.contains("\r\ncookie: a=2\r\n"),
        "{heard}"
    );
    let ran = sandbox.run(&["crawl", "--dir", "web", "--set", "crawl.tls_roots=none.pem"]);
    assert!(ran.code == 2 && ran.stderr.contains("`tls_roots`"), "{ran:#?}");
}

/// An error of a file names its line, and the line of the configuration that names the file.
#[test]
fn errors_in_configured_files_name_both_places() {
    let sandbox = collection("cookies_file = \"cookies.txt\"\n");
    fs::write(sandbox.path("web/cookies.txt"), "# mine\na.test FALSE /\n").expect("a file");
    fs::write(
        sandbox.path("roots.pem"),
        "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
    )
    .expect("a file");
    let other = ["--set", "crawl.cookies_file=", "--set", "crawl.tls_roots=roots.pem"];
    for command in [&["config", "check"][..], &["crawl", "http://127.0.0.1:9/"]] {
        for (set, place) in [(&[][..], "cookies.txt:2: "), (&other, "roots.pem:1: ")] {
            let ran = sandbox.run(&[command, &["--dir", "web"], set].concat());
            assert!(ran.code == 2 && ran.stderr.contains(place), "{ran:#?}");
        }
    }
}

#[test]
fn host_names_are_normalised_like_urls() {
    let server = serve();
    let port = server.port();
    let sandbox = collection(
        "[crawl.resolve]\n\"Good.Test\" = \"127.0.0.1\"\n\"bücher.test\" = \"127.0.0.1\"\n",
    );
    let seeds = ["good.test", "bücher.test"].map(|host| format!("http://{host}:{port}/"));
    let report = sandbox.json(&["crawl", "--dir", "web", &seeds[0], &seeds[1]]);
    assert_eq!(report["pages"], 2, "{report}");
    let sandbox = collection("[crawl.resolve]\n\"good.test:80\" = \"127.0.0.1\"\n");
    let ran = sandbox.run(&["config", "check", "--dir", "web"]);
    assert!(ran.code == 2 && ran.stderr.contains("`resolve`"), "{ran:#?}");
}

#[test]
fn an_agent_without_urls_of_its_own_succeeds() {
    let server = serve();
    let seed = server.url("/");
    let codes = [0, 1].map(|agent| {
        let sandbox = collection(&format!("agents = 2\nagent = {agent}\n"));
        let ran = sandbox.run(&["crawl", "--dir", "web", &seed]);
        let is_told = ran.stderr.contains("all known URLs belong to other agents");
        (ran.code, is_told)
    });
    assert!(codes.contains(&(0, true)) && codes.contains(&(0, false)), "{codes:?}");
    assert_eq!(server.take_requests().len(), 2);
}

#[test]
fn init_creates_one_named_folder_and_refuses_two() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["init", "http://a.example/"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(!sandbox.path("http:").exists());
    sandbox.done(&["init", "--dir", "one"]);
    sandbox.done(&["init", "two"]);
    assert!(
        sandbox.path("one/crivello.toml").exists() && sandbox.path("two/crivello.toml").exists()
    );
    let ran = sandbox.run(&["init", "three", "--dir", "four"]);
    assert_eq!(ran.code, 2, "{ran:#?}");
    assert!(!sandbox.path("three").exists() && !sandbox.path("four").exists());
    assert_eq!(sandbox.run(&["init"]).code, 2);
}

/// Where nobody watches, a pause that was forgotten would be waited for in silence.
#[test]
fn a_crawl_that_starts_paused_reports_it() {
    let server = serve();
    let sandbox = collection("");
    fs::create_dir(sandbox.path("web/frontier")).expect("a folder");
    fs::write(sandbox.path("web/frontier/pause"), "").expect("a file");
    let seed = server.url("/");
    let mut running = sandbox.start(&["crawl", "--dir", "web", &seed]);
    let mut line = String::new();
    let err = running.child.stderr.take().expect("piped");
    let mut err = BufReader::new(err);
    err.read_line(&mut line).expect("a line");
    assert!(line.contains("frontier/pause") && line.contains("until it is removed"), "{line}");
    fs::remove_file(sandbox.path("web/frontier/pause")).expect("it is there");
    err.read_to_string(&mut line).expect("text");
    assert!(running.child.wait().expect("it ends").success(), "{line}");
}

#[test]
fn incomplete_blocks_and_irregular_files_are_refused() {
    let sandbox = collection("[[crawl.auth]]\nhost = \"a.test\"\npassword = \"word\"\n");
    let ran = sandbox.run(&["config", "check", "--dir", "web"]);
    assert!(ran.code == 2 && ran.stderr.contains("has no `user`"), "{ran:#?}");
    assert!(!ran.stderr.contains("\"word\""), "{ran:#?}");
    let sandbox = collection("");
    for key in ["tls_roots", "cookies_file"] {
        let set = format!("crawl.{key}=/dev/zero");
        let ran = sandbox.run(&["config", "check", "--dir", "web", "--set", &set]);
        let words = [key, "is no regular file"];
        assert!(words.iter().all(|word| ran.stderr.contains(word)) && ran.code == 2, "{ran:#?}");
    }
}
