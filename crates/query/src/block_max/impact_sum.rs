//! Conjunctions of words with a table each (`impact_tables.rs`): upper bounds of scores are added up for all documents at
//! once, in whole points.
//!
//! A first pass judges the documents with the most points, which raises the threshold. A second pass judges the
//! remaining documents that may reach it. A list is read only if a table lacks the frequency, or for excluded words.
//!
//! **Invariant.** A document that is not judged lacks a word, or its points are below the threshold.

use codes::columns::{self, Column};

use super::impact_tables::{FULL, ImpactTable};
use super::window::WINDOW_MAX;
use super::workspace::Workspace;
use super::{Collector, ROUND_DOWN, ROUND_UP, Word};

/// Points of the greatest possible score. A sum fits into 16 bits although weights are rounded up.
const POINTS: f32 = 60_000.0;

/// Returns whether there are several words and each has a table.
pub(super) fn is_known(groups: &[Vec<Word<'_>>]) -> bool {
    groups.len() > 1 && groups.iter().flatten().all(|word| word.table.is_some())
}

/// Returns whether all words have tables and a pass over all documents costs no more than one over the lists.
pub(super) fn pays(groups: &[Vec<Word<'_>>], doc_count: u32) -> bool {
    let postings: u64 = groups.iter().flatten().map(Word::cost).sum();
    let rows = u64::from(doc_count).saturating_mul(groups.len() as u64);
    is_known(groups) && postings.saturating_mul(columns::rows_a_posting()) >= rows
}

/// The tables of all words.
fn tables<'a>(groups: &[Vec<Word<'a>>]) -> Vec<&'a ImpactTable> {
    let tables: Vec<&ImpactTable> = groups.iter().flatten().filter_map(|word| word.table).collect();
    debug_assert_eq!(tables.len(), groups.len(), "a group is a word, and each has a table");
    tables
}

/// Counts the documents that have all words.
pub(super) fn count(groups: &[Vec<Word<'_>>]) -> u64 {
    let columns: Vec<&[u8]> = tables(groups).iter().map(|table| &table.shares[..]).collect();
    columns::count_whole(&columns)
}

/// Evaluates a segment. Each group is one word with a table.
pub(super) fn evaluate(
    groups: &mut [Vec<Word<'_>>],
    collector: &mut Collector<'_, '_>,
    work: &mut Workspace,
) {
    let tables = tables(groups);
    let total: f32 = tables.iter().map(|table| table.most).sum();
    // Each share of a word is rounded down by less than a point.
    let rounded = u16::try_from(groups.len()).unwrap_or(u16::MAX).saturating_add(1);
    let points = Some(POINTS / total).filter(|points| points.is_finite()).unwrap_or(0.0);
    // Points per share (a 255th of the bound of a word), in 256ths.
    let weights: Vec<u16> =
        tables.iter().map(|table| up(table.most * points / 255.0 * 256.0)).collect();
    let mut sums = std::mem::take(&mut work.sums);
    let stop = collector.stop;
    let starts = (0..collector.doc_count).step_by(WINDOW_MAX as usize);
    for start in starts.take_while(|_| !stop.is_set()) {
        let end = start.saturating_add(WINDOW_MAX).min(collector.doc_count);
        let most = collector.statics.most(start, end);
        if total * ROUND_UP + most < collector.least {
            continue;
        }
        let rows = start as usize..end as usize;
        let columns: Vec<Column<'_>> = tables
            .iter()
            .zip(&weights)
            .map(|(table, &weight)| Column { bytes: &table.shares[rows.clone()], weight })
            .collect();
        sums.resize(rows.len(), 0);
        let greatest = columns::sum(&columns, &mut sums);
        // The least sum of points at which a document may reach `least`.
        let wanted = |least: f32| match (least - most) * points {
            enough if enough >= 1.0 => down(enough).saturating_sub(rounded).max(1),
            _ => 1,
        };
        if greatest.iter().all(|&sum| sum < wanted(collector.least)) {
            continue;
        }
        let first = promising(collector, greatest, &sums);
        let mut behind = u16::MAX;
        for tentative in [first, 1] {
            let least = tentative.max(wanted(collector.least));
            let (docs, found) = (&mut work.docs, &sums);
            docs.clear();
            if least <= behind {
                columns::reaching(found, least, |row| {
                    if found[row] <= behind {
                        docs.extend(u32::try_from(row));
                    }
                });
            }
            if docs.is_empty() {
                break;
            }
            let lists = groups.iter_mut().flatten().flat_map(|word| &mut word.lists);
            lists.for_each(|list| list.go_to(0));
            for &row in &work.docs {
                if sums[row as usize] >= wanted(collector.least) {
                    let doc = start + row;
                    let words = groups.iter_mut().flatten();
                    collector
                        .collect(doc, || words.fold(0.0, |sum, word| sum + exactly(word, doc)));
                }
            }
            behind = least - 1;
        }
    }
    work.sums = sums;
}

/// Estimates the points that k documents reach. Returns 1 if an estimate is not worthwhile.
fn promising(
    collector: &Collector<'_, '_>,
    mut greatest: [u16; columns::SIDE_BY_SIDE],
    sums: &[u16],
) -> u16 {
    let k = collector.best.size();
    if (1..=greatest.len()).contains(&k) {
        // Each of the greatest sums is that of a different set of rows.
        let (_, &mut reached, _) = greatest.select_nth_unstable_by(k - 1, |a, b| b.cmp(a));
        return reached.max(1);
    }
    if collector.least > 0.0 {
        return 1;
    }
    let mut counts = [0; 1 << 8];
    sums.iter().filter(|&&sum| sum > 0).for_each(|sum| counts[usize::from(sum >> 8)] += 1);
    let mut left = k;
    for (high, &count) in (0..=u8::MAX).zip(&counts).rev() {
        if count >= left {
            return (u16::from(high) << 8).max(1);
        }
        left -= count;
    }
    1
}

/// The score of a document for a word that it has.
fn exactly(word: &mut Word<'_>, doc: u32) -> f64 {
    let often = word.table.and_then(|table| table.often.get(doc as usize));
    match often {
        Some(&often) if often < FULL => {
            let length = word.lists[0].lengths().get(index::DocId(doc));
            word.exactly_often(u32::from(often), length)
        }
        _ => word.exactly(doc),
    }
}

/// Rounds up, with a margin.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn up(number: f32) -> u16 {
    (number * ROUND_UP).ceil() as u16
}

/// Rounds down, with a margin.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
fn down(number: f32) -> u16 {
    (number * ROUND_DOWN).floor() as u16
}
