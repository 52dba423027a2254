//! The terminal, taken over and given back.
//!
//! It is given back when the value is dropped: at the end, after an error or a signal, and while
//! a panic unwinds; and by the panic hook before the panic's message, which would be lost on the other
//! screen.

use std::io::{self, Stdout};
use std::mem::ManuallyDrop;
use std::panic;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// A terminal that is ours.
#[derive(Debug)]
pub struct Screen {
    /// Not dropped: that would show the cursor, as `GiveBack` does, and panic if the terminal has gone.
    pub(super) terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    _given_back: GiveBack,
}

#[derive(Debug)]
struct GiveBack;

impl Screen {
    /// Takes it over.
    ///
    /// # Errors
    /// What the system says; there may be no terminal.
    pub fn take() -> io::Result<Screen> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            give_back();
            before(panic);
        }));
        enable_raw_mode()?;
        // From here on it is given back whatever happens.
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

/// Any number of times.
fn give_back() {
    use ratatui::crossterm::cursor::Show;
    // If the terminal has gone there is nothing to be done.
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}
