//! Takes over the terminal, and restores it.
//!
//! It is restored when the [`Screen`] is dropped: at the end, after an error or a signal, and while
//! a panic unwinds. The panic hook restores it before the panic's message, which would be lost on
//! the alternate screen.

use std::io::{self, Stdout};
use std::mem::ManuallyDrop;
use std::panic;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// A terminal in the program's mode.
#[derive(Debug)]
pub struct Screen {
    /// Not dropped: that would show the cursor, as `GiveBack` does, and panic if the terminal has
    /// hung up.
    pub(super) terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    _given_back: GiveBack,
}

#[derive(Debug)]
struct GiveBack;

impl Screen {
    /// Takes over the terminal.
    ///
    /// # Errors
    /// The system's error; there may be no terminal.
    pub fn take() -> io::Result<Screen> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
        enable_raw_mode()?;
        // From here on it is restored in every case.
        let given_back = GiveBack;
        execute!(io::stdout(), EnterAlternateScreen)?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        Ok(Screen {
            terminal: ManuallyDrop::new(terminal),
            _given_back: given_back,
        })
    }
}

impl Drop for GiveBack {
    fn drop(&mut self) {
        give_back();
    }
}

/// Restores the terminal; may be called any number of times.
fn give_back() {
    use ratatui::crossterm::cursor::Show;
    // Errors are ignored: the terminal may have hung up.
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}
