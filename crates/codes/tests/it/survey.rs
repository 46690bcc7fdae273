//! The sizes of a survey, compared with the definitions of the codes.

use codes::{Code, Gamma, Histogram, Survey, packed, vbyte};

fn survey(lists: &[Vec<u32>]) -> Survey {
    let mut histogram = Histogram::default();
    for list in lists {
        histogram.add(list);
    }
    let mut survey = Survey::new(histogram);
    for list in lists {
        survey.add(list);
    }
    survey
}

fn bits(survey: &Survey, code: &str) -> u64 {
    survey.costs().iter().find(|cost| cost.code == code).expect("a code of that name").bits
}

#[test]
fn entropy_of_a_fair_coin_and_an_empty_list() {
    let mut coin = Histogram::default();
    coin.add(&[0, 70_000, 70_000, 0]);
    assert!((coin.entropy() - 1.0).abs() < 1e-12);
    assert_eq!((coin.count(), coin.max()), (4, 70_000));
    assert!((coin.mean() - 35_000.0).abs() < 1e-9);
    assert_eq!(coin.iter().collect::<Vec<_>>(), [(0, 2), (70_000, 2)]);
    let nothing = Histogram::default();
    assert_eq!((nothing.count(), nothing.max()), (0, 0));
    assert_eq!(format!("{} {}", nothing.entropy(), nothing.mean()), "0 0");
    let mut one = Histogram::default();
    one.add(&[9; 50]);
    assert!(one.entropy().abs() < 1e-12);
}

/// For the distribution 1/2, 1/4, 1/8, … unary takes exactly the entropy, and no code takes less.
#[test]
fn unary_reaches_the_entropy_of_its_distribution() {
    let list: Vec<u32> = (0..12).flat_map(|n| vec![n; 1 << (12 - n)]).collect();
    let survey = survey(std::slice::from_ref(&list));
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    let each = bits(&survey, "unary") as f64 / list.len() as f64;
    assert!((each - survey.histogram().entropy()).abs() < 0.01, "{each}");
    let single = survey.instantaneous();
    assert!(single.iter().all(|code| survey.histogram().bits(&**code) >= bits(&survey, "unary")));
}

#[test]
fn every_code_is_counted_with_its_written_bits() {
    let lists = vec![(0..300_u32).map(|n| n * n % 97).collect::<Vec<_>>(), vec![100_000], vec![]];
    let survey = survey(&lists);
    let all = || lists.iter().flatten();
    let gamma: usize = all().map(|&n| Gamma.len(u64::from(n))).sum();
    assert_eq!(bits(&survey, "gamma"), gamma as u64);
    let mut bytes = Vec::new();
    let (blocks, left) = lists[0].as_chunks();
    for block in blocks {
        packed::write(block, &mut bytes);
    }
    for &n in left.iter().chain(&lists[1]) {
        vbyte::write(&mut bytes, u64::from(n));
    }
    assert_eq!(bits(&survey, "packed"), bytes.len() as u64 * 8);
    // 100000 alone: bound 100001 in δ, and 17 bits; the first list: 96 in δ, and numbers below 97.
    let binary = bits(&survey, "minimal-binary-list");
    let below_97: u64 = lists[0].iter().map(|&n| if n < 31 { 6 } else { 7 }).sum();
    assert_eq!(binary, (9 + 16 + 17) + (5 + 6) + below_97);
    assert!(bits(&survey, "pfor-optimum") <= bits(&survey, "pfor"));
    // Unary is smaller for small numbers; blocks of great numbers do not use it.
    let small = self::survey(&[(0..512_u32).map(|n| 2 * u32::from(n % 4 == 0)).collect()]);
    assert!(bits(&small, "pfor-unary") < bits(&small, "pfor-optimum"));
    assert_eq!(bits(&survey, "pfor-unary"), bits(&survey, "pfor-optimum"));
    assert_eq!(survey.costs().len(), 20);
}
