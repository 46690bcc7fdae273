//! Valid and invalid configuration files.

use query::Config;

#[test]
fn an_empty_config_is_the_default() {
    let config: Config = toml::from_str("").expect("empty is complete");
    assert_eq!(config, Config::default());
}

#[test]
fn a_given_key_replaces_only_its_own_default() {
    let config: Config = toml::from_str("k1 = 0.9\n[weights]\ntitle = 7").expect("valid");
    let mut expected = Config { k1: 0.9, ..Config::default() };
    expected.weights.title = 7.0;
    assert_eq!(config, expected);
}

#[test]
fn a_written_config_is_read_back() {
    let text = toml::to_string(&Config::default()).expect("plain numbers");
    assert_eq!(toml::from_str::<Config>(&text).expect("own output"), Config::default());
}

#[test]
fn a_half_life_is_written_in_the_longest_unit_that_fits() {
    for (text, shown) in
        [("1h", "1h"), ("24h", "1d"), ("36h", "36h"), ("30d", "30d"), ("14d", "2w"), ("365d", "1y")]
    {
        let read: Config =
            toml::from_str(&format!("freshness_half_life = '{text}'")).expect("valid");
        assert_eq!(read.freshness_half_life.to_string(), shown);
        assert_eq!(
            toml::from_str::<Config>(&toml::to_string(&read).expect("text")).expect("own"),
            read
        );
    }
}

#[test]
fn wrong_keys_and_values_are_refused_by_name() {
    let table = [
        ("k2 = 1", "k2"),
        ("b = 1.5", "from 0 to 1"),
        ("b = nan", "from 0 to 1"),
        ("k1 = -0.1", "from 0 to 1000000"),
        ("k1 = 1e300", "from 0 to 1000000"),
        ("rank_weight = 0.1", "rank_weight"),
        ("ranks = 0.1", "a map"),
        ("ranks = { pagerank = inf }", "from 0 to 1000000"),
        ("ranks = { mine = -1 }", "from 0 to 1000000"),
        ("topic_weight = -1", "from 0 to 1000000"),
        ("proximity_weight = -1", "from 0 to 1000000"),
        ("proximity_weight = inf", "from 0 to 1000000"),
        ("model = 'bm25'", "expected `bm25f` or `tf-idf`"),
        ("freshness_weight = nan", "from 0 to 1000000"),
        ("freshness_half_life = 30", "a string"),
        ("freshness_half_life = ''", "such as `30d`"),
        ("freshness_half_life = 'd'", "such as `30d`"),
        ("freshness_half_life = '0d'", "such as `30d`"),
        ("freshness_half_life = '+3d'", "such as `30d`"),
        ("freshness_half_life = '30'", "such as `30d`"),
        ("freshness_half_life = '30 é'", "such as `30d`"),
        ("freshness_half_life = '101y'", "such as `30d`"),
        ("freshness_half_life = '99999999999999999999d'", "such as `30d`"),
        ("[weights]\nbody = -1", "from 0 to 1000000"),
        ("[weights]\ntext = 1", "text"),
    ];
    for (text, expected) in table {
        let message = toml::from_str::<Config>(text).unwrap_err().to_string();
        assert!(message.contains(expected), "{text}: {message}");
    }
}
