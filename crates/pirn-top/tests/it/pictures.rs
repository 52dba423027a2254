//! Every page at two sizes, as it should look: `tests/pictures/*.txt`.
//!
//! `PIRN_TOP_ACCEPT=1` renews the pictures, which must then be reviewed.

use std::fs;
use std::path::Path;

use pirn_top::model::App;
use pirn_top::view;
use pirn_top::wire::{Failure, Snapshot};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::fixture;

const SIZES: [(u16, u16); 2] = [(80, 24), (200, 50)];

/// Returns the contents of a screen of this size, line by line.
pub(crate) fn picture(app: &App, (columns, rows): (u16, u16)) -> String {
    let mut terminal =
        Terminal::new(TestBackend::new(columns, rows)).expect("a terminal");
    terminal
        .draw(|frame| view::draw(frame, app))
        .expect("drawn");
    let buffer = terminal.backend().buffer();
    let mut text = String::new();
    for row in 0..rows {
        let mut line = String::new();
        let mut column = 0;
        while column < columns {
            let symbol = buffer[(column, row)].symbol();
            line.push_str(symbol);
            // A wide character covers the next cell, too.
            column += unicode_width::UnicodeWidthStr::width(symbol).max(1) as u16;
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[track_caller]
fn compare(name: &str, app: &App) {
    for size in SIZES {
        let seen = picture(app, size);
        let bad = |c: &char| c.is_control() && *c != '\n';
        assert_eq!(seen.chars().find(bad), None, "{name}");
        let file = format!("{name}-{}x{}.txt", size.0, size.1);
        let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures");
        let path = home.join(&file);
        if std::env::var_os("PIRN_TOP_ACCEPT").is_some() {
            fs::create_dir_all(&home).expect("a directory");
            fs::write(&path, &seen).expect("written");
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(seen, expected, "{file}:\n{seen}");
    }
}

fn press(app: &mut App, keys: &[KeyCode]) {
    for key in keys {
        app.press(KeyEvent::new(*key, KeyModifiers::NONE));
    }
}

// Proves: P15-screen.
#[test]
fn the_fibers() {
    compare("fibers", &fixture::app());
}

#[test]
fn a_cursor_and_a_filter() {
    let mut app = fixture::app();
    press(
        &mut app,
        &[KeyCode::Down, KeyCode::Char('/'), KeyCode::Char('t')],
    );
    compare("typing", &app);
    press(
        &mut app,
        &[KeyCode::Char('i'), KeyCode::Enter, KeyCode::Char('p')],
    );
    compare("filtered", &app);
}

// Proves: P15-screen.
#[test]
fn the_workers() {
    let mut app = fixture::app();
    press(&mut app, &[KeyCode::Char('2')]);
    compare("workers", &app);
}

// Proves: P15-screen.
#[test]
fn the_decisions() {
    let mut app = fixture::app();
    press(&mut app, &[KeyCode::Char('3')]);
    compare("decisions", &app);
}

// Proves: P15-screen.
#[test]
fn one_fiber() {
    let mut app = fixture::app();
    press(&mut app, &[KeyCode::Down, KeyCode::Down, KeyCode::Enter]);
    compare("asked", &app);
    app.take_fiber("4294967297", Ok(fixture::clerk()));
    compare("fiber", &app);
}

#[test]
fn the_keys() {
    let mut app = fixture::app();
    press(&mut app, &[KeyCode::Char('?')]);
    compare("help", &app);
}

#[test]
fn nothing_yet_and_no_more() {
    compare("nothing", &App::new("/run/shop"));
    let mut app = App::new("/run/shop");
    app.take_snapshot(Ok(Snapshot::default()));
    compare("empty", &app);
    let mut app = fixture::app();
    app.take_snapshot(Err(Failure::Nothing("/run/shop".into())));
    compare("ended", &app);
}

/// No size of a terminal is too small to be drawn on.
// Proves: P15-screen.
#[test]
fn any_size_will_do() {
    let mut app = fixture::app();
    for keys in [
        &[KeyCode::Char('1')][..],
        &[KeyCode::Down, KeyCode::Char('?')],
        &[KeyCode::Esc, KeyCode::Enter],
        &[KeyCode::Esc, KeyCode::Char('2')],
        &[KeyCode::Char('3')],
        &[KeyCode::Char('1'), KeyCode::Char('/')],
    ] {
        press(&mut app, keys);
        for columns in [0, 1, 2, 7, 20, 60, 500] {
            for rows in [0, 1, 2, 3, 4, 5, 6, 10, 100] {
                let _ = picture(&app, (columns, rows));
            }
        }
    }
}
