//! Work on several threads whose results come in the order of the items.
//!
//! Each thread has every *n*-th item; its results wait in a queue of its own, which is short, so that no
//! thread gets far ahead of the others.
//!
//! **Invariant.** Results are handed over in the order of the items, whatever the number of threads, up to
//! the first error; of its result a thread makes one at a time.

use std::sync::mpsc;
use std::thread;

/// How many results of a thread wait at most.
const QUEUE: usize = 16;

/// Hands what `make` makes of each item to `take`, in order. Each of the threads begins with what `begin`
/// gives it.
pub(crate) fn each_in_order<I: Copy + Sync, S, R: Send, E: Send>(
    threads: usize,
    items: &[I],
    begin: impl Fn() -> S + Sync,
    make: impl Fn(&mut S, I) -> Result<R, E> + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let queues: Vec<_> = (0..threads.max(1))
            .map(|first| {
                let (sender, queue) = mpsc::sync_channel(QUEUE);
                let (begin, make) = (&begin, &make);
                scope.spawn(move || {
                    let mut state = begin();
                    for &item in items.iter().skip(first).step_by(threads.max(1)) {
                        let made = make(&mut state, item);
                        // The receiver is closed after an error.
                        if sender.send(made).is_err() {
                            return;
                        }
                    }
                });
                queue
            })
            .collect();
        for (number, _) in items.iter().enumerate() {
            let made = queues[number % queues.len()].recv();
            take(made.expect("a thread sends a result for each of its items")?)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_up_to_the_first_error() {
        let items: Vec<u64> = (0..500).collect();
        for threads in 0..6 {
            for wrong in [0, 7, 499, 500] {
                let mut taken = Vec::new();
                let make = |made: &mut u64, item: u64| {
                    *made += 1;
                    // Some take longer than others.
                    (0..item % 7 * 1000).for_each(|n| assert!(std::hint::black_box(n) < 7000));
                    if item == wrong { Err(item) } else { Ok((item, *made)) }
                };
                let found = each_in_order(
                    threads,
                    &items,
                    || 0,
                    make,
                    |(item, made)| {
                        assert_eq!(made, item / threads.max(1) as u64 + 1, "each has its own");
                        taken.push(item);
                        Ok(())
                    },
                );
                assert_eq!(found, if wrong < 500 { Err(wrong) } else { Ok(()) });
                assert!(taken.iter().copied().eq(0..wrong));
                let refused = each_in_order(
                    threads,
                    &items,
                    || 0,
                    |_, item| Ok(item),
                    |item| {
                        if item == wrong { Err(item) } else { Ok(()) }
                    },
                );
                assert_eq!(refused, if wrong < 500 { Err(wrong) } else { Ok(()) });
            }
        }
    }
}
