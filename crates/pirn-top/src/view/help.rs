//! The keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear, Paragraph};

const KEYS: &str = "\
q  Ctrl-C        quit
?                these keys
1  2  3  Tab     fibers, workers, decisions
↑ ↓ PgUp PgDn    move the cursor, or scroll
Home End         to the first, to the last
← →              order by the column before, after
r                the other way round
Enter            one fiber, with its frames
/                filter: words that all must fit
                   state:parked reason:recv worker:0
                   id:17 name:x, or any text
Esc              back; no filter
p  Space         pause, go on
a worker is busy if its fiber goes on and on, so
that of its fibers only that one is known";

pub(super) fn draw(frame: &mut Frame<'_>, screen: Rect) {
    let rows = KEYS.lines().count() as u16 + 2;
    let columns = KEYS.lines().map(|line| line.chars().count()).max();
    let columns = columns.unwrap_or(0) as u16 + 4;
    let area = Rect {
        x: screen.x + screen.width.saturating_sub(columns) / 2,
        y: screen.y + screen.height.saturating_sub(rows) / 2,
        width: columns.min(screen.width),
        height: rows.min(screen.height),
    };
    frame.render_widget(Clear, area);
    let block = Block::bordered().title(" keys ");
    frame.render_widget(Paragraph::new(KEYS).block(block), area);
}
