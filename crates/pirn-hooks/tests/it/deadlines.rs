//! Deadlines and cancellations of the code around a call.

use std::env;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::process::{self, Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pirn::cancel::Token;
use pirn::{spawn, timeout, yield_now};
use pirn_hooks::within;

use crate::fixture::on_one_worker;
use crate::raw;

type Named = (&'static str, Box<dyn Fn() -> io::Result<()> + Send>);

/// Makes a call with the first object. The second one is kept until the call is dropped.
fn waits<T: Send + 'static, K: Send + 'static>(
    name: &'static str,
    (object, kept): (T, K),
    call: fn(&T) -> io::Result<usize>,
) -> Named {
    let call = move || -> io::Result<()> {
        let _ = &kept;
        call(&object).map(drop)
    };
    (name, Box::new(call))
}

/// Makes calls with the second object until one fails. The first one is kept.
fn fills<K: Send + 'static, T: Send + 'static>(
    name: &'static str,
    (kept, object): (K, T),
    call: fn(&T) -> io::Result<usize>,
) -> Named {
    let calls = move || -> io::Result<()> {
        let _ = &kept;
        loop {
            call(&object)?;
        }
    };
    (name, Box::new(calls))
}

fn new_name() -> String {
    static NAMES: AtomicU32 = AtomicU32::new(0);
    let number = NAMES.fetch_add(1, Ordering::Relaxed);
    format!("pirn-hooks-idle-{}-{number}", process::id())
}

fn new_listener() -> (SocketAddr, UnixListener) {
    let address = SocketAddr::from_abstract_name(new_name()).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    (address, listener)
}

/// Opens a new file twice.
fn new_file() -> (File, File) {
    let path = env::temp_dir().join(new_name());
    let [one, other] = [(); 2].map(|()| File::create(&path).unwrap());
    fs::remove_file(path).unwrap();
    (one, other)
}

/// Starts a child that ends when its input does.
fn new_child() -> Child {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command.spawn().unwrap()
}

/// Calls that wait for ever.
fn endless() -> Vec<Named> {
    let all = [reads(), writes(), connects(), locks(), others()];
    all.into_iter().flatten().collect()
}

fn reads() -> Vec<Named> {
    let udp = || (UdpSocket::bind("127.0.0.1:0").unwrap(), ());
    let (emulator, terminal) = raw::terminal();
    vec![
        waits("read", UnixStream::pair().unwrap(), |mut one| {
            one.read(&mut [0])
        }),
        waits("readv", io::pipe().unwrap(), |from| {
            raw::readv(from, &mut [&mut [0]])
        }),
        waits("read of a terminal", (terminal, emulator), |from| {
            raw::read(from, &mut [0])
        }),
        waits("recv_from", udp(), |socket| {
            socket.recv_from(&mut [0]).map(|(length, _)| length)
        }),
        waits("recvmsg", udp(), |socket| raw::recvmsg(socket, &mut [0])),
        waits("recvmmsg", udp(), |socket| raw::recvmmsg(socket, 1, 0)),
    ]
}

fn writes() -> Vec<Named> {
    let pipe = || io::pipe().unwrap();
    let stream = || UnixStream::pair().unwrap();
    let datagrams = UnixDatagram::pair().unwrap();
    vec![
        fills("write", pipe(), |to| raw::write(to, &[0; 4_096])),
        fills("writev", pipe(), |to| raw::writev(to, &[&[0; 4_096]])),
        fills("send", stream(), |to| raw::send(to, &[0; 4_096], 0)),
        fills("sendmsg", stream(), |to| raw::sendmsg(to, &[&[0; 4_096]])),
        fills("sendmmsg", datagrams, |to| raw::sendmmsg(to, 1)),
    ]
}

/// Connections to listeners with full queues, and an accept from one with an empty queue.
fn connects() -> Vec<Named> {
    let (address, listener) = new_listener();
    raw::set_queue(&listener, 0);
    let queued = UnixStream::connect_addr(&address).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let there = tcp.local_addr().unwrap();
    raw::set_queue(&tcp, 1);
    let both = [(); 2].map(|()| TcpStream::connect(there).unwrap());
    // They come into the queue a moment after that.
    pirn::sleep(Duration::from_millis(50)).unwrap();
    vec![
        waits("connect by Unix", (address, (listener, queued)), |to| {
            UnixStream::connect_addr(to).map(|_| 0)
        }),
        waits("connect by TCP", (there, (tcp, both)), |to| {
            TcpStream::connect(to).map(|_| 0)
        }),
        waits("accept", (new_listener().1, ()), |listener| {
            listener.accept().map(|_| 0)
        }),
    ]
}

fn locks() -> Vec<Named> {
    let (one, other) = (new_file(), new_file());
    one.1.lock().unwrap();
    // Such a lock keeps off those of its own process, too.
    raw::lock_description(&other.1).unwrap();
    vec![
        waits("flock", one, |file| file.lock().map(|()| 0)),
        waits("fcntl", other, raw::lock_process),
    ]
}

fn others() -> Vec<Named> {
    let pipe = || io::pipe().unwrap();
    vec![
        waits("poll", pipe(), |from| {
            raw::poll(&[(from.as_raw_fd(), libc::POLLIN)], -1).map(|(ready, _)| ready)
        }),
        waits("select", pipe(), |from| {
            raw::select(&[from.as_raw_fd()], 3_600_000).map(|(ready, ..)| ready)
        }),
        waits("waitpid", (new_child(), ()), |child| {
            raw::waitpid(child.id().cast_signed())
        }),
        waits("waitid", (new_child(), ()), |child| {
            raw::waitid(libc::P_PID, child.id().cast_signed(), libc::WEXITED)
        }),
    ]
}

// Proves: T6.
#[test]
fn a_deadline_is_a_time_out() {
    on_one_worker(|| {
        for (name, call) in endless() {
            let mut ended = Ok(());
            let _ = timeout(Duration::from_millis(5), || ended = call());
            let error = ended.expect_err(name);
            assert_eq!(error.kind(), ErrorKind::TimedOut, "{name}");
            assert_eq!(error.raw_os_error(), Some(libc::ETIMEDOUT), "{name}");
        }
    });
}

// Proves: T6.
#[test]
fn a_cancellation_ends_a_call() {
    on_one_worker(|| {
        for (name, call) in endless() {
            let token = Token::new();
            let inner = token.clone();
            let caller = spawn(move || inner.enter(|| within(call)));
            yield_now();
            token.cancel();
            let error = caller.join().unwrap().expect_err(name);
            assert_eq!(error.raw_os_error(), Some(libc::ECANCELED), "{name}");
        }
    });
}

// Proves: T6.
#[test]
fn a_cancelled_fiber_begins_no_call() {
    on_one_worker(|| {
        let (one, other) = UnixStream::pair().unwrap();
        raw::send(&other, b"abc", 0).unwrap();
        let token = Token::new();
        token.cancel();
        let came = token.enter(|| raw::recv(&one, &mut [0; 8], 0));
        assert_eq!(came.unwrap_err().raw_os_error(), Some(libc::ECANCELED));
        assert_eq!(raw::recv(&one, &mut [0; 8], 0).unwrap(), 3);
    });
}

// Proves: T6.
#[test]
fn a_cancelled_fiber_begins_no_call_that_blocks() {
    // These calls block the thread, so no cancellation would end them.
    on_one_worker(|| {
        let (one, other) = UnixStream::pair().unwrap();
        raw::send(&other, b"a", 0).unwrap();
        let limit = Some(Duration::from_millis(100));
        one.set_read_timeout(limit).unwrap();
        let mut child = Command::new("sleep").arg("10").spawn().unwrap();
        let id = child.id().cast_signed();
        let token = Token::new();
        token.cancel();
        let [peeked, waited] = token.enter(|| {
            let all = libc::MSG_PEEK | libc::MSG_WAITALL;
            let ends = libc::WEXITED | libc::WSTOPPED;
            [
                raw::recv(&one, &mut [0; 8], all),
                raw::waitid(libc::P_PID, id, ends),
            ]
        });
        assert_eq!(peeked.unwrap_err().raw_os_error(), Some(libc::ECANCELED));
        assert_eq!(waited.unwrap_err().raw_os_error(), Some(libc::ECANCELED));
        child.kill().unwrap();
        child.wait().unwrap();
    });
}

// Proves: T6.
#[test]
fn a_transfer_that_has_begun_returns_its_part() {
    on_one_worker(|| {
        let (one, _other) = UnixStream::pair().unwrap();
        let much = vec![0; 10 << 20];
        let mut sent = Ok(0);
        let _ = timeout(Duration::from_millis(200), || {
            sent = raw::send(&one, &much, 0);
        });
        let sent = sent.unwrap();
        assert!(0 < sent && sent < much.len());
    });
}
