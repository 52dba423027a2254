//! The action of each key.
//!
//! | key | where | does |
//! |---|---|---|
//! | `q`, Ctrl-C | everywhere (`q` not while typing) | ends the program |
//! | `?` | everywhere | shows or hides the keys |
//! | `1` `2` `3`, Tab | pages | shows fibers, workers, decisions; the next of them |
//! | ↑ ↓, `k` `j`, PgUp PgDn, Home End, `g` `G` | fibers, one fiber | moves the cursor; scrolls |
//! | ← →, `<` `>` | fibers | orders by the column before, the next one |
//! | `r` | fibers | reverses the order |
//! | `/` | fibers | edits the filter; Enter keeps it, Esc discards it |
//! | Esc | everywhere | goes back: from help, a fiber, a filter |
//! | Enter | fibers | shows the fiber with its frames |
//! | `p`, Space | everywhere | pauses or resumes updates |

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::app::{App, Detail, Page};
use super::filter::Filter;

/// The program's action after a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wish {
    /// Draw.
    Draw,
    /// Request the frames of a fiber.
    Ask(String),
    /// End.
    Quit,
}

impl App {
    /// Performs the action of `key`.
    pub fn press(&mut self, key: KeyEvent) -> Wish {
        if key.kind == KeyEventKind::Release {
            return Wish::Draw;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && matches!(key.code, KeyCode::Char('c')) {
            return Wish::Quit;
        }
        if let Some(typing) = self.typing.take() {
            self.type_filter(typing, key.code);
            return Wish::Draw;
        }
        match key.code {
            KeyCode::Char('q') => return Wish::Quit,
            KeyCode::Char('?') => self.help = !self.help,
            KeyCode::Esc => self.go_back(),
            KeyCode::Char('p' | ' ') => self.paused = !self.paused,
            // On the page of keys, every other key closes it.
            _ if self.help => self.help = false,
            _ if self.detail.is_some() => self.press_in_detail(key.code),
            KeyCode::Char('1') => self.page = Page::Fibers,
            KeyCode::Char('2') => self.page = Page::Workers,
            KeyCode::Char('3') => self.page = Page::Decisions,
            KeyCode::Tab => self.page = self.page.next(),
            _ if self.page == Page::Fibers => return self.press_in_fibers(key.code),
            _ => {}
        }
        Wish::Draw
    }

    fn press_in_fibers(&mut self, key: KeyCode) -> Wish {
        match key {
            KeyCode::Enter => {
                let Some(id) = self.cursor().and(self.selected.clone()) else {
                    return Wish::Draw;
                };
                self.detail = Some(Detail {
                    id: id.clone(),
                    ..Detail::default()
                });
                return Wish::Ask(id);
            }
            KeyCode::Char('/') => {
                self.typing = Some(self.filter.text().to_owned());
            }
            KeyCode::Left | KeyCode::Char('<') => self.order = self.order.next(false),
            KeyCode::Right | KeyCode::Char('>') => self.order = self.order.next(true),
            KeyCode::Char('r') => self.order.descending = !self.order.descending,
            key => {
                let page = isize::try_from(self.page_rows.max(1)).unwrap_or(isize::MAX);
                if let Some(by) = motion(key, page) {
                    self.move_cursor(by);
                }
                return Wish::Draw;
            }
        }
        self.arrange();
        Wish::Draw
    }

    fn press_in_detail(&mut self, key: KeyCode) {
        let Some(detail) = &mut self.detail else {
            return;
        };
        if let Some(by) = motion(key, 10) {
            let by = by.clamp(-10_000, 10_000) as i16;
            detail.scroll = detail.scroll.saturating_add_signed(by).min(10_000);
        }
    }

    fn type_filter(&mut self, mut typing: String, key: KeyCode) {
        match key {
            KeyCode::Enter => self.filter = Filter::new(&typing),
            // The earlier content stays.
            KeyCode::Esc => {}
            KeyCode::Backspace => {
                typing.pop();
                self.typing = Some(typing);
            }
            KeyCode::Char(c) if !c.is_control() => {
                typing.push(c);
                self.typing = Some(typing);
            }
            _ => self.typing = Some(typing),
        }
        self.arrange();
    }

    fn go_back(&mut self) {
        if self.help {
            self.help = false;
        } else if self.detail.is_some() {
            self.detail = None;
        } else {
            self.filter = Filter::default();
            self.arrange();
        }
    }
}

impl Page {
    fn next(self) -> Page {
        match self {
            Page::Fibers => Page::Workers,
            Page::Workers => Page::Decisions,
            Page::Decisions => Page::Fibers,
        }
    }
}

/// Returns the distance that a key moves, with pages of `page` rows.
fn motion(key: KeyCode, page: isize) -> Option<isize> {
    match key {
        KeyCode::Up | KeyCode::Char('k') => Some(-1),
        KeyCode::Down | KeyCode::Char('j') => Some(1),
        KeyCode::PageUp => Some(-page),
        KeyCode::PageDown => Some(page),
        KeyCode::Home | KeyCode::Char('g') => Some(isize::MIN + 1),
        KeyCode::End | KeyCode::Char('G') => Some(isize::MAX),
        _ => None,
    }
}
