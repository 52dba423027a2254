//! Known bugs are found, correct programs pass, failures replay.
#![expect(
    clippy::disallowed_methods,
    reason = "tests of the campaign itself, on plain threads"
)]

mod aborts;
mod bounds;
mod cases;
mod corpus;
mod diagram;
mod effects;
mod ends;
mod escapes;
mod found;
mod histories;
mod jobs;
mod passes;
mod points;
mod properties;
mod replays;
mod reports;
mod searches;
mod stuck;
mod time;
#[path = "../../../pirn/src/base/tests/unmeasured.rs"]
mod unmeasured;
