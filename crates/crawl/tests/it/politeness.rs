//! How long hosts are left alone, against the sentences of the specification.

use crawl::{Config, Politeness};
use proptest::prelude::*;

fn politeness() -> Politeness {
    Politeness::new(&Config {
        delay_ms: 1_000,
        crawl_delay_ms_max: 60_000,
        retry_ms: 5_000,
        retry_after_s_max: 300,
        ..Config::default()
    })
}

#[test]
fn the_longer_of_delay_and_crawl_delay() {
    let politeness = politeness();
    assert_eq!(politeness.pause_ms(None), 1_000);
    assert_eq!(politeness.pause_ms(Some(10)), 1_000);
    assert_eq!(politeness.pause_ms(Some(7_000)), 7_000);
    assert_eq!(politeness.pause_ms(Some(u64::MAX)), 60_000);
}

#[test]
fn back_off_doubles_and_obeys() {
    let politeness = politeness();
    let back_off = |failures| politeness.back_off_ms(failures, None, None);
    assert_eq!([1, 2, 3].map(back_off), [Some(5_000), Some(10_000), Some(20_000)]);
    assert_eq!(back_off(u32::MAX), Some(3_600_000));
    assert_eq!(politeness.back_off_ms(1, None, Some(90_000)), Some(90_000));
    assert_eq!(politeness.back_off_ms(1, None, Some(300_000)), Some(300_000));
    assert_eq!(politeness.back_off_ms(1, None, Some(300_001)), None);
    assert_eq!(politeness.back_off_ms(1, Some(50_000), None), Some(50_000));
}

proptest! {
    #[test]
    fn never_shorter_than_asked(
        failures in 0..100_u32,
        delay in prop::option::of(any::<u64>()),
        after in prop::option::of(0..600_000_u64),
    ) {
        let politeness = politeness();
        match politeness.back_off_ms(failures, delay, after) {
            Some(wait_ms) => {
                prop_assert!(wait_ms >= politeness.pause_ms(delay));
                prop_assert!(wait_ms >= after.unwrap_or(0));
            }
            None => prop_assert!(after > Some(300_000)),
        }
    }
}
