//! kanal: channels between plain threads.

use crate::case::{Kind, Talk};
use crate::child::{Job, Outcome, Skip};

use super::blocking::{messages, ping_pong};
use super::channel::Kanal;
use super::home::Threads;

/// A note on the use of kanal.
pub(in crate::peers) const NOTE: &str = "its channels between plain threads";

pub(in crate::peers) fn run(job: &Job) -> Outcome {
    let Kind::Talk(work) = job.kind else {
        return Err(Skip("channels only"));
    };
    match work {
        Talk::PingPong(place) => ping_pong::<Kanal, Threads>(job, place),
        Talk::Messages(shape) => messages::<Kanal, Threads>(job, shape),
        Talk::Select(_) | Talk::Crowd(_) | Talk::Timer | Talk::Sleepers => {
            Err(Skip("channels only"))
        }
    }
}
