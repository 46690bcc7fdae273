//! Every sieve against a set of the keys and a list of those that are new, over random offers and
//! flushes. Other files of the tests compare with [`Model`] too.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use sieve::{KEY_BYTES_MAX, MemorySieve, OfflineSieve, Sieve, SieveError};
use tempfile::TempDir;

/// What a sieve should do, in the plainest way.
#[derive(Debug, Default)]
pub(crate) struct Model {
    seen: BTreeSet<Vec<u8>>,
    waiting: Vec<Vec<u8>>,
    offered: u64,
    emitted: u64,
}

impl Model {
    pub(crate) fn offer(&mut self, key: &[u8]) {
        self.offered += 1;
        if self.seen.insert(key.to_vec()) {
            self.waiting.push(key.to_vec());
        }
    }

    pub(crate) fn flush(&mut self) -> Vec<Vec<u8>> {
        self.emitted += self.waiting.len() as u64;
        std::mem::take(&mut self.waiting)
    }
}

/// What `sieve` hands out in one flush that succeeds.
pub(crate) fn flushed(sieve: &mut dyn Sieve) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    sieve.flush(&mut |key| out.push(key.to_vec())).expect("a flush");
    out
}

#[derive(Debug, Clone)]
enum Step {
    Offer(Vec<u8>),
    Flush,
}

fn check_steps(sieve: &mut dyn Sieve, steps: &[Step]) {
    let mut model = Model::default();
    for step in steps.iter().chain([&Step::Flush, &Step::Flush]) {
        match step {
            Step::Offer(key) => {
                sieve.offer(key).expect("an offer");
                model.offer(key);
                assert_eq!(sieve.stats().offered, model.offered);
            }
            Step::Flush => {
                assert_eq!(flushed(sieve), model.flush());
                let stats = sieve.stats();
                assert_eq!(stats.offered, model.offered);
                assert_eq!(stats.emitted, model.emitted);
                assert_eq!(stats.seen, model.seen.len() as u64);
            }
        }
    }
}

/// Runs `check` on a new sieve of each kind.
fn with_each_sieve(buffer_keys: usize, check: impl Fn(&mut dyn Sieve)) {
    check(&mut MemorySieve::new());
    let dir = TempDir::new().expect("a folder");
    check(&mut OfflineSieve::create(dir.path(), buffer_keys).expect("a sieve"));
}

/// Short keys of few letters, so that they repeat and one is the beginning of another.
fn short_key() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![Just(0_u8), Just(b'a'), Just(0xFF)], 0..5)
}

/// Keys of which there are many, so that runs pile up.
fn numbered_key() -> impl Strategy<Value = Vec<u8>> {
    (0..2_000_u32).prop_map(|number| format!("http://example.com/{number}").into_bytes())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => short_key().prop_map(Step::Offer),
        15 => numbered_key().prop_map(Step::Offer),
        1 => Just(Step::Flush),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn keys_come_out_once_in_order_of_first_offer(
        steps in vec(step(), 0..300),
        buffer_keys in 1..24_usize,
    ) {
        with_each_sieve(buffer_keys, |sieve| check_steps(sieve, &steps));
    }
}

#[test]
fn three_levels_of_runs_agree_with_the_model() {
    // A buffer of one key: a run a key, so that 700 keys fill levels of 8, 64 and 512.
    let key = |number: u32| Step::Offer(number.to_le_bytes().to_vec());
    let steps: Vec<_> = (0..700).flat_map(|number| [key(number), key(number / 2)]).collect();
    with_each_sieve(1, |sieve| check_steps(sieve, &steps));
}

#[test]
fn a_key_that_was_emitted_never_comes_again() {
    with_each_sieve(2, |sieve| {
        for _ in 0..20 {
            sieve.offer(b"again").expect("an offer");
            flushed(sieve);
        }
        assert_eq!(sieve.stats().emitted, 1);
        assert_eq!(sieve.stats().offered, 20);
    });
}

#[test]
fn keys_of_every_length_that_is_allowed_come_out_whole() {
    let lengths = [0, 1, 255, 256, 65_527, 65_528, KEY_BYTES_MAX - 1, KEY_BYTES_MAX];
    let keys: Vec<_> = lengths.iter().map(|&len| vec![7; len]).collect();
    for buffer_keys in [1, 3, 100] {
        with_each_sieve(buffer_keys, |sieve| {
            for key in keys.iter().chain(keys.iter().rev()) {
                sieve.offer(key).expect("an offer");
            }
            assert_eq!(flushed(sieve), keys);
        });
    }
}

#[test]
fn a_key_too_long_is_refused_and_leaves_no_trace() {
    with_each_sieve(4, |sieve| {
        sieve.offer(b"before").expect("an offer");
        let before = sieve.stats();
        let error = sieve.offer(&vec![0; KEY_BYTES_MAX + 1]).expect_err("too long");
        assert!(
            matches!(error, SieveError::KeyTooLong { len: 65_537, max: KEY_BYTES_MAX }),
            "{error}"
        );
        assert_eq!(sieve.stats(), before);
        sieve.offer(b"after").expect("an offer");
        assert_eq!(flushed(sieve), [b"before".to_vec(), b"after".to_vec()]);
    });
}
