//! Errors of this library as errors of I/O: `?` converts them, and their reason can be found.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use pirn::Interrupt;
use pirn::cancel::Token;
use pirn::channel::{self, broadcast};
use pirn::scope::TaskGroup;
use pirn::spawn::{Builder, JoinError, Rejected};
use pirn::sync::{AcquireError, Event, Semaphore};

const MOMENT: Duration = Duration::from_millis(1);

/// Converts an error as `?` does.
fn kind<E>(error: E) -> ErrorKind
where
    io::Error: From<E>,
{
    let convert = || -> io::Result<()> { Err(error)? };
    convert().unwrap_err().kind()
}

#[test]
fn closed_and_empty_channels_have_kinds() {
    let (tx, rx) = channel::bounded(1);
    assert_eq!(kind(rx.try_recv().unwrap_err()), ErrorKind::WouldBlock);
    assert_eq!(
        kind(rx.recv_timeout(MOMENT).unwrap_err()),
        ErrorKind::TimedOut
    );
    tx.send(1).unwrap();
    assert_eq!(kind(tx.try_send(2).unwrap_err()), ErrorKind::WouldBlock);
    assert_eq!(
        kind(tx.send_timeout(2, MOMENT).unwrap_err()),
        ErrorKind::TimedOut
    );
    drop(rx);
    assert_eq!(kind(tx.send(2).unwrap_err()), ErrorKind::BrokenPipe);
    assert_eq!(kind(tx.try_send(2).unwrap_err()), ErrorKind::BrokenPipe);
    assert_eq!(
        kind(tx.send_timeout(2, MOMENT).unwrap_err()),
        ErrorKind::BrokenPipe
    );
    let (tx, rx) = channel::bounded::<u8>(1);
    drop(tx);
    assert_eq!(kind(rx.recv().unwrap_err()), ErrorKind::UnexpectedEof);
    assert_eq!(kind(rx.try_recv().unwrap_err()), ErrorKind::UnexpectedEof);
    assert_eq!(
        kind(rx.recv_timeout(MOMENT).unwrap_err()),
        ErrorKind::UnexpectedEof
    );
}

#[test]
fn broadcasts_have_kinds() {
    let (tx, mut rx) = broadcast::channel(1);
    assert_eq!(kind(rx.try_recv().unwrap_err()), ErrorKind::WouldBlock);
    assert_eq!(
        kind(rx.recv_timeout(MOMENT).unwrap_err()),
        ErrorKind::TimedOut
    );
    for lost in 0..3 {
        tx.send(lost).unwrap();
    }
    assert_eq!(kind(rx.recv().unwrap_err()), ErrorKind::Other);
    assert_eq!(rx.recv(), Ok(2));
    drop(tx);
    assert_eq!(kind(rx.recv().unwrap_err()), ErrorKind::UnexpectedEof);
}

#[test]
fn refusals_have_kinds() {
    let doors = Semaphore::new(0);
    doors.close();
    let closed = doors.acquire(1).unwrap_err();
    assert_eq!(
        (closed, kind(closed)),
        (AcquireError::Closed, ErrorKind::BrokenPipe)
    );
    assert_eq!(kind(Rejected::OutOfMemory), ErrorKind::OutOfMemory);
    let much = Builder::new().stack_size(usize::MAX).spawn(|| 7);
    assert_eq!(kind(much.unwrap_err()), ErrorKind::OutOfMemory);
    assert_eq!(kind(JoinError::NotRun), ErrorKind::Other);
    assert_eq!(kind(Rejected::Cancelled), ErrorKind::Other);
}

/// The error of `timeout` is that of a call with a limit of its own.
#[test]
fn a_limit_that_has_passed_has_a_kind() {
    let elapsed = pirn::timeout(MOMENT, || Event::manual().wait()).unwrap_err();
    assert_eq!(kind(elapsed), ErrorKind::TimedOut);
}

/// The reason of an interrupt is found in them.
#[test]
fn interrupts_are_found_in_errors_of_io() {
    let reason = Interrupt::TimedOut;
    let errors: [io::Error; 5] = [
        channel::SendError::Interrupted(7, reason).into(),
        channel::RecvError::Interrupted(reason).into(),
        broadcast::RecvError::Interrupted(reason).into(),
        AcquireError::Interrupted(reason).into(),
        JoinError::Interrupted(reason).into(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::TimedOut, "{error:?}");
        assert_eq!(Interrupt::of(&error), Some(reason), "{error:?}");
    }
}

/// Also in that of a spawn that was interrupted at the limit of its group.
#[test]
fn an_interrupt_is_found_in_the_error_of_a_spawn() {
    let stop = Token::new();
    let group = TaskGroup::new().limit(1);
    let over = Arc::new(Event::manual());
    stop.enter(|| {
        let last = Arc::clone(&over);
        group.spawn(move || _ = last.wait()).unwrap();
        stop.cancel();
        let rejected = group.spawn(|| ()).unwrap_err();
        assert_eq!(rejected.reason(), Rejected::Cancelled);
        let error = io::Error::from(rejected);
        assert_eq!(Interrupt::of(&error), Some(Interrupt::Cancelled));
    });
    over.set();
}

/// `Debug` shows what an error has, and nothing of how it is made.
#[test]
fn errors_debug_as_what_they_hold() {
    let elapsed = pirn::timeout(MOMENT, || Event::manual().wait());
    assert_eq!(format!("{:?}", elapsed.unwrap_err()), "Elapsed");
    let rejected = Builder::new().stack_size(usize::MAX).spawn(|| ());
    let text = format!("{:?}", rejected.unwrap_err());
    assert!(text.contains("OutOfMemory"), "{text}");
    let panicked = pirn::spawn(|| panic!("on purpose")).join().unwrap_err();
    let text = format!("{panicked:?}");
    assert!(text.contains("on purpose"), "{text}");
}
