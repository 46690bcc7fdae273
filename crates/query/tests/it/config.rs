//! What a configuration file may say, against what is said of it.

use query::Config;

#[test]
fn nothing_said_is_the_default() {
    let config: Config = toml::from_str("").expect("empty is complete");
    assert_eq!(config, Config::default());
}

#[test]
fn what_is_said_replaces_the_default_of_that_key_only() {
    let config: Config = toml::from_str("k1 = 0.9\n[weights]\ntitle = 7").expect("valid");
    let mut expected = Config { k1: 0.9, ..Config::default() };
    expected.weights.title = 7.0;
    assert_eq!(config, expected);
}

#[test]
fn what_is_written_is_read() {
    let text = toml::to_string(&Config::default()).expect("plain numbers");
    assert_eq!(toml::from_str::<Config>(&text).expect("own output"), Config::default());
}

#[test]
fn wrong_keys_and_values_are_refused_by_name() {
    let table = [
        ("k2 = 1", "k2"),
        ("b = 1.5", "from 0 to 1"),
        ("b = nan", "from 0 to 1"),
        ("k1 = -0.1", "from 0 to 1000000"),
        ("k1 = 1e300", "from 0 to 1000000"),
        ("rank_weight = inf", "from 0 to 1000000"),
        ("[weights]\nbody = -1", "from 0 to 1000000"),
        ("[weights]\ntext = 1", "text"),
    ];
    for (text, expected) in table {
        let message = toml::from_str::<Config>(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }
}
