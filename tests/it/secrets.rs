//! Passwords in the configuration: who can read the file, and what is shown of it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::sandbox::Sandbox;

const SECRETS: &str = "[crawl]\nheaders = { X-Key = \"swordfish\" }\n[[crawl.auth]]\nhost = \"a.test\"\nuser = \"me\"\n\
    password = \"swordfish\"\nheaders = { Cookie = \"swordfish\" }\n";

pub(crate) fn mode(file: &Path) -> u32 {
    fs::metadata(file).expect("a file").permissions().mode() & 0o777
}

#[test]
fn only_its_owner_can_read_a_new_configuration() {
    let sandbox = Sandbox::with_collection();
    assert_eq!(mode(&sandbox.path("web/crivello.toml")), 0o600);
}

#[test]
fn a_configuration_is_shown_without_its_secrets() {
    let sandbox = Sandbox::with_collection();
    fs::write(sandbox.path("web/crivello.toml"), SECRETS).expect("a file");
    for arguments in
        [&["config", "show", "--dir", "web"][..], &["config", "show", "--dir", "web", "--json"]]
    {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.code, 0, "{ran:#?}");
        assert!(!ran.stdout.contains("swordfish") && !ran.stderr.contains("swordfish"), "{ran:#?}");
        for shown in ["X-Key", "a.test", "me", "Cookie", "…"] {
            assert!(ran.stdout.contains(shown), "{shown}: {ran:#?}");
        }
    }
}

#[test]
fn secrets_readable_by_others_cause_a_warning() {
    let sandbox = Sandbox::with_collection();
    let file = sandbox.path("web/crivello.toml");
    let check = |text: &str, mode: u32, is_warned: bool| {
        fs::write(&file, text).expect("a file");
        fs::set_permissions(&file, Permissions::from_mode(mode)).expect("its owner");
        let ran = sandbox.run(&["config", "check", "--dir", "web"]);
        assert_eq!(ran.code, 0, "{ran:#?}");
        assert_eq!(ran.stderr.contains("chmod 600"), is_warned, "{mode:o}: {ran:#?}");
    };
    check(SECRETS, 0o644, true);
    check(SECRETS, 0o640, true);
    check(SECRETS, 0o600, false);
    check("", 0o644, false);
    let auth = r#"crawl.auth=[{host="a.test",user="u",password="p"}]"#;
    let ran = sandbox.run(&["config", "check", "--dir", "web", "--set", auth]);
    assert!(ran.code == 0 && !ran.stderr.contains("chmod"), "{ran:#?}");
    fs::write(sandbox.path("web/cookies.txt"), "a.test\tFALSE\t/\tTRUE\t0\tname\tvalue\n")
        .expect("a file");
    check("[crawl]\ncookies_file = \"cookies.txt\"\n", 0o644, true);
}
