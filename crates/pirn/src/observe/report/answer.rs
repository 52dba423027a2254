//! The workers' side of a snapshot: each answers for its own fibers, between two dispatches.
//!
//! Owns: what a worker enters in the book. Does not own: the question (`snapshot`), or how a fiber
//! is described (`describe`).

use std::sync::Arc;

use super::describe::{self, Descriptions};
use super::question::{Question, WorkerInfo};
use super::snapshot::{Snapshots, is_wanted};
use super::walk::all_fibers;
use crate::fiber::FiberPtr;
use crate::report::fiber_info::FiberInfo;
use crate::report::summary::Tally;
use crate::sched::observer::Observer;
use crate::sched::pool::shared::Pool;
use crate::sched::worker::run::Worker;

impl Observer for Snapshots {
    fn answer(&self, worker: &Worker, running: Option<FiberPtr>) {
        let index = worker.index();
        let (question, want, number) = {
            let book = self.book.lock();
            let want = book.wants.get(index).copied().flatten();
            // A request that was made since the worker has read the number is seen by this look,
            // and makes the worker look again.
            let has_answered = book.answers.iter().any(|a| a.worker == index);
            let is_asked = is_wanted(&book.wants, index);
            if !book.open || has_answered || !is_asked {
                // The asker has left, has the answer, or does not ask this worker.
                return;
            }
            (book.question, want, book.number)
        };
        let mut fibers = Descriptions::answering(question);
        let (mut links, mut counted, mut visited) = (Vec::new(), Vec::new(), 0);
        match (question, want) {
            (Question::Links, Some(want)) => {
                (visited, links) = describe::describe_links(worker, want.left);
            }
            (Question::Piece | Question::Fiber(_), Some(want)) => {
                fibers = Descriptions::of_piece(question, want);
                (visited, counted) =
                    describe::describe_piece(worker, running, want, &mut fibers);
            }
            _ => describe::describe_started(worker, running, &mut fibers),
        }
        let answer = WorkerInfo {
            worker: index,
            answered: true,
            silent: None,
            fibers: fibers.infos,
            others: Tally::default(),
            counted,
            visited,
            links,
            ready: worker.count_ready(),
            fresh: worker.remote().fresh(),
        };
        let mut book = self.book.lock();
        // The asker does not read an answer that comes too late.
        if book.open && book.number == number {
            book.answers.push(answer);
            drop(book);
            if question == Question::Links {
                // The next piece begins behind this one.
                for _ in 0..visited {
                    let _ = worker.next_of_walk();
                }
            }
            self.turned.notify_all();
        }
    }

    fn fibers(&self, pool: &Arc<Pool>) -> Vec<FiberInfo> {
        // The list stays: a worker that waits for a processor is asked again.
        all_fibers(pool, &|_| true).0
    }
}
