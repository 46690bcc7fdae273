//! Lazy Gaussian elimination of the equations that peeling leaves over.
//!
//! An equation has few cells, but adding equations creates dense ones. So cells are made *active* (the code calls
//! them given up) one after the other, most frequent first. This continues until an equation has one inactive cell
//! left. That cell follows from the active ones, and is substituted in the other equations that contain it.
//! Finally, the equations without such a cell contain active cells only, about a fifth of all. Only these are
//! eliminated, as rows of bits. To each row, earlier rows with the same first cell are added until its first cell
//! is unique. From the last cell to the first, each row then determines its first cell; cells without a row stay
//! zero. The other cells follow.
//!
//! **Invariant.** `Some` means that every equation holds; `None` that the equations have no solution.
//!
//! **Reference.** M. Genuzio, G. Ottaviano, S. Vigna, "Fast scalable construction of (minimal perfect hash)
//! functions", SEA 2016, section 4.

use super::build::BUCKET_KEYS_MAX;

/// An equation: the exclusive or of these cells, all different, is this value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Equation<const K: usize> {
    pub(super) cells: [u32; K],
    pub(super) value: u64,
}

/// Sets the cells, which must be zero, so that the equations hold. Returns `None`, with zero cells, if the
/// equations contradict each other.
pub(super) fn solve<const K: usize>(equations: &[Equation<K>], cells: &mut [u64]) -> Option<()> {
    let incidence = Incidence::new(equations, cells.len());
    // A full bucket of 512 keys has about 110 active cells.
    if let Some(lazy) = Lazy::<4>::new(equations, &incidence) {
        return lazy.finish(cells);
    }
    Lazy::<WORDS_MAX>::new(equations, &incidence)
        .expect("all cells have their columns")
        .finish(cells)
}

/// Words of the longest row: all cells of all keys of a bucket.
const WORDS_MAX: usize = (4 * BUCKET_KEYS_MAX).div_ceil(64);

/// Equations after substitution: each has active cells, and at most one other cell, which follows from it.
struct Lazy<const W: usize> {
    /// The active cells of each equation as bits, and its value.
    rows: Vec<[u64; W]>,
    values: Vec<u64>,
    /// The inactive cells of each equation: their count, and the exclusive or of their numbers.
    others: Vec<(u32, u32)>,
    /// The active cells, in the order of their columns.
    given_up: Vec<u32>,
    /// The cells that follow, each with its equation.
    following: Vec<(u32, u32)>,
}

impl<const W: usize> Lazy<W> {
    /// Returns `None` if a row is too short for all active cells.
    fn new<const K: usize>(equations: &[Equation<K>], incidence: &Incidence) -> Option<Self> {
        let all = |equation: &Equation<K>| {
            equation.cells.iter().fold((0, 0), |(count, sum), cell| (count + 1, sum ^ cell))
        };
        let mut lazy = Self {
            rows: vec![[0; W]; equations.len()],
            values: equations.iter().map(|equation| equation.value).collect(),
            others: equations.iter().map(all).collect(),
            given_up: Vec::new(),
            following: Vec::new(),
        };
        let mut is_idle = vec![true; incidence.cell_count()];
        let mut single = Vec::new();
        for cell in incidence.by_degree() {
            if !std::mem::replace(&mut is_idle[cell as usize], false) {
                continue;
            }
            let column = lazy.given_up.len();
            if column == 64 * W {
                return None;
            }
            lazy.given_up.push(cell);
            for &equation in incidence.of(cell) {
                lazy.rows[equation as usize][column / 64] |= 1 << (column % 64);
                lazy.settle(equation, cell, &mut single);
            }
            while let Some(equation) = single.pop() {
                // Its last cell may have become active meanwhile.
                let (1, cell) = lazy.others[equation as usize] else { continue };
                is_idle[cell as usize] = false;
                lazy.following.push((cell, equation));
                lazy.others[equation as usize] = (0, 0);
                for &other in incidence.of(cell).iter().filter(|&&other| other != equation) {
                    lazy.add(equation as usize, other as usize);
                    lazy.settle(other, cell, &mut single);
                }
            }
        }
        Some(lazy)
    }

    /// Eliminates the equations of active cells, and sets all cells.
    fn finish(self, cells: &mut [u64]) -> Option<()> {
        let Self { rows, values, given_up, following, .. } = self;
        let mut is_left = vec![true; rows.len()];
        for &(_, equation) in &following {
            is_left[equation as usize] = false;
        }
        let left = (0..rows.len()).filter(|&equation| is_left[equation]);
        let (bits, totals) = left.map(|equation| (rows[equation], values[equation])).unzip();
        let mut dense = Rows::<W> { columns: given_up.len(), bits, values: totals };
        let owners = dense.eliminate()?;
        let sum = |row: &[u64; W], value: u64, cells: &[u64]| {
            ones(row).fold(value, |sum, column| sum ^ cells[given_up[column] as usize])
        };
        for (&cell, row) in given_up.iter().zip(owners).rev() {
            let Some(row) = row else { continue };
            // The sum includes its own cell, which is still zero.
            cells[cell as usize] = sum(&dense.bits[row], dense.values[row], cells);
        }
        let sums = Sums::new(&given_up, cells);
        for (cell, equation) in following {
            let equation = equation as usize;
            cells[cell as usize] = values[equation] ^ sums.of(&rows[equation]);
        }
        Some(())
    }

    /// Removes a cell from the inactive cells of an equation.
    fn settle(&mut self, equation: u32, cell: u32, single: &mut Vec<u32>) {
        let (count, sum) = &mut self.others[equation as usize];
        *count -= 1;
        *sum ^= cell;
        if *count == 1 {
            single.push(equation);
        }
    }

    /// Adds an equation to another one.
    fn add(&mut self, equation: usize, other: usize) {
        let added = self.rows[equation];
        self.rows[other].iter_mut().zip(added).for_each(|(own, added)| *own ^= added);
        self.values[other] ^= self.values[equation];
    }
}

/// The sums of all subsets of each four columns. Half of the bits of a row are ones, so this halves the number of
/// additions, and needs no branches.
struct Sums(Vec<[u64; 16]>);

impl Sums {
    /// The sums of active cells, in the order of their columns.
    fn new(given_up: &[u32], cells: &[u64]) -> Self {
        let of_four = |four: &[u32]| {
            let mut sums = [0; 16];
            for (bit, &cell) in four.iter().enumerate() {
                let (known, next) = sums.split_at_mut(1 << bit);
                next.iter_mut()
                    .zip(known)
                    .for_each(|(sum, known)| *sum = *known ^ cells[cell as usize]);
            }
            sums
        };
        Self(given_up.chunks(4).map(of_four).collect())
    }

    /// The exclusive or of the cells of a row.
    fn of<const W: usize>(&self, row: &[u64; W]) -> u64 {
        let of_word = |(sums, &word): (&[[u64; 16]], &u64)| {
            let fours = sums.iter().zip((0..u64::BITS).step_by(4));
            fours.fold(0, |sum, (sums, at)| sum ^ sums[(word >> at & 0xf) as usize])
        };
        self.0.chunks(16).zip(row).map(of_word).fold(0, |sum, word| sum ^ word)
    }
}

/// The equations of each cell.
struct Incidence {
    starts: Vec<u32>,
    equations: Vec<u32>,
}

impl Incidence {
    fn new<const K: usize>(equations: &[Equation<K>], cell_count: usize) -> Self {
        let mut starts = vec![0; cell_count + 1];
        for cell in equations.iter().flat_map(|equation| equation.cells) {
            starts[cell as usize] += 1;
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut all = vec![0; K * equations.len()];
        for (number, equation) in (0..).zip(equations) {
            for cell in equation.cells {
                let start = &mut starts[cell as usize];
                *start -= 1;
                all[*start as usize] = number;
            }
        }
        Self { starts, equations: all }
    }

    fn cell_count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The cells that occur, most frequent first.
    fn by_degree(&self) -> Vec<u32> {
        let degrees = || self.starts.array_windows().map(|[from, to]| (to - from) as usize);
        let most = degrees().max().unwrap_or(0);
        // A counting sort: there are few different degrees.
        let mut places = vec![0; most + 1];
        degrees().for_each(|degree| places[degree] += 1);
        let mut end = 0;
        for place in places[1..].iter_mut().rev() {
            end += std::mem::replace(place, end);
        }
        let mut cells = vec![0; end];
        for (degree, cell) in degrees().zip(0..).filter(|of| of.0 > 0) {
            cells[places[degree]] = cell;
            places[degree] += 1;
        }
        cells
    }

    #[inline]
    fn of(&self, cell: u32) -> &[u32] {
        let [from, to] = [cell, cell + 1].map(|cell| self.starts[cell as usize] as usize);
        &self.equations[from..to]
    }
}

/// Equations as rows of bits.
struct Rows<const W: usize> {
    columns: usize,
    bits: Vec<[u64; W]>,
    values: Vec<u64>,
}

impl<const W: usize> Rows<W> {
    /// Adds rows to later ones until all first columns differ. Returns the row for each first column. A row that
    /// depends on others becomes empty.
    fn eliminate(&mut self) -> Option<Vec<Option<usize>>> {
        let mut owners = vec![None; self.columns];
        for row in 0..self.values.len() {
            let (mut own, mut value) = (self.bits[row], self.values[row]);
            // All words before `word` are zero, and so are those of the added row. `first` is kept separately,
            // because everything waits for it.
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
}

/// The columns of a row, ascending.
fn ones<const W: usize>(row: &[u64; W]) -> impl Iterator<Item = usize> {
    row.iter().enumerate().flat_map(|(word, &bits)| {
        let some = |bits: u64| (bits != 0).then_some(bits);
        let rest = std::iter::successors(some(bits), move |bits| some(bits & (bits - 1)));
        rest.map(move |bits| word * 64 + bits.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An equation of one cell in each of four parts.
    fn equation(part: u32, choice: [u32; 4], value: u64) -> Equation<4> {
        let mut cells = choice.map(|random| random % part);
        (0..).zip(&mut cells).for_each(|(number, cell)| *cell += number * part);
        Equation { cells, value }
    }

    /// A usual bucket, and one with too many active cells for a short row.
    #[test]
    fn full_buckets_give_up_few_cells() {
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        };
        for (keys, part, few) in [(512, 132, true), (2048, 528, false)] {
            let equations: Vec<Equation<4>> = (0..keys)
                .map(|_| equation(part, [(); 4].map(|()| random()), random().into()))
                .collect();
            let mut cells = vec![0; 4 * part as usize];
            let incidence = Incidence::new(&equations, cells.len());
            let lazy = Lazy::<4>::new(&equations, &incidence);
            assert_eq!(lazy.is_some(), few, "{keys} keys");
            assert!(lazy.is_none_or(|lazy| (80..140).contains(&lazy.given_up.len())));
            solve(&equations, &mut cells).expect("nearly all have a solution");
            for equation in &equations {
                let sum = equation.cells.iter().fold(0, |sum, &cell| sum ^ cells[cell as usize]);
                assert_eq!(sum, equation.value);
            }
        }
    }

    proptest! {
        /// Solvable and unsolvable systems, compared with elimination of all rows at once.
        #[test]
        fn solvable_equations_are_solved(
            part in 1_u32..40,
            choices in proptest::collection::vec((any::<[u32; 4]>(), 0_u64..4), 0..170),
        ) {
            let equations: Vec<Equation<4>> = choices
                .into_iter()
                .map(|(choice, value)| equation(part, choice, value))
                .collect();
            let bits = equations.iter().map(|equation| {
                let mut row = [0; 9];
                equation.cells.iter().for_each(|&cell| row[cell as usize / 64] |= 1 << (cell % 64));
                row
            });
            let values = equations.iter().map(|equation| equation.value).collect();
            let mut rows = Rows::<9> { columns: 4 * 40, bits: bits.collect(), values };
            let mut cells = vec![0; 4 * part as usize];
            let solved = solve(&equations, &mut cells);
            prop_assert_eq!(solved.is_some(), rows.eliminate().is_some());
            for equation in equations.iter().filter(|_| solved.is_some()) {
                let sum = equation.cells.iter().fold(0, |sum, &cell| sum ^ cells[cell as usize]);
                prop_assert_eq!(sum, equation.value);
            }
            prop_assert!(solved.is_some() || cells.iter().all(|&cell| cell == 0));
        }
    }
}
