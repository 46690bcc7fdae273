//! Gaussian elimination of the equations that peeling leaves over.
//!
//! The rows are bits over the cells that occur in them, those first that occur least, since what is
//! in few rows fills few. To a row are added earlier ones that begin with the same cell, until it
//! begins with one that no other does. From the last cell to the first, each then makes the equation
//! true that begins with it; cells with which none begins stay zero. For *m* equations that is some
//! *m*³/6 bits, many at a time: buckets are small so that this is little, and a row has a length that
//! the compiler knows.
//!
//! **Invariant.** If it answers `Some`, every equation given holds.

use super::build::BUCKET_KEYS_MAX;

/// An equation: the exclusive or of these cells is this value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Equation<const K: usize> {
    pub(super) cells: [u32; K],
    pub(super) value: u64,
}

/// Sets cells, which are zero, so that the equations hold. `None` if they contradict each other; the
/// cells are still zero then.
pub(super) fn solve<const K: usize>(equations: &[Equation<K>], cells: &mut [u64]) -> Option<()> {
    let mut degrees = vec![0; cells.len()];
    for cell in equations.iter().flat_map(|equation| equation.cells) {
        degrees[cell as usize] += 1;
    }
    let occurring = (0..).zip(&degrees).filter(|&(_, &degree)| degree > 0);
    let mut occurring: Vec<u32> = occurring.map(|(cell, _)| cell).collect();
    occurring.sort_unstable_by_key(|&cell| (degrees[cell as usize], cell));
    let mut column_of = degrees;
    for (column, &cell) in occurring.iter().enumerate() {
        column_of[cell as usize] = column;
    }
    // A full bucket of 512 keys, one of twice as many, and any that there can be.
    match occurring.len().div_ceil(64) {
        0..=9 => solve_rows::<K, 9>(equations, &column_of, &occurring, cells),
        10..=18 => solve_rows::<K, 18>(equations, &column_of, &occurring, cells),
        _ => solve_rows::<K, WORDS_MAX>(equations, &column_of, &occurring, cells),
    }
}

/// As many words as a row may have: those of all cells of all keys of a bucket.
const WORDS_MAX: usize = (4 * BUCKET_KEYS_MAX).div_ceil(64);

/// The same with rows of `W` words, in which the occurring cells have their columns.
fn solve_rows<const K: usize, const W: usize>(
    equations: &[Equation<K>],
    column_of: &[usize],
    occurring: &[u32],
    cells: &mut [u64],
) -> Option<()> {
    let mut rows = Rows::<W>::new(equations, column_of, occurring.len());
    let owners = rows.eliminate()?;
    for (&cell, row) in occurring.iter().zip(owners).rev() {
        let Some(row) = row else { continue };
        // Its own cell is among them, and zero so far.
        let others = rows.ones(row).map(|column| cells[occurring[column] as usize]);
        cells[cell as usize] = others.fold(rows.values[row], |sum, other| sum ^ other);
    }
    Some(())
}

/// Equations as rows of bits.
struct Rows<const W: usize> {
    columns: usize,
    bits: Vec<[u64; W]>,
    values: Vec<u64>,
}

impl<const W: usize> Rows<W> {
    /// `column_of` a cell is below `columns`, which fit a row.
    fn new<const K: usize>(equations: &[Equation<K>], column_of: &[usize], columns: usize) -> Self {
        let mut bits = vec![[0; W]; equations.len()];
        for (row, equation) in bits.iter_mut().zip(equations) {
            for cell in equation.cells {
                let column = column_of[cell as usize];
                row[column / 64] ^= 1 << (column % 64);
            }
        }
        let values = equations.iter().map(|equation| equation.value).collect();
        Self { columns, bits, values }
    }

    /// Adds rows to later ones until no two begin with the same column, and tells the row that begins
    /// with each. A row that follows from others is empty then.
    fn eliminate(&mut self) -> Option<Vec<Option<usize>>> {
        let mut owners = vec![None; self.columns];
        for row in 0..self.values.len() {
            let (mut own, mut value) = (self.bits[row], self.values[row]);
            // All words before this one are zeros: what is added begins where the row does. It is kept apart, since
            // everything waits for it.
            let (mut word, mut first) = (0, own[0]);
            loop {
                while first == 0 && word + 1 < W {
                    word += 1;
                    first = own[word];
                }
                if first == 0 {
                    if value == 0 {
                        break;
                    }
                    return None;
                }
                let column = word * 64 + first.trailing_zeros() as usize;
                let Some(owner) = owners[column] else {
                    owners[column] = Some(row);
                    break;
                };
                let added: &[u64; W] = &self.bits[owner];
                first ^= added[word];
                own.iter_mut().zip(added).for_each(|(own, added)| *own ^= added);
                value ^= self.values[owner];
            }
            (self.bits[row], self.values[row]) = (own, value);
        }
        Some(owners)
    }

    /// The columns of a row, ascending.
    fn ones(&self, row: usize) -> impl Iterator<Item = usize> {
        self.bits[row].iter().enumerate().flat_map(|(word, &bits)| {
            let some = |bits: u64| (bits != 0).then_some(bits);
            let rest = std::iter::successors(some(bits), move |bits| some(bits & (bits - 1)));
            rest.map(move |bits| word * 64 + bits.trailing_zeros() as usize)
        })
    }
}
