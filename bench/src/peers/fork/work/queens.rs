//! All ways to place queens that do not attack each other, one on each row.

use std::ops::Range;

use super::super::library::Library;
use super::Count;

/// A board of some size.
pub(in crate::peers::fork) struct Queens {
    size: u32,
    ways: u64,
}

impl Queens {
    /// Returns the largest board with at most this many ways to place queens from the first row on.
    pub(in crate::peers::fork) fn new(places: u64) -> Queens {
        let fits = |(_, needed, _): &&(u32, u64, u64)| *needed <= places;
        let (size, _, ways) = *BOARDS.iter().rev().find(fits).unwrap_or(&BOARDS[0]);
        Queens { size, ways }
    }
}

impl Count for Queens {
    fn expected(&self) -> u64 {
        self.ways
    }

    fn count<L: Library>(&self, scope: &mut L::Scope<'_>) -> u64 {
        let board = Board {
            size: self.size,
            free: (1 << self.size) - 1,
            left: 0,
            right: 0,
        };
        rows::<L>(scope, board, ROWS)
    }
}

/// The next row, with the attacks of the queens on earlier rows. A bit is a column.
#[derive(Clone, Copy)]
struct Board {
    size: u32,
    /// Columns without a queen.
    free: u32,
    /// Columns attacked along the diagonals to the left, and to the right.
    left: u32,
    right: u32,
}

impl Board {
    /// Returns the columns that are not attacked.
    fn open(self) -> u32 {
        self.free & !self.left & !self.right
    }

    /// Returns the row below this one, with a queen here on the column of this bit.
    fn with(self, column: u32) -> Board {
        Board {
            size: self.size,
            free: self.free & !column,
            left: (self.left | column) << 1,
            right: (self.right | column) >> 1,
        }
    }

    /// Returns the number of ways from here.
    fn count(self) -> u64 {
        if self.free == 0 {
            return 1;
        }
        let mut open = self.open();
        let mut ways = 0;
        while open != 0 {
            let column = open & open.wrapping_neg();
            open ^= column;
            ways += self.with(column).count();
        }
        ways
    }
}

/// Returns the number of ways from here, dividing the first `divided` rows.
fn rows<L: Library>(scope: &mut L::Scope<'_>, board: Board, divided: u32) -> u64 {
    if divided == 0 || board.free == 0 {
        return board.count();
    }
    columns::<L>(scope, board, divided, 0..board.size)
}

fn columns<L: Library>(
    scope: &mut L::Scope<'_>,
    board: Board,
    divided: u32,
    range: Range<u32>,
) -> u64 {
    if range.len() == 1 {
        let column = board.open() & (1 << range.start);
        return match column {
            0 => 0,
            _ => rows::<L>(scope, board.with(column), divided - 1),
        };
    }
    let middle = range.start.midpoint(range.end);
    let (a, b) = L::join(
        scope,
        |scope| columns::<L>(scope, board, divided, range.start..middle),
        |scope| columns::<L>(scope, board, divided, middle..range.end),
    );
    a + b
}

/// Below them are some tens of microseconds of work each: arbitrary.
const ROWS: u32 = 3;

/// Size, queens placed while searching it, solutions.
const BOARDS: &[(u32, u64, u64)] = &[
    (6, 152, 4),
    (7, 551, 40),
    (8, 2_056, 92),
    (9, 8_393, 352),
    (10, 35_538, 724),
    (11, 166_925, 2_680),
    (12, 856_188, 14_200),
    (13, 4_674_889, 73_712),
];
