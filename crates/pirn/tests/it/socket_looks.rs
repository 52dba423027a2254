//! Operations on sockets that do not wait find what is there, although no event has reported it.

use std::io::{Read, Write};
use std::net::TcpStream as StdStream;
use std::time::Duration;

use pirn::channel::never;
use pirn::future::block_on;
use pirn::net::{Interest, TcpStream, UnixListener};
use pirn::select::Select;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, runtime};
use crate::sockets_util::{connection, listener};
use crate::util::{Directory, eventually};

/// Reads fewer bytes than there is room for, so no more is expected without an event.
fn read_short(stream: &TcpStream) {
    let mut stream = stream;
    assert_eq!(stream.read(&mut [0; 16]).expect("it is there"), 2);
}

fn write(stream: &TcpStream) {
    let mut stream = stream;
    stream.write_all(b"ab").expect("there is room");
}

/// Alone and beside a case that never wins, without a limit and with one that has passed.
// Proves: N5-X-select.
#[test]
fn a_select_that_does_not_wait_accepts_what_has_come() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        jobs.add(|| {
            for (beside, limit) in
                [(false, None), (true, None), (true, Some(Duration::ZERO))]
            {
                let listener = listener();
                let (other, mut accept) = (never::<()>(), listener.accept_case());
                let mut other = other.recv_case();
                let mut select = Select::new();
                let index = usize::from(beside);
                if beside {
                    select.add(&mut other);
                }
                select.add(&mut accept);
                let mut look = || match limit {
                    None => select.try_wait(),
                    Some(limit) => select.wait_timeout(limit).expect("no interrupt"),
                };
                assert_eq!(look(), None);
                let address = listener.local_addr().expect("an address");
                let client = StdStream::connect(address).expect("a connection");
                eventually("the connection is seen", || look() == Some(index));
                drop((select, client));
                accept.take().expect("a connection");
            }
            let place = Directory::new();
            let path = place.at("socket");
            let listener = UnixListener::bind(&path).expect("a free name");
            let mut accept = listener.accept_case();
            let mut select = Select::new();
            select.add(&mut accept);
            assert_eq!(select.try_wait(), None);
            let client = std::os::unix::net::UnixStream::connect(&path);
            assert_eq!(select.try_wait(), Some(0));
            drop((select, client));
            accept.take().expect("a connection");
        });
        jobs.run(executor, 2);
    }
}

/// After a read that took all there was. Of two such sockets each has its turn.
// Proves: N5-X-select.
#[test]
fn a_select_that_does_not_wait_sees_what_has_come_since() {
    runtime(2).run(|| {
        let (pair, more) = (connection(), connection());
        for (one, other) in [&pair, &more] {
            write(other);
            read_short(one);
            write(other);
        }
        let mut seen = [0, 0];
        eventually("each of them is seen", || {
            let mut first = pair.0.ready_case(Interest::Readable);
            let mut second = more.0.ready_case(Interest::Readable);
            let mut select = Select::new();
            select.add(&mut first);
            select.add(&mut second);
            if let Some(index) = select.try_wait() {
                seen[index] += 1;
            }
            seen.iter().all(|count| *count > 0)
        });
    });
}

/// On a fiber, inside a poll: such a call would panic if it had to wait.
// Proves: S3.
#[test]
fn a_call_inside_a_poll_finds_what_has_come() {
    runtime(1).run(|| {
        let (one, other) = connection();
        let come = || {
            let mut ready = one.ready_case(Interest::Readable);
            let mut select = Select::new();
            select.add(&mut ready);
            select.try_wait() == Some(0)
        };
        block_on(async {
            write(&other);
            eventually("it has come", come);
            read_short(&one);
            write(&other);
            eventually("it has come again", come);
            read_short(&one);
            write(&other);
            eventually("it has come a third time", come);
            let mut ready = one.ready_case(Interest::Readable);
            let mut select = Select::new();
            select.add(&mut ready);
            assert_eq!(select.wait(), Ok(0));
        });
    });
}
