//! Cookies of the user, from a file in Netscape's format.
//!
//! What lives here: reading the file, and choosing the cookies of a request. What does not: cookies that servers
//! set; a crawl keeps none.
//!
//! **Invariant.** A cookie is sent only to its host and path, over TLS only if it is secure, until it expires. A
//! cookie for a domain under which strangers have hosts is never sent.
//!
//! Reference: A. Barth, RFC 6265 §5.1.3, §5.1.4, §5.3 and §5.4, 2011.

use std::cmp::Reverse;
use std::net::IpAddr;
use std::path::Path;

use page::Url;

use super::config_files::read_config_file;
use super::credentials::secret;
use crate::address::spelt_host;
use crate::error::CrawlError;
use crate::site::Site;

#[derive(Debug)]
pub(super) struct Cookie {
    domain: String,
    subdomains: bool,
    /// Whether anybody can have a host under its domain: then it is never sent.
    is_of_strangers: bool,
    path: String,
    secure: bool,
    /// 0 for never.
    expires_s: i64,
    pair: String,
}

impl Cookie {
    /// Returns whether it is sent with a request.
    pub(super) fn matches(&self, site: &Site, path: &str, now_s: i64) -> bool {
        let host = site.host();
        let above = host.strip_suffix(self.domain.as_str());
        let is_host = match above {
            Some("") => true,
            Some(above) => {
                self.subdomains && above.ends_with('.') && host.parse::<IpAddr>().is_err()
            }
            None => false,
        };
        let path = path.split('?').next().unwrap_or_default();
        let is_path = path.strip_prefix(self.path.as_str()).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with('/') || self.path.ends_with('/')
        });
        let is_alive = self.expires_s == 0 || now_s < self.expires_s;
        let is_safe = !self.is_of_strangers && (site.is_tls() || !self.secure);
        is_host && is_path && is_alive && is_safe
    }

    /// Returns name and value, as they are sent.
    pub(super) fn pair(&self) -> &str {
        &self.pair
    }

    /// Returns why it is never sent, if that is so.
    pub(super) fn remark(&self) -> Option<String> {
        self.is_of_strangers.then(|| {
            format!(
                "a cookie for all of {} is not sent: anybody may have a host there (`cookies_file`)",
                self.domain
            )
        })
    }

    /// Parses a line of Netscape's format: domain, whether subdomains are included, path, whether it is secure,
    /// expiry, name and value, separated by tabs. An error never has the value.
    fn parse(line: &str) -> Result<Cookie, String> {
        let fields: Vec<&str> = line.split('\t').collect();
        let &[domain, subdomains, path, secure, expires, name, value] = fields.as_slice() else {
            let count = fields.len();
            return Err(format!(
                "it has {count} of the seven fields, which must have tabs between them"
            ));
        };
        let flag = |which: &str, text: &str| match text.to_ascii_uppercase().as_str() {
            "TRUE" => Ok(true),
            "FALSE" => Ok(false),
            _ => Err(format!("its {which} field must be TRUE or FALSE")),
        };
        let spelt = spelt_host(domain.strip_prefix('.').unwrap_or(domain));
        let domain = spelt.ok_or_else(|| format!("its first field, {domain:?}, is no host"))?;
        let subdomains = flag("second", subdomains)?;
        if !path.starts_with('/') {
            return Err("its third field must be a path, which begins with a slash".to_owned());
        }
        let secure = flag("fourth", secure)?;
        // Some tools write fractions of seconds.
        let (whole, part) = expires.split_once('.').unwrap_or((expires, ""));
        let expires_s =
            whole.parse().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit()));
        let expires_s = expires_s
            .ok_or("its fifth field must be a number, of seconds since 1970, or 0 for never")?;
        if name.contains([';', '=']) || value.contains(';') {
            return Err("its name or value holds what separates cookies from each other".to_owned());
        }
        let pair = format!("{name}={value}");
        if secret(&pair).is_none() {
            return Err("its name or value holds what no header may".to_owned());
        }
        Ok(Cookie {
            is_of_strangers: subdomains && is_shared(&domain),
            domain,
            subdomains,
            path: path.to_owned(),
            secure,
            expires_s,
            pair,
        })
    }
}

/// Returns whether strangers can have hosts under a name, as under `co.uk`.
pub(super) fn is_shared(name: &str) -> bool {
    let url = format!("http://{name}/");
    let is_address = name.parse::<IpAddr>().is_ok();
    !is_address && Url::parse(&url).is_ok_and(|url| page::registered_domain(&url).is_none())
}

/// Reads the cookies of a file, those with longer paths first.
pub(super) fn read_cookies(path: &Path) -> Result<Vec<Cookie>, CrawlError> {
    let wrong = |why: String| CrawlError::Config { key: "cookies_file", why };
    let bytes = read_config_file(path).map_err(wrong)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| wrong(format!("{} is no text in UTF-8", path.display())))?;
    let mut cookies = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.strip_prefix("#HttpOnly_").unwrap_or(line);
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let cookie = Cookie::parse(line)
            .map_err(|why| wrong(format!("{}:{}: no cookie: {why}", path.display(), number + 1)))?;
        cookies.push(cookie);
    }
    cookies.sort_by_key(|cookie| Reverse(cookie.path.len()));
    Ok(cookies)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn cookies_are_sent_only_to_matching_urls() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("cookies.txt");
        let lines = "\u{feff}# Netscape HTTP Cookie File\n\n\
            a.test\tFALSE\t/\tFALSE\t0\tone\t1\n\
            .a.test\tTRUE\t/shop\tFALSE\t0\ttwo\t2\n\
            #HttpOnly_a.test\tFALSE\t/\tTRUE\t0\tsafe\t3\n\
            a.test\tFALSE\t/\tFALSE\t999\told\t4\n\
            a.test\tFALSE\t/\tFALSE\t1000\tover\t4\n\
            A.test\tFALSE\t/\tFALSE\t1001.75\tnew\t5\n\
            .test\tTRUE\t/\tFALSE\t0\twide\t6\n\
            .co.uk\tTRUE\t/\tFALSE\t0\twide\t7\n\
            .10.0.0.1\tTRUE\t/\tFALSE\t0\tip\t8\n";
        fs::write(&path, lines).expect("room for a file");
        let all = read_cookies(&path).expect("it is whole");
        for (url, wanted) in [
            ("http://a.test/", "one=1; new=5"),
            ("https://a.test/", "one=1; safe=3; new=5"),
            ("http://a.test/shop?x=/", "two=2; one=1; new=5"),
            ("http://a.test/shop/x", "two=2; one=1; new=5"),
            ("http://a.test/shopping", "one=1; new=5"),
            ("http://b.a.test/shop", "two=2"),
            ("http://ba.test/shop", ""),
            ("http://a.test.evil/", ""),
            ("http://test/", ""),
            ("http://co.uk/", ""),
            ("http://shop.co.uk/", ""),
            ("http://10.0.0.1/", "ip=8"),
        ] {
            let (site, path) = Site::split(url).expect("a URL");
            let site = Site::parse(site).expect("a site");
            let sent = all.iter().filter(|cookie| cookie.matches(&site, path, 1_000));
            let sent: Vec<&str> = sent.map(Cookie::pair).collect();
            assert_eq!(sent.join("; "), wanted, "{url}");
        }
        assert_eq!(all.iter().filter_map(Cookie::remark).count(), 2);
        for (line, why) in [
            ("a.test\tFALSE\t/", "3 of the seven fields"),
            ("a.test FALSE / FALSE 0 a secret", "tabs between them"),
            ("a b\tFALSE\t/\tFALSE\t0\ta\tsecret", "\"a b\", is no host"),
            ("a.test\tno\t/\tFALSE\t0\ta\tsecret", "second field"),
            ("a.test\tFALSE\tx\tFALSE\t0\ta\tsecret", "third field"),
            ("a.test\tFALSE\t/\t0\t0\ta\tsecret", "fourth field"),
            ("a.test\tFALSE\t/\tFALSE\tnever\ta\tsecret", "fifth field"),
            ("a.test\tFALSE\t/\tFALSE\t0.x\ta\tsecret", "fifth field"),
            ("a.test\tFALSE\t/\tFALSE\t0\ta\tsecret\u{1}", "no header"),
            ("a.test\tFALSE\t/\tFALSE\t0\ta\tb; evil=secret", "separates cookies"),
            ("a.test\tFALSE\t/\tFALSE\t0\ta=b; c\tsecret", "separates cookies"),
        ] {
            fs::write(&path, format!("# ours\n{line}\n")).expect("room for a file");
            let error = read_cookies(&path).expect_err(line).to_string();
            let is_told = error.contains("cookies.txt:2: ") && error.contains(why);
            assert!(is_told && !error.contains("secret"), "{line}: {error}");
        }
    }

    /// Any bytes are cookies or an error that names the file; no value is in a message.
    #[test]
    fn any_bytes_parse_as_cookies_or_are_refused() {
        const PARTS: [&[u8]; 18] = [
            b"a.test",
            b".a.test",
            b"\t",
            b"\t",
            b"\t",
            b"TRUE",
            b"FALSE",
            b"/",
            b"0",
            b"-9223372036854775809",
            b"1e9",
            b"secret",
            b"#HttpOnly_",
            b"#",
            b"\r\n",
            b"\n",
            b"\xef\xbb\xbf",
            b"\xff\0",
        ];
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("cookies.txt");
        let (mut seed, mut read, mut refused) = (7_u64, 0, 0);
        let mut below = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(seed >> 33).expect("small") % bound
        };
        for _ in 0..800 {
            let mut bytes = b"a.test\tFALSE\t/\tFALSE\t0\tname\tsecret\n".repeat(below(3));
            for _ in 0..below(4) {
                let at = below(bytes.len() + 1);
                let end = (at + below(3)).min(bytes.len());
                bytes.splice(at..end, PARTS[below(PARTS.len())].iter().copied());
            }
            fs::write(&path, &bytes).expect("room for a file");
            match read_cookies(&path) {
                Ok(cookies) => read += cookies.len(),
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains("cookies.txt"), "{error}");
                    assert!(!error.contains("secret\n") && !error.contains("=secret"), "{error}");
                    refused += 1;
                }
            }
        }
        assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
    }
}
