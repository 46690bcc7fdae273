//! Gaussian elimination of the equations that peeling leaves over.
//!
//! The rows are bits over the cells that occur in them. A row takes its first cell out of all rows
//! after it; from the last row to the first that cell then makes its equation true, and cells that
//! are nobody's first stay as they are. For *m* equations that is *m*³/6 bits, 64 at a time: buckets
//! are small so that this is little.
//!
//! **Invariant.** If it answers `Some`, every equation given holds.

/// An equation: the exclusive or of these cells is this value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Equation<const K: usize> {
    pub(super) cells: [u32; K],
    pub(super) value: u64,
}

/// Sets cells so that the equations hold. `None` if they contradict each other.
pub(super) fn solve<const K: usize>(equations: &[Equation<K>], cells: &mut [u64]) -> Option<()> {
    let mut occurring: Vec<u32> = equations.iter().flat_map(|equation| equation.cells).collect();
    occurring.sort_unstable();
    occurring.dedup();
    let mut rows = Rows::new(equations, &occurring);
    let firsts = rows.eliminate()?;
    for (row, first) in firsts.into_iter().enumerate().rev() {
        let Some(first) = first else { continue };
        let mut sum = rows.values[row];
        for column in rows.ones(row).filter(|&column| column != first) {
            sum ^= cells[occurring[column] as usize];
        }
        cells[occurring[first] as usize] = sum;
    }
    Some(())
}

/// Equations as rows of bits.
struct Rows {
    /// Words a row.
    words: usize,
    bits: Vec<u64>,
    values: Vec<u64>,
}

impl Rows {
    fn new<const K: usize>(equations: &[Equation<K>], occurring: &[u32]) -> Self {
        let words = occurring.len().div_ceil(64).max(1);
        let mut bits = vec![0; words * equations.len()];
        for (row, equation) in bits.chunks_exact_mut(words).zip(equations) {
            for cell in equation.cells {
                let column = occurring.partition_point(|&other| other < cell);
                row[column / 64] ^= 1 << (column % 64);
            }
        }
        Self { words, bits, values: equations.iter().map(|equation| equation.value).collect() }
    }

    /// Takes the first column of each row out of the rows after it, and tells these columns; a row
    /// that follows from others has none.
    fn eliminate(&mut self) -> Option<Vec<Option<usize>>> {
        let rows = self.values.len();
        let mut firsts = Vec::with_capacity(rows);
        for row in 0..rows {
            let first = self.ones(row).next();
            firsts.push(first);
            let Some(first) = first else {
                if self.values[row] == 0 {
                    continue;
                }
                return None;
            };
            let (word, bit) = (first / 64, first % 64);
            let (before, after) = self.bits.split_at_mut((row + 1) * self.words);
            let own = &before[row * self.words + word..];
            let (values, later_values) = self.values.split_at_mut(row + 1);
            for (later, value) in after.chunks_exact_mut(self.words).zip(later_values) {
                let later = &mut later[word..];
                if later[0] >> bit & 1 == 1 {
                    later.iter_mut().zip(own).for_each(|(later, own)| *later ^= own);
                    *value ^= values[row];
                }
            }
        }
        Some(firsts)
    }

    /// The columns of a row, ascending.
    fn ones(&self, row: usize) -> impl Iterator<Item = usize> {
        let words = &self.bits[row * self.words..(row + 1) * self.words];
        words.iter().enumerate().flat_map(|(word, &bits)| {
            let rest = std::iter::successors(Some(bits), |bits| Some(bits & (bits - 1)));
            let rest = rest.take_while(|&bits| bits != 0);
            rest.map(move |bits| word * 64 + bits.trailing_zeros() as usize)
        })
    }
}
