//! The part of a terminal emulator that is needed for the visible contents: text, its position, and
//! which of the two screens is shown. Colors are ignored.

/// A screen, as it is after some bytes.
pub(crate) struct Emulator {
    cells: Vec<Vec<char>>,
    /// The first screen, while the other one is shown.
    first: Vec<Vec<char>>,
    /// The position of its cursor.
    saved: (usize, usize),
    row: usize,
    column: usize,
    /// The other screen is shown, which programs draw on.
    pub(crate) alternate: bool,
}

impl Emulator {
    /// Returns the screen after `bytes` on a terminal of this size.
    pub(crate) fn after(bytes: &[u8], columns: usize, rows: usize) -> Emulator {
        let mut screen = Emulator {
            cells: vec![vec![' '; columns]; rows],
            first: vec![vec![' '; columns]; rows],
            saved: (0, 0),
            row: 0,
            column: 0,
            alternate: false,
        };
        let text = String::from_utf8_lossy(bytes);
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                '\u{1b}' => screen.escape(&mut rest),
                '\r' => screen.column = 0,
                '\n' => screen.row += 1,
                c if c.is_control() => {}
                c => screen.put(c),
            }
        }
        screen
    }

    /// Returns the lines.
    pub(crate) fn text(&self) -> String {
        let lines = self
            .cells
            .iter()
            .map(|line| line.iter().collect::<String>());
        let lines: Vec<_> = lines.map(|line| line.trim_end().to_owned()).collect();
        lines.join("\n")
    }

    fn show(&mut self, alternate: bool) {
        if alternate != self.alternate {
            std::mem::swap(&mut self.cells, &mut self.first);
            self.alternate = alternate;
            let cursor = (self.row, self.column);
            (self.row, self.column) = self.saved;
            self.saved = cursor;
        }
    }

    fn put(&mut self, c: char) {
        let line = self.cells.get_mut(self.row);
        if let Some(cell) = line.and_then(|line| line.get_mut(self.column)) {
            *cell = c;
        }
        self.column += 1;
    }

    fn escape(&mut self, rest: &mut std::str::Chars<'_>) {
        if rest.clone().next() != Some('[') {
            rest.next();
            return;
        }
        rest.next();
        let mut parameters = String::new();
        let last = loop {
            match rest.next() {
                Some(c @ '@'..='~') => break c,
                Some(c) => parameters.push(c),
                // The sequence is not complete yet.
                None => return,
            }
        };
        let number = |at: usize| -> usize {
            let number = parameters.split(';').nth(at);
            number.and_then(|number| number.parse().ok()).unwrap_or(1)
        };
        match last {
            'H' => (self.row, self.column) = (number(0) - 1, number(1) - 1),
            'J' => self.cells.iter_mut().for_each(|line| line.fill(' ')),
            'h' if parameters == "?1049" => self.show(true),
            'l' if parameters == "?1049" => self.show(false),
            _ => {}
        }
    }
}
