//! Every kind of sieve, with and without the cache in front, compared with a [`Model`]. The steps
//! are random offers, flushes, syncs, and crashes after which the sieve is opened again. Other test
//! files use [`Model`] too.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use sieve::{KEY_BYTES_MAX, Plan, Sieve, SieveError, SieveKind, signature};
use tempfile::TempDir;

/// The plainest sieve: a set of the keys and a list of the new ones.
#[derive(Debug, Default, Clone)]
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

/// The keys that `sieve` hands out in one flush, which must succeed.
pub(crate) fn flushed(sieve: &mut dyn Sieve) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    sieve.flush(&mut |key| out.push(key.to_vec())).expect("a flush");
    out
}

#[derive(Debug, Clone)]
enum Step {
    Offer(Vec<u8>),
    Flush,
    Sync,
    /// The process dies and the sieve is opened again.
    Die,
}

fn check_steps(plan: &Plan, steps: &[Step]) {
    let dir = TempDir::new().expect("a folder");
    let mut sieve = plan.create(dir.path()).expect("a sieve");
    let mut model = Model::default();
    let mut synced = Model::default();
    let ends = [Step::Flush, Step::Sync, Step::Die, Step::Flush];
    for step in steps.iter().chain(&ends) {
        match step {
            Step::Offer(key) => {
                sieve.offer(key).expect("an offer");
                model.offer(key);
            }
            Step::Flush => {
                assert_eq!(flushed(&mut *sieve), model.flush(), "{plan:?}");
                let stats = sieve.stats();
                assert_eq!(stats.emitted, model.emitted, "{plan:?}");
                assert_eq!(stats.seen, model.seen.len() as u64, "{plan:?}");
                assert!(sieve.is_prompt(), "{plan:?}");
            }
            Step::Sync => {
                sieve.sync().expect("a sync");
                synced = model.clone();
            }
            Step::Die if plan.kind.is_durable() => {
                drop(sieve);
                sieve = plan.open(dir.path()).expect("the sieve again");
                model = synced.clone();
            }
            Step::Die => {}
        }
        // The count of cache hits is lost when the process dies.
        if plan.cache_keys == 0 {
            assert_eq!(sieve.stats().offered, model.offered, "{plan:?}");
        }
    }
}

/// Every kind, without and with a small cache in front. The filters are too precise to lose a key
/// here. An LSM sieve commits at a sync only.
fn plans(buffer_keys: usize) -> Vec<Plan> {
    let with_cache = |kind, cache_keys| {
        let buffer_keys = if kind == SieveKind::Lsm { 1 << 16 } else { buffer_keys };
        Plan { kind, buffer_keys, capacity: 10_000, precision: 40, cache_keys }
    };
    let built = SieveKind::ALL.into_iter().filter(|kind| kind.is_built());
    built.flat_map(|kind| [with_cache(kind, 0), with_cache(kind, 32)]).collect()
}

fn check_plans(buffer_keys: usize, steps: &[Step]) {
    for plan in plans(buffer_keys) {
        check_steps(&plan, steps);
    }
}

/// Runs `check` on a new sieve of each kind.
fn with_each_sieve(buffer_keys: usize, check: impl Fn(&mut dyn Sieve)) {
    for plan in plans(buffer_keys) {
        let dir = TempDir::new().expect("a folder");
        check(&mut *plan.create(dir.path()).expect("a sieve"));
    }
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
        1 => Just(Step::Sync),
        1 => Just(Step::Die),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn keys_are_emitted_once_in_first_offer_order(
        steps in vec(step(), 0..300),
        buffer_keys in 1..24_usize,
    ) {
        for plan in plans(buffer_keys).iter().filter(|plan| plan.kind != SieveKind::Lsm) {
            check_steps(plan, &steps);
        }
    }
}

proptest! {
    // Every return opens the store again, which takes its time.
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn an_lsm_sieve_emits_keys_in_the_same_order(steps in vec(step(), 0..300)) {
        for plan in plans(1).iter().filter(|plan| plan.kind == SieveKind::Lsm) {
            check_steps(plan, &steps);
        }
    }
}

#[test]
fn three_levels_of_runs_agree_with_the_model() {
    // A buffer of one key: a run a key, so that 700 keys fill levels of 8, 64 and 512.
    let key = |number: u32| Step::Offer(number.to_le_bytes().to_vec());
    let steps: Vec<_> = (0..700).flat_map(|number| [key(number), key(number / 2)]).collect();
    check_plans(1, &steps);
}

#[test]
fn a_key_is_never_emitted_again() {
    with_each_sieve(2, |sieve| {
        for _ in 0..20 {
            sieve.offer(b"again").expect("an offer");
            flushed(sieve);
        }
        assert_eq!(sieve.stats().emitted, 1);
        assert_eq!(sieve.stats().offered, 20);
    });
}

/// A key may carry more than it is known by.
#[test]
fn only_the_first_key_of_a_signature_is_emitted() {
    let key = |number: u8, carried: u8| vec![number, carried];
    for buffer_keys in [1, 3, 100] {
        with_each_sieve(buffer_keys, |sieve| {
            for carried in 0..3 {
                for number in 0..20 {
                    let number = (number * 7 + carried) % 20;
                    let (signature, key) = (signature(&[number]), key(number, carried));
                    sieve.offer_signed(signature, &key).expect("an offer");
                    sieve.offer_uncached(signature, &key).expect("an offer");
                }
            }
            let wanted: Vec<_> = (0..20).map(|number| key(number * 7 % 20, 0)).collect();
            assert_eq!(flushed(sieve), wanted);
        });
    }
}

#[test]
fn keys_of_every_allowed_length_are_emitted_whole() {
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
fn a_key_too_long_is_refused_and_not_stored() {
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

#[test]
fn a_kind_not_built_is_refused_by_name() {
    let dir = TempDir::new().expect("a folder");
    let plan = Plan { kind: SieveKind::Lsm, ..Plan::default() };
    let refused = SieveError::NotBuilt { kind: plan.kind.name() }.to_string();
    for cure in ["`--features crivello-sieve/lsm`", "another kind"] {
        assert!(refused.contains(cure), "{refused}");
    }
    for make in [Plan::create, Plan::open] {
        let made = make(&plan, dir.path()).map(|_| ());
        assert_eq!(made.is_ok(), cfg!(feature = "lsm"), "{made:?}");
        assert_eq!(made.is_ok(), plan.kind.is_built());
        if let Err(error) = made {
            assert_eq!(error.to_string(), refused);
        }
    }
}

#[test]
fn a_sieve_of_another_kind_is_refused() {
    let dir = TempDir::new().expect("a folder");
    let plan = |kind| Plan { kind, capacity: 100, ..Plan::default() };
    plan(SieveKind::Bloom).create(dir.path()).expect("a sieve").sync().expect("a sync");
    for kind in [SieveKind::BlockedBloom, SieveKind::Offline] {
        let error = plan(kind).open(dir.path()).map(|_| ()).expect_err("a Bloom sieve");
        assert!(matches!(error, SieveError::Damaged { offset: 0, .. }), "{error}");
    }
    plan(SieveKind::Offline).create(dir.path()).expect("to begin anew is allowed");
}
