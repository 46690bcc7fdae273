//! Gaussian elimination of the equations that peeling leaves over.
//!
//! The rows are bits over the cells that occur in them, those first that occur least, since what is
//! in few rows fills few. To a row are added earlier ones that begin with the same cell, until it
//! begins with one that no other does. From the last cell to the first, each then makes the equation
//! true that begins with it; cells with which none begins stay zero. For *m* equations that is some
//! *m*³/6 bits, 64 at a time: buckets are small so that this is little.
//!
//! **Invariant.** If it answers `Some`, every equation given holds.

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
    let mut rows = Rows::new(equations, &column_of, occurring.len());
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
struct Rows {
    columns: usize,
    /// Words a row.
    words: usize,
    bits: Vec<u64>,
    values: Vec<u64>,
}

impl Rows {
    /// `column_of` a cell is below `columns`.
    fn new<const K: usize>(equations: &[Equation<K>], column_of: &[usize], columns: usize) -> Self {
        let words = columns.div_ceil(64).max(1);
        let mut bits = vec![0; words * equations.len()];
        for (row, equation) in bits.chunks_exact_mut(words).zip(equations) {
            for cell in equation.cells {
                let column = column_of[cell as usize];
                row[column / 64] ^= 1 << (column % 64);
            }
        }
        let values = equations.iter().map(|equation| equation.value).collect();
        Self { columns, words, bits, values }
    }

    /// Adds rows to later ones until no two begin with the same column, and tells the row that begins
    /// with each. A row that follows from others is empty then.
    fn eliminate(&mut self) -> Option<Vec<Option<usize>>> {
        let mut owners = vec![None; self.columns];
        for row in 0..self.values.len() {
            let (earlier, own) = self.bits.split_at_mut(row * self.words);
            let own = &mut own[..self.words];
            let mut value = self.values[row];
            loop {
                let Some(word) = own.iter().position(|&bits| bits != 0) else {
                    if value == 0 {
                        break;
                    }
                    return None;
                };
                let first = word * 64 + own[word].trailing_zeros() as usize;
                let Some(owner) = owners[first] else {
                    owners[first] = Some(row);
                    break;
                };
                let added = &earlier[owner * self.words..(owner + 1) * self.words];
                own[word..].iter_mut().zip(&added[word..]).for_each(|(own, added)| *own ^= added);
                value ^= self.values[owner];
            }
            self.values[row] = value;
        }
        Some(owners)
    }

    /// The columns of a row, ascending.
    fn ones(&self, row: usize) -> impl Iterator<Item = usize> {
        let words = &self.bits[row * self.words..(row + 1) * self.words];
        words.iter().enumerate().flat_map(|(word, &bits)| {
            let some = |bits: u64| (bits != 0).then_some(bits);
            let rest = std::iter::successors(some(bits), move |bits| some(bits & (bits - 1)));
            rest.map(move |bits| word * 64 + bits.trailing_zeros() as usize)
        })
    }
}
