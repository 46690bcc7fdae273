//! A real browser, driven through `chromedriver` by the `WebDriver` protocol.
//!
//! **Invariant.** Browser and driver end with the value, and the browser talks to loopback only.
//!
//! Reference: W3C, "`WebDriver`", 2018.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// The key of an element in the protocol.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A browser with one window.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

/// An element of the page.
pub(crate) struct Element<'a> {
    browser: &'a Browser,
    id: String,
}

impl Browser {
    /// Starts a headless browser, with or without JavaScript.
    pub(crate) fn start(javascript: bool) -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let lines = BufReader::new(driver.stdout.take().expect("piped")).lines();
        let port = lines
            .map_while(Result::ok)
            .find_map(|line| {
                line.rsplit_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
            })
            .expect("chromedriver says its port");
        let profile = tempfile::tempdir().expect("a temporary folder");
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--window-size=1000,800",
        ];
        let mut arguments: Vec<String> = arguments.map(str::to_owned).to_vec();
        arguments.push(format!("--user-data-dir={}", profile.path().display()));
        let setting = if javascript { 1 } else { 2 };
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": {
                "binary": "/usr/bin/chromium",
                "args": arguments,
                "prefs": { "profile.managed_default_content_settings.javascript": setting },
            },
        }}});
        let mut browser = Self { driver, port, session: String::new(), _profile: profile };
        let answer = browser.call("POST", "/session", &capabilities);
        answer["sessionId"].as_str().expect("a session").clone_into(&mut browser.session);
        browser
    }

    pub(crate) fn go(&self, url: &str) {
        self.ask("POST", "url", &json!({ "url": url }));
    }

    pub(crate) fn title(&self) -> String {
        self.ask("GET", "title", &Value::Null).as_str().expect("a title").to_owned()
    }

    pub(crate) fn url(&self) -> String {
        self.ask("GET", "url", &Value::Null).as_str().expect("a URL").to_owned()
    }

    /// Waits until the address of the page holds `part`.
    pub(crate) fn arrive(&self, part: &str) {
        let arrived = (0..100).any(|_| {
            sleep(Duration::from_millis(50));
            self.url().contains(part)
        });
        assert!(arrived, "{} has no {part}", self.url());
    }

    /// The first element that a CSS selector matches.
    pub(crate) fn find(&self, selector: &str) -> Element<'_> {
        let mut all = self.find_all(selector);
        assert!(!all.is_empty(), "nothing matches {selector} on {}", self.url());
        all.remove(0)
    }

    pub(crate) fn find_all(&self, selector: &str) -> Vec<Element<'_>> {
        let query = json!({ "using": "css selector", "value": selector });
        let found = self.ask("POST", "elements", &query);
        let ids = found.as_array().expect("a list").iter();
        let ids = ids.map(|item| item[ELEMENT].as_str().expect("an element").to_owned());
        ids.map(|id| Element { browser: self, id }).collect()
    }

    /// Enters a frame of the page; `None` returns to the page.
    pub(crate) fn enter(&self, frame: Option<&Element<'_>>) {
        let id = frame.map_or(Value::Null, |frame| json!({ ELEMENT: frame.id }));
        self.ask("POST", "frame", &json!({ "id": id }));
    }

    /// Returns the browser's errors since the last call.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let entries = self.ask("POST", "se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().expect("a list").iter();
        entries.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    fn ask(&self, method: &str, what: &str, body: &Value) -> Value {
        self.call(method, &format!("/session/{}/{what}", self.session), body)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the driver");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a timeout");
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .expect("sent");
        let mut reader = BufReader::new(stream);
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).expect("a head") > 2 {
            let lower = line.to_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            line.clear();
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes).expect("a body");
        let mut answer: Value = serde_json::from_slice(&bytes).expect("JSON");
        let value = answer["value"].take();
        assert!(value["error"].is_null(), "{method} {path}: {value}");
        value
    }
}

impl Element<'_> {
    pub(crate) fn text(&self) -> String {
        self.ask("GET", "text", &Value::Null).as_str().expect("text").to_owned()
    }

    /// Types; `\u{E007}` is Enter.
    pub(crate) fn write(&self, text: &str) {
        self.ask("POST", "value", &json!({ "text": text }));
    }

    /// Empties an input.
    pub(crate) fn clear(&self) {
        self.ask("POST", "clear", &json!({}));
    }

    pub(crate) fn click(&self) {
        self.ask("POST", "click", &json!({}));
    }

    fn ask(&self, method: &str, what: &str, body: &Value) -> Value {
        self.browser.ask(method, &format!("element/{}/{what}", self.id), body)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.call("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
