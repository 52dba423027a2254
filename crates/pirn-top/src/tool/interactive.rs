//! The loop between keys, answers and the screen.

#![expect(
    clippy::disallowed_methods,
    reason = "a program of plain threads, which looks at others' fibers"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event};
use ratatui::layout::Rect;

use super::args::Args;
use super::asker::{Answer, Asker, Question};
use super::hangup;
use super::signals::Signals;
use super::terminal::Screen;
use crate::model::{App, Wish};
use crate::view;
use crate::wire::{Failure, ask_snapshot};

/// Maximum wait for a key before answers are polled: the delay of an answer on the screen.
/// Arbitrary.
const GLANCE: Duration = Duration::from_millis(50);

/// Shows the answers until the user ends the program.
///
/// # Errors
/// The reason why there is no first answer, or no terminal.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut app = App::new(&args.socket.display().to_string());
    app.order = args.order;
    app.filter = args.filter.clone();
    // Before the terminal is changed, so that an error appears on the ordinary screen.
    app.take_snapshot(Ok(ask_snapshot(&args.socket, args.most)?));
    let asker = Asker::start(&args.socket, args.most).map_err(Failure::System)?;
    let signals = Arc::new(Signals::watch().map_err(Failure::System)?);
    hangup::watch(&signals).map_err(Failure::System)?;
    let screen = Screen::take().map_err(Failure::System)?;
    let followed = follow(&mut app, &asker, screen, &signals, args.interval);
    signals.obey();
    followed.map_err(Failure::System)?;
    app.ended.map_or(Ok(()), Err)
}

fn follow(
    app: &mut App,
    asker: &Asker,
    mut screen: Screen,
    signals: &Signals,
    interval: Duration,
) -> std::io::Result<()> {
    let mut due = Instant::now() + interval;
    let mut waiting = false;
    let mut dirty = true;
    while !signals.has_come() {
        if dirty {
            let size = screen.terminal.size()?;
            app.page_rows = view::table_rows(Rect::from(size), app);
            screen.terminal.draw(|frame| view::draw(frame, app))?;
        }
        dirty = false;
        if event::poll(GLANCE)? {
            dirty = true;
            if let Event::Key(key) = event::read()? {
                match app.press(key) {
                    Wish::Draw => {}
                    Wish::Ask(id) => asker.ask(Question::Fiber(id)),
                    Wish::Quit => return Ok(()),
                }
            }
        }
        while let Some(answer) = asker.answer() {
            dirty = true;
            match answer {
                Answer::Snapshot(answer) => {
                    app.take_snapshot(answer);
                    waiting = false;
                    due = Instant::now() + interval;
                }
                Answer::Fiber(id, answer) => app.take_fiber(&id, answer),
            }
        }
        let wanted = !waiting && !app.paused && app.ended.is_none();
        if wanted && due <= Instant::now() {
            asker.ask(Question::Snapshot);
            waiting = true;
        }
    }
    Ok(())
}
