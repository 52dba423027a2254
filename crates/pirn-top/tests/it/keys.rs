//! The action of each key: a table of keys, from the same initial state.

use pirn_top::model::{App, Column, Page, Wish};
use pirn_top::wire::{Failure, Snapshot};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::fixture;

/// Keys by their names, else letter by letter.
fn parse(keys: &str) -> Vec<KeyEvent> {
    let named = |word: &str| match word {
        "Enter" => Some(KeyCode::Enter),
        "Esc" => Some(KeyCode::Esc),
        "Tab" => Some(KeyCode::Tab),
        "Up" => Some(KeyCode::Up),
        "Down" => Some(KeyCode::Down),
        "Left" => Some(KeyCode::Left),
        "Right" => Some(KeyCode::Right),
        "Home" => Some(KeyCode::Home),
        "End" => Some(KeyCode::End),
        "PgUp" => Some(KeyCode::PageUp),
        "PgDn" => Some(KeyCode::PageDown),
        "Back" => Some(KeyCode::Backspace),
        "Space" => Some(KeyCode::Char(' ')),
        "F1" => Some(KeyCode::F(1)),
        _ => None,
    };
    let events = keys.split(' ').flat_map(|word| match named(word) {
        Some(code) => vec![code],
        None => word.chars().map(KeyCode::Char).collect(),
    });
    events
        .map(|code| KeyEvent::new(code, KeyModifiers::NONE))
        .collect()
}

/// Presses them one after another; returns the wish of the last one.
fn press(app: &mut App, keys: &str) -> Wish {
    let wishes = parse(keys).into_iter().map(|key| app.press(key));
    wishes.last().expect("a key")
}

/// Returns the ids of the shown fibers without their common part.
fn rows(app: &App) -> String {
    let short = |id: &str| match id {
        "4294967296" => 'a',
        "4294967297" => 'b',
        "8589934594" => 'c',
        "4294967299" => 'd',
        "4294967300" => 'e',
        other => panic!("{other}?"),
    };
    app.rows().map(|fiber| short(&fiber.id)).collect()
}

/// Keys, the rows after them, the row of the cursor, the column that orders.
const TABLE: &[(&str, &str, Option<usize>, Column)] = &[
    ("F1", "ebcad", None, Column::Age),
    ("r", "adcbe", None, Column::Age),
    ("Right", "abdec", None, Column::Worker),
    ("Left", "adebc", None, Column::Reason),
    ("> > r", "adebc", None, Column::Stack),
    ("Left Left Left", "dabec", None, Column::Name),
    ("Left Left Left Left", "abdec", None, Column::Id),
    ("Left Left Left Left Left", "dabec", None, Column::SpawnedAt),
    ("> > >", "adcbe", None, Column::Object),
    ("> > > >", "adbec", None, Column::WaitsAt),
    ("Down", "ebcad", Some(0), Column::Age),
    ("j j j", "ebcad", Some(2), Column::Age),
    ("Up", "ebcad", Some(4), Column::Age),
    ("G", "ebcad", Some(4), Column::Age),
    ("End Down", "ebcad", Some(4), Column::Age),
    ("End Home", "ebcad", Some(0), Column::Age),
    ("Home PgDn", "ebcad", Some(2), Column::Age),
    ("G PgUp k", "ebcad", Some(1), Column::Age),
    // The cursor stays on its fiber.
    ("Down r", "adcbe", Some(4), Column::Age),
    ("/ recv Enter", "b", None, Column::Age),
    ("/ RECV", "b", None, Column::Age),
    ("/ recv Esc", "ebcad", None, Column::Age),
    ("/ recv Enter Esc", "ebcad", None, Column::Age),
    ("/ recv Back Back Back Back", "ebcad", None, Column::Age),
    (
        "/ state:parked Space worker:1 Enter",
        "ebc",
        None,
        Column::Age,
    ),
    ("/ state:park Enter", "", None, Column::Age),
    ("/ reason:mutex Enter", "e", None, Column::Age),
    ("/ id:4294967296 Enter", "a", None, Column::Age),
    ("/ name:clerk Enter", "b", None, Column::Age),
    ("/ name:server Enter", "", None, Column::Age),
    ("/ server Enter", "eba", None, Column::Age),
    ("/ 纤 Enter", "c", None, Column::Age),
    ("/ till.rs Enter", "e", None, Column::Age),
    ("/ orders Enter / x Esc", "b", None, Column::Age),
    // While a filter is edited, letters that are keys elsewhere are letters.
    ("/ q?123jkrp", "", None, Column::Age),
];

// Proves: P15-screen.
#[test]
fn keys_order_filter_and_move() {
    for (keys, expected, cursor, column) in TABLE {
        let mut app = fixture::app();
        app.page_rows = 2;
        assert_eq!(press(&mut app, keys), Wish::Draw, "{keys}");
        assert_eq!(rows(&app), *expected, "{keys}");
        assert_eq!(app.cursor(), *cursor, "{keys}");
        assert_eq!(app.order.column, *column, "{keys}");
    }
}

#[test]
fn keys_choose_what_is_shown() {
    let mut app = fixture::app();
    for (keys, page) in [
        ("2", Page::Workers),
        ("3", Page::Decisions),
        ("1", Page::Fibers),
        ("Tab", Page::Workers),
        ("Tab", Page::Decisions),
        ("Tab", Page::Fibers),
    ] {
        press(&mut app, keys);
        assert_eq!(app.page, page, "{keys}");
    }
    // The table does not move while it is hidden.
    press(&mut app, "2 Down r / x");
    assert!(app.cursor().is_none() && app.typing.is_none());
    press(&mut app, "?");
    assert!(app.help);
    press(&mut app, "F1");
    assert!(!app.help);
    press(&mut app, "? Esc");
    assert!(!app.help);
    press(&mut app, "p");
    assert!(app.paused);
    press(&mut app, "Space");
    assert!(!app.paused);
}

// Proves: P15-screen.
#[test]
fn one_fiber_is_looked_at() {
    let mut app = fixture::app();
    assert_eq!(press(&mut app, "Enter"), Wish::Draw, "there is no cursor");
    let wish = press(&mut app, "Down Down Enter");
    assert_eq!(wish, Wish::Ask("4294967297".to_owned()));
    app.take_fiber("4294967297", Ok(fixture::clerk()));
    press(&mut app, "Down Down Up PgDn");
    let detail = app.detail.as_ref().expect("it is looked at");
    assert_eq!((detail.scroll, detail.fiber.is_some()), (11, true));
    press(&mut app, "Home");
    assert_eq!(app.detail.as_ref().map(|detail| detail.scroll), Some(0));
    press(&mut app, "End");
    assert!(app.detail.as_ref().is_some_and(|detail| detail.scroll > 0));
    // It has ended meanwhile: the earlier content stays, with the message.
    app.take_fiber("4294967297", Err(Failure::CutOff));
    let detail = app.detail.as_ref().expect("it is looked at");
    assert!(detail.fiber.is_some() && detail.said.is_some());
    press(&mut app, "Esc");
    assert!(app.detail.is_none());
    assert_eq!(app.cursor(), Some(1));
}

#[test]
fn the_program_ends_when_asked() {
    for keys in ["q", "? q", "Down Enter q", "2 q"] {
        assert_eq!(press(&mut fixture::app(), keys), Wish::Quit, "{keys}");
    }
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    for keys in ["F1", "/ x", "?"] {
        let mut app = fixture::app();
        press(&mut app, keys);
        assert_eq!(app.press(interrupt), Wish::Quit, "{keys}");
    }
    let mut released = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
    released.kind = KeyEventKind::Release;
    assert_eq!(fixture::app().press(released), Wish::Draw);
}

#[test]
fn nothing_is_there_to_be_moved_in() {
    for mut app in [App::new("x"), {
        let mut app = App::new("x");
        app.take_snapshot(Ok(Snapshot::default()));
        app
    }] {
        for keys in [
            "Down",
            "Up",
            "End",
            "PgUp",
            "Enter",
            "r",
            "/ x Enter",
            "Left",
        ] {
            assert_eq!(press(&mut app, keys), Wish::Draw, "{keys}");
        }
        assert_eq!(app.rows().len(), 0);
    }
}
