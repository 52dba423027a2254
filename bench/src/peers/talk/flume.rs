//! flume: channels between plain threads.

use crate::case::{Kind, Talk};
use crate::child::{Job, Outcome, Skip};

use super::blocking::{messages, ping_pong};
use super::channel::Flume;
use super::home::Threads;

/// A note on the use of flume.
pub(in crate::peers) const NOTE: &str = "its channels between plain threads";

pub(in crate::peers) fn run(job: &Job) -> Outcome {
    let Kind::Talk(work) = job.kind else {
        return Err(Skip("channels only"));
    };
    match work {
        Talk::PingPong(place) => ping_pong::<Flume, Threads>(job, place),
        Talk::Messages(shape) => messages::<Flume, Threads>(job, shape),
        Talk::Select(_) | Talk::Crowd(_) | Talk::Timer | Talk::Sleepers => {
            Err(Skip("channels only"))
        }
    }
}
