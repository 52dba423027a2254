//! Models: plain threads wait through the same calls, asleep on the parker of a borrowed header.

use std::sync::Arc;
use std::time::Duration;

use crate::base::tests::explore::explore;
use crate::fiber::state::Code;
use crate::fiber::tests::stage::Block;
use crate::shim::{self, thread};
use crate::wait::park::{park, ticket};
use crate::wait::reason::Reason;
use crate::wait::spec::{How, Spec};

/// Waits on a thread by `spec`, against one waker, and once more against another. Returns the end
/// of the first wait.
fn thread_waits(spec: Spec) -> How {
    // The header that the thread borrows for its first wait.
    let block = Arc::new(Block::new());
    block.stock();
    let ticket = ticket();
    let waker = thread::spawn(String::new(), move || {
        let _ = ticket.wake_with(Code::case(7));
    })
    .expect("a modelled thread");
    let end = park(ticket, &spec);
    waker.join().expect("wake returns");
    // The next wait is not affected by the first one's waker, nor by its parker's token.
    let again = self::ticket();
    let waker = thread::spawn(String::new(), move || assert!(again.wake()));
    let second = park(again, &Spec::of(Reason::Park));
    assert_eq!(second.how, How::Woken(Code::RETRY));
    waker
        .expect("a modelled thread")
        .join()
        .expect("the waker wins");
    end.how
}

#[test]
fn model_threads_wake_against_park() {
    explore("threads_wake_against_park", 3, || {
        let how = thread_waits(Spec::of(Reason::Park));
        assert_eq!(how, How::Woken(Code::case(7)));
    });
}

/// The deadline has passed when the thread is about to sleep. So the wait times out, unless the
/// waker claims it first. Then the thread waits for the waker to finish.
#[test]
fn model_threads_wake_against_the_deadline() {
    explore("threads_wake_against_the_deadline", 3, || {
        let how = thread_waits(Spec::of(Reason::Park).until(Some(shim::now())));
        assert!(
            [How::Woken(Code::case(7)), How::TimedOut].contains(&how),
            "{how:?}"
        );
    });
}

/// A deadline that does not pass changes nothing.
#[test]
fn model_threads_wake_before_the_deadline() {
    explore("threads_wake_before_the_deadline", 3, || {
        let later = shim::now() + Duration::from_secs(1);
        let how = thread_waits(Spec::of(Reason::Park).until(Some(later)));
        assert_eq!(how, How::Woken(Code::case(7)));
    });
}
