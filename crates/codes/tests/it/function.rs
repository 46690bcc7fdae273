//! Static functions against the maps they were built from. Unknown keys against the promised probability, sizes
//! against the literature, and invalid bytes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use codes::fixed;
use codes::fsst::Needle;
use codes::function::{
    self, BUCKET_KEYS, Function, FunctionError, OrderedFunction, Ranks, SIGNATURE_MAX, Scheme,
};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;

const SIGNATURES: [u32; 4] = [0, 8, 16, 32];

/// Builds and opens the function under every scheme and looks up every key.
fn check_model(model: &BTreeMap<Vec<u8>, u64>, signature: u32) {
    for scheme in Scheme::ALL {
        let pairs = model.iter().map(|(key, &value)| (key, value));
        let bytes = function::build(scheme, signature, pairs.clone()).expect("different keys");
        let function = Function::open(&bytes[..]).expect("just built");
        assert_eq!(function.len(), model.len() as u64);
        assert_eq!(function.is_empty(), model.is_empty());
        assert_eq!((function.scheme(), function.signature()), (scheme, signature));
        for (key, &value) in model {
            assert_eq!(function.get(key), Some(value), "{key:?} under {scheme:?}");
        }
        let again = function::build(scheme, signature, pairs.rev());
        assert_eq!(again.as_ref(), Ok(&bytes), "the order of the keys does not matter");
    }
}

/// `count` keys, `known0`, `known1` …, with their numbers as values.
fn numbered(count: u64) -> impl Iterator<Item = (String, u64)> + Clone {
    (0..count).map(|number| (format!("known{number}"), number))
}

fn any_key() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![Just(0), Just(b'a'), any::<u8>()], 0..6)
}

fn any_scheme() -> impl Strategy<Value = Scheme> {
    prop::sample::select(Scheme::ALL.to_vec())
}

#[test]
fn an_ordered_function_is_looked_up_by_bucket() {
    for count in [0, 1, 511, 512, 513, 5_000] {
        let pairs = (0..count).map(|n| (format!("key{n:06}"), n % 512 / 8));
        let bytes = function::build_ordered(3, pairs.clone()).expect("different keys");
        let function = OrderedFunction::open(&bytes[..]).expect("just built");
        assert_eq!((function.len(), function.is_empty()), (count, count == 0));
        let ask = |bucket, key: &str| function.value(&function.probe(bucket, needle(&padded(key))));
        let mut strange = 0;
        for (place, (key, value)) in pairs.enumerate() {
            let probe = function.probe(place / BUCKET_KEYS, needle(&padded(&key)));
            function.prefetch(&probe);
            assert_eq!(function.value(&probe), Some(value), "{key}");
            strange += u64::from(ask(place / BUCKET_KEYS, &format!("{key}q")).is_some());
            let _ = ask(usize::MAX, &key);
        }
        // One in eight on average.
        assert!(strange * 8 <= count + 8 * 40, "{strange} of {count}");
        assert!(Function::open(&bytes[..]).is_err(), "that needs a bucket");
        let by_hash = function::build(Scheme::Gauss4, 3, numbered(count)).expect("different");
        assert!(OrderedFunction::open(&by_hash[..]).is_err());
    }
    let twice = ["a", "b", "a"].into_iter().zip(0..);
    assert_eq!(function::build_ordered(0, twice), Err(FunctionError::Duplicate { position: 2 }),);
    // A key may occur in several buckets.
    let pairs = (0..600_u64).map(|n| (format!("{}", n % 512), n / 512));
    let bytes = function::build_ordered(0, pairs.clone()).expect("different in each bucket");
    let function = OrderedFunction::open(&bytes[..]).expect("just built");
    for (place, (key, value)) in pairs.enumerate() {
        let probe = function.probe(place / BUCKET_KEYS, needle(&padded(&key)));
        assert_eq!(function.value(&probe), Some(value), "{key}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_key_returns_its_value(
        model in btree_map(any_key(), any::<u64>(), 0..60),
        width in 0..=64_u32,
        which in 0..SIGNATURES.len(),
    ) {
        let signature = SIGNATURES[which].min(64 - width);
        let cut = |value: u64| value & u64::MAX.checked_shr(64 - width).unwrap_or(0);
        let model = model.into_iter().map(|(key, value)| (key, cut(value))).collect();
        check_model(&model, signature);
    }

    #[test]
    fn a_duplicate_key_is_refused(
        keys in btree_set(any_key(), 1..40), first in any::<prop::sample::Index>(),
        scheme in any_scheme(), signature in 0..=SIGNATURE_MAX,
    ) {
        let mut keys = Vec::from_iter(keys);
        keys.push(keys[first.index(keys.len())].clone());
        let position = keys.len() as u64 - 1;
        let built = function::build(scheme, signature, keys.iter().zip(7..));
        prop_assert_eq!(built, Err(FunctionError::Duplicate { position }));
    }

    #[test]
    fn ranks_are_positions_in_the_sorted_list(
        terms in btree_set(any_key(), 0..80), scheme in any_scheme(), which in 0..SIGNATURES.len(),
    ) {
        let bytes = Ranks::build(scheme, SIGNATURES[which], terms.iter()).expect("sorted");
        let ranks = Ranks::open(bytes).expect("just built");
        prop_assert_eq!(ranks.len(), terms.len() as u64);
        prop_assert_eq!(ranks.is_empty(), terms.is_empty());
        for (rank, term) in (0..).zip(&terms) {
            prop_assert_eq!(ranks.rank(term), Some(rank));
        }
    }

    #[test]
    fn changed_bytes_are_refused_or_return_values(
        count in 0..1500_u64, scheme in any_scheme(), signature in 0..=SIGNATURE_MAX,
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        in_front in vec((0..80_usize, any::<u8>()), 0..3),
        length in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = function::build(scheme, signature, numbered(count)).expect("different");
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for (at, byte) in in_front {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
        }
        if let Some(length) = length {
            bytes.truncate(length.index(bytes.len() + 1));
        }
        ask(&bytes);
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_return_values(
        scheme in 2..=4_u8, width in 0..70_u8, signature in 0..40_u8,
        numbers in any::<[u64; 3]>(), shifts in any::<[u8; 3]>(), rest in vec(any::<u8>(), 0..300),
    ) {
        let mut bytes = b"CRVF\x02".to_vec();
        bytes.extend([scheme, width, signature]);
        for (number, shift) in numbers.into_iter().zip(shifts) {
            bytes.extend((number >> (shift % 64)).to_le_bytes());
        }
        bytes.extend(&rest);
        ask(&bytes);
        // Use the length from the header, so that opening succeeds.
        if let Some(length) = length_said(&bytes).filter(|&length| length < 1 << 20) {
            let filler = rest.iter().copied().chain([0xff]).cycle();
            bytes.extend(filler.take(length.saturating_sub(bytes.len())));
            bytes.truncate(length);
            ask(&bytes);
        }
    }
}

/// A key with the padding of a needle.
fn padded(key: &str) -> Vec<u8> {
    [key.as_bytes(), &[0; Needle::PADDING]].concat()
}

fn needle(padded: &[u8]) -> Needle<'_> {
    Needle::new(padded, padded.len() - Needle::PADDING).expect("it is padded")
}

/// Looks up some keys and ignores the values.
fn ask(bytes: &[u8]) {
    let Ok(function) = Function::open(bytes) else { return };
    for (key, _) in numbered(200) {
        let value = function.get(key.as_bytes()).unwrap_or(0);
        assert!(fixed::width(value) <= function.width());
    }
}

/// The length that a header implies, computed from the format's documentation.
fn length_said(bytes: &[u8]) -> Option<usize> {
    let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let (keys, cells) = (number(8)?, number(24)?);
    let buckets = if bytes[5] == 4 { keys.div_ceil(512).max(1) } else { 1 };
    let directory = buckets.checked_add(1)?.checked_mul(u64::from(fixed::width(cells)) + 8)?;
    let cells = cells.checked_mul(u64::from(bytes[6]) + u64::from(bytes[7]))?;
    usize::try_from(32 + directory.div_ceil(8) + cells.div_ceil(8)).ok()
}

#[test]
fn functions_of_every_small_size_are_built() {
    for count in (0..40).chain([511, 512, 513, 1024, 1025]) {
        let model = numbered(count).map(|(key, value)| (key.into_bytes(), value)).collect();
        check_model(&model, 8);
    }
}

#[test]
fn the_empty_function_has_no_keys() {
    for scheme in Scheme::ALL {
        for signature in SIGNATURES {
            let bytes = function::build(scheme, signature, numbered(0)).expect("no keys");
            let function = Function::open(bytes).expect("just built");
            assert_eq!(function.get(b""), None);
            assert_eq!(function.get(b"a"), None);
        }
    }
}

#[test]
fn keys_with_a_common_prefix_are_distinguished() {
    let zeros = (0..700).map(|length| vec![0; length]);
    let long = (0..=255).map(|last| [vec![b'a'; 4096], vec![last]].concat());
    let first = (0..=255).map(|first| [vec![first], vec![b'a'; 4096]].concat());
    let counted = (0..2000_u64).map(|number| number.to_be_bytes().to_vec());
    let keys = zeros.chain(long).chain(first).chain(counted);
    let model: BTreeMap<_, _> = keys.zip(0..).collect();
    check_model(&model, 16);
}

/// Keys chosen to fall into one of eight buckets are hashed again.
#[test]
fn keys_crowding_one_bucket_are_hashed_with_another_seed() {
    let hash = |key: &String| xxhash_rust::xxh3::xxh3_128_with_seed(key.as_bytes(), 0);
    let long = (0..).map(|n| format!("picked{n:027}"));
    let picked = long.filter(|key| hash(key) >> 125 == 0);
    let keys = picked.take(4000).zip(0..);
    let bytes = function::build(Scheme::Gauss4, 8, keys.clone()).expect("different");
    assert_ne!(bytes[16..24], [0; 8], "another seed of the hash");
    let function = Function::open(&bytes[..]).expect("just built");
    assert!(keys.into_iter().all(|(key, value)| function.get(key.as_bytes()) == Some(value)));
}

#[test]
fn an_invalid_header_is_refused_with_its_offset() {
    let bytes = function::build(Scheme::Gauss4, 8, numbered(600)).expect("different");
    let check = |bytes: &[u8], place: u64| match Function::open(bytes) {
        Err(FunctionError::Damaged { offset, .. }) => assert_eq!(offset, place),
        other => panic!("byte {place}: {other:?}"),
    };
    for (at, byte, place) in [
        (0, b'c', 0),
        (4, 1, 4),
        (4, 3, 4),
        (5, 1, 5),
        (5, 5, 5),
        (6, 57, 6),
        (7, 33, 6),
        (14, 1, 8),
        (30, 2, 24),
    ] {
        let mut changed = bytes.clone();
        changed[at] = byte;
        check(&changed, place);
    }
    check(&bytes[..31], 0);
    check(&bytes[..bytes.len() - 1], bytes.len() as u64 - 1);
    check(&[&bytes[..], &[0]].concat(), bytes.len() as u64 + 1);
    // Cells of zero bits take no space, so any number of them would fit.
    let mut many = function::build(Scheme::Peeled2, 0, [("a", 0)].into_iter()).expect("one");
    many[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
    check(&many, 24);
}

/// At most 2.09, 1.23 and 1.11 cells a key, including all overhead.
#[test]
fn function_size_matches_the_literature() {
    const KEYS: u64 = 100_000;
    for (scheme, thousandths) in
        [(Scheme::Peeled2, 2091), (Scheme::Peeled3, 1231), (Scheme::Gauss4, 1048)]
    {
        let bytes = function::build(scheme, 0, numbered(KEYS)).expect("different");
        let function = Function::open(&bytes[..]).expect("just built");
        let least = KEYS * u64::from(function.width());
        let factor = bytes.len() as u64 * 8 * 1000 / least;
        assert!(factor <= thousandths, "{scheme:?} takes {factor} thousandths");
        assert!(numbered(KEYS).all(|(key, value)| function.get(key.as_bytes()) == Some(value)));
    }
}

/// About trials/2^s of `trials` unknown keys are accepted; the bounds are five deviations away.
#[test]
fn the_signature_width_sets_the_false_positive_rate() {
    const TRIALS: u64 = 200_000;
    for scheme in Scheme::ALL {
        for (signature, least, most) in [(8, 641, 921), (16, 0, 12), (32, 0, 0)] {
            let bytes = function::build(scheme, signature, numbered(5000)).expect("different");
            let function = Function::open(bytes).expect("just built");
            let unknown = (0..TRIALS).map(|number| format!("unknown{number}"));
            let taken = unknown.filter(|key| function.get(key.as_bytes()).is_some()).count();
            assert!((least..=most).contains(&taken), "{scheme:?}, {signature} bits: {taken}");
        }
    }
}

/// With signatures alone, a function is a set.
#[test]
fn values_of_zero_bits_form_a_set() {
    let keys = numbered(5000).map(|(key, _)| (key, 0));
    let bytes = function::build(Scheme::Gauss4, 8, keys).expect("different");
    assert!(bytes.len() < 5300, "a byte a key: {}", bytes.len());
    let set = Function::open(bytes).expect("just built");
    assert!(numbered(5000).all(|(key, _)| set.get(key.as_bytes()) == Some(0)));
    let others = (0..5000).filter(|n| set.get(format!("unknown{n}").as_bytes()).is_some()).count();
    assert!(others < 60, "about 20 of 5000 others: {others}");
}

#[test]
fn values_or_signatures_that_are_too_wide_are_refused() {
    let pairs = [("a", u64::MAX)].into_iter();
    let wide = function::build(Scheme::Gauss4, 8, pairs.clone());
    assert_eq!(wide, Err(FunctionError::TooWide { width: 64, signature: 8 }));
    assert!(function::build(Scheme::Gauss4, 0, pairs).is_ok());
    let long = function::build(Scheme::Gauss4, 33, [("a", 1)].into_iter());
    assert_eq!(long, Err(FunctionError::TooWide { width: 1, signature: 33 }));
}

#[test]
fn ranks_of_terms_out_of_order_are_refused() {
    for (terms, position) in [(["a", "c", "b"], 2), (["b", "a", "c"], 1), (["a", "b", "b"], 2)] {
        let built = Ranks::build(Scheme::Peeled3, 0, terms.iter());
        assert_eq!(built, Err(FunctionError::Unsorted { position }));
    }
}

/// Three terms have ranks of two bits; rank 3 is unused.
#[test]
fn a_rank_is_below_the_number_of_terms() {
    let bytes = Ranks::build(Scheme::Peeled2, 0, ["a", "b", "c"].iter()).expect("sorted");
    let ranks = Ranks::open(bytes).expect("just built");
    let unknown = (0..1000).filter_map(|n| ranks.rank(format!("unknown{n}").as_bytes()));
    assert!(unknown.into_iter().all(|rank| rank < 3));
}

#[test]
fn written_bytes_match_the_documentation_example() {
    let pairs = [("one", 1), ("two", 2), ("three", 3)];
    let bytes = function::build(Scheme::Gauss4, 8, pairs.into_iter()).expect("different");
    let mut dump = String::new();
    for line in bytes.chunks(16) {
        let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(dump, "{}", hex.join(" ")).expect("a string");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/function.md");
    let page = fs::read_to_string(path).expect("the page");
    let block = format!("```text\n{dump}```\n");
    assert!(page.contains(&block), "the page should have\n{block}");
}

/// A lookup written from the documentation only.
#[test]
fn a_lookup_written_from_the_page_agrees() {
    for scheme in Scheme::ALL {
        let bytes = function::build(scheme, 5, numbered(3000)).expect("different");
        let function = Function::open(&bytes[..]).expect("just built");
        for (key, _) in numbered(3200) {
            assert_eq!(by_the_page(&bytes, key.as_bytes()), function.get(key.as_bytes()));
        }
        // Keys of all lengths.
        let pairs = (0..70).map(|length| (vec![b'0' + length; length.into()], u64::from(length)));
        let bytes = function::build(scheme, 5, pairs.clone()).expect("different");
        let function = Function::open(&bytes[..]).expect("just built");
        for (key, value) in pairs {
            assert_eq!(function.get(&key), Some(value));
            assert_eq!(by_the_page(&bytes, &key), Some(value));
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "modulo 2^64, as the page says")]
#[expect(clippy::many_single_char_names, reason = "the names of the page")]
fn by_the_page(bytes: &[u8], key: &[u8]) -> Option<u64> {
    let number = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().expect("a header"));
    let [k, b, s] = [bytes[5], bytes[6], bytes[7]].map(u64::from);
    let (n, c) = (number(8), number(24));
    let m = if k == 4 { n.div_ceil(512).max(1) } else { 1 };
    let w = u64::from(u64::BITS - c.leading_zeros());
    let cells_start = 32 + ((m + 1) * (w + 8)).div_ceil(8);
    let packed = |start: u64, at: u64, width: u64| {
        let bit = |bit: u64| u64::from(bytes[(start + bit / 8) as usize] >> (bit % 8) & 1);
        (0..width).map(|i| bit(at * width + i) << i).sum::<u64>()
    };
    let f = |x: u64, y: u64| {
        let product = u128::from(x) * u128::from(y);
        (product >> 64) as u64 ^ product as u64
    };
    let phi = 0x9e37_79b9_7f4a_7c15_u64;
    let (pi, e, root) =
        (0x243f_6a88_85a3_08d3_u64, 0xb7e1_5162_8aed_2a6b, 0x6a09_e667_f3bc_c909_u64);
    let z = number(16);
    let h = if key.len() > 32 {
        xxhash_rust::xxh3::xxh3_128_with_seed(key, z)
    } else {
        let padded = [key, &[0; 32]].concat();
        let word = |at: usize| u64::from_le_bytes(*padded[8 * at..].first_chunk().expect("words"));
        let g = f(word(0) ^ phi.wrapping_add(z), word(1) ^ pi.wrapping_sub(z));
        let sized = g.wrapping_add((key.len() as u64).wrapping_mul(e));
        let product = u128::from(word(2) ^ sized) * u128::from(word(3) ^ root.wrapping_add(z));
        product ^ product << 64
    };
    let (u, l) = ((h >> 64) as u64, h as u64);
    let bucket = ((u >> 32) * m) >> 32;
    let (entry, next) = (packed(32, bucket, w + 8), packed(32, bucket + 1, w + 8));
    let (first, t, p) = (entry / 256, entry % 256, (next / 256 - entry / 256) / k);
    let x = f(l ^ pi, u ^ (t + 1).wrapping_mul(phi));
    let y = f(x ^ phi, e);
    let r = [x >> 32, x & 0xffff_ffff, y >> 32, y & 0xffff_ffff];
    let cells = (0..k).zip(r).map(|(i, r)| first + i * p + ((r * p) >> 32));
    let sum = cells.fold(0, |sum, cell| sum ^ packed(cells_start, cell, b + s));
    (sum >> b == u % (1 << s)).then_some(sum % (1 << b))
}
