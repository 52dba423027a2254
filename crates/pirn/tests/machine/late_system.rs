//! Calls of the library for `late`: files, sockets, processes, signals, and futures of other
//! crates.

use std::io::{self, Read, Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;

use pirn::fs::{self, DirBuilder, File};
use pirn::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use pirn::process::Command;
use pirn::scope::scope;
use pirn::select::Select;
use pirn::spawn;

use crate::util::{Directory, LONG};

const SHORT: Duration = Duration::from_millis(1);

/// Calls everything in this file.
pub(crate) fn all() {
    standard_streams();
    directories();
    files();
    listeners();
    streams();
    polled_streams();
    datagrams();
    processes();
    #[cfg(unix)]
    {
        unix_sockets();
        unix_datagrams();
        bidirectional();
    }
    // ThreadSanitizer defers a signal until a call that it knows, which a sleeping worker never
    // makes.
    #[cfg(all(unix, not(pirn_tsan)))]
    signals();
    #[cfg(not(any(pirn_asan, pirn_tsan)))]
    {
        hyper_parts();
        tokio_parts();
    }
}

fn standard_streams() {
    assert_eq!(pirn::io::stdin().read(&mut [0; 8]).unwrap(), 0);
    pirn::io::stdout().write_all(b"late\n").unwrap();
    pirn::io::stdout().flush().unwrap();
    writeln!(pirn::io::stderr(), "late: written").unwrap();
    let copied = pirn::io::copy(&mut &b"late"[..], &mut io::sink());
    assert_eq!(copied.unwrap(), 4);
}

fn directories() {
    let directory = Directory::new();
    fs::create_dir(directory.at("one")).unwrap();
    fs::create_dir_all(directory.at("two/three")).unwrap();
    let mut builder = DirBuilder::new();
    builder
        .recursive(true)
        .create(directory.at("four/five"))
        .unwrap();
    let entries = fs::read_dir(directory.at("")).unwrap();
    let is_dir =
        |entry: io::Result<fs::DirEntry>| entry.unwrap().metadata().unwrap().is_dir();
    assert_eq!(entries.map(is_dir).filter(|is_dir| *is_dir).count(), 3);
    fs::remove_dir(directory.at("one")).unwrap();
    fs::remove_dir_all(directory.at("two")).unwrap();
    assert!(!fs::exists(directory.at("two")).unwrap());
}

fn files() {
    let directory = Directory::new();
    let [one, two, three] = ["one", "two", "three"].map(|name| directory.at(name));
    fs::write(&one, "late").unwrap();
    assert_eq!(fs::read(&one).unwrap(), b"late");
    assert_eq!(fs::read_to_string(&one).unwrap(), "late");
    assert_eq!(fs::copy(&one, &two).unwrap(), 4);
    fs::hard_link(&one, &three).unwrap();
    fs::rename(&two, &three).unwrap();
    fs::remove_file(&three).unwrap();
    let permissions = fs::metadata(&one).unwrap().permissions();
    fs::set_permissions(&one, permissions).unwrap();
    assert!(fs::symlink_metadata(&one).unwrap().is_file());
    assert!(fs::read_link(&one).is_err());
    assert!(fs::canonicalize(&one).unwrap().is_absolute());
    let mut file = File::options().read(true).write(true).open(&one).unwrap();
    file.lock().unwrap();
    file.unlock().unwrap();
    file.set_len(2).unwrap();
    file.sync_all().unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    file.rewind().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    drop(file.try_clone().unwrap());
    drop((File::open(&one).unwrap(), File::create_new(&two).unwrap()));
    File::create(&three).unwrap().flush().unwrap();
    #[cfg(unix)]
    std::os::unix::fs::FileExt::write_all_at(&file, b"LA", 0).unwrap();
}

fn listeners() {
    let options = pirn::net::ListenOptions::new().backlog(8);
    let listener = TcpListener::bind_with("127.0.0.1:0", &options).unwrap();
    let address = listener.local_addr().unwrap();
    scope(|s| {
        s.spawn(|| TcpStream::connect(address).unwrap());
        s.spawn(|| TcpStream::connect_timeout(&address, LONG).unwrap());
        listener.accept().unwrap();
        listener.incoming().next().unwrap().unwrap();
    });
    scope(|s| {
        s.spawn(|| TcpStream::connect(address).unwrap());
        let mut case = listener.accept_case();
        let mut select = Select::new();
        select.add(&mut case);
        assert_eq!(select.wait(), Ok(0));
        drop(select);
        case.take().unwrap();
    });
    assert!(!pirn::net::lookup_host("localhost:80").unwrap().is_empty());
}

fn streams() {
    let (mut here, mut there) = connected();
    scope(|s| {
        s.spawn(|| here.write_all(b"late").unwrap());
        let mut first = [0];
        assert_eq!(there.peek(&mut first).unwrap(), 1);
        let mut said = [0; 4];
        there.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"late");
    });
    there.set_read_timeout(Some(SHORT)).unwrap();
    assert!(there.read(&mut [0]).is_err());
    there.set_read_timeout(None).unwrap();
    let mut ready = here.ready_case(pirn::net::Interest::Writable);
    let mut select = Select::new();
    select.add(&mut ready);
    assert_eq!(select.wait(), Ok(0));
    drop(select);
    here.shutdown(Shutdown::Write).unwrap();
    assert_eq!(there.try_clone().unwrap().read(&mut [0]).unwrap(), 0);
    here.into_std().unwrap();
}

/// Streams that are polled.
fn polled_streams() {
    use futures_util::{AsyncReadExt, AsyncWriteExt};

    let (mut here, mut there) = connected();
    let said = pirn::future::block_on(async {
        let mut said = [0; 4];
        let write = AsyncWriteExt::write_all(&mut here, b"late");
        let read = AsyncReadExt::read_exact(&mut there, &mut said);
        let (write, read) = futures_util::future::join(write, read).await;
        write.and(read).map(|()| said)
    });
    assert_eq!(&said.unwrap(), b"late");
}

/// Returns two streams that are connected to each other.
fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connecting = spawn(move || TcpStream::connect(address).unwrap());
    let (here, _) = listener.accept().unwrap();
    (here, connecting.join().unwrap())
}

fn datagrams() {
    let [here, there] = [0; 2].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
    let address = there.local_addr().unwrap();
    here.connect(address).unwrap();
    scope(|s| {
        s.spawn(|| {
            here.send(b"one").unwrap();
            here.send_to(b"three", address).unwrap();
        });
        let mut said = [0; 8];
        assert_eq!(there.peek(&mut said).unwrap(), 3);
        assert_eq!(there.recv(&mut said).unwrap(), 3);
        assert_eq!(there.peek_from(&mut said).unwrap().0, 5);
        assert_eq!(there.recv_from(&mut said).unwrap().0, 5);
    });
}

fn processes() {
    assert!(Command::new("true").status().unwrap().success());
    let output = Command::new("echo").arg("late").output().unwrap();
    assert_eq!(output.stdout, b"late\n");
    let mut cat = Command::new("cat");
    let mut child = cat
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"late").unwrap();
    let mut said = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(said, "late");
    assert!(child.wait().unwrap().success());
    let mut sleep = Command::new("sleep");
    let mut child = sleep.arg("60").kill_on_drop(true).spawn().unwrap();
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    assert!(!child.wait_with_output().unwrap().status.success());
    drop(sleep.spawn().unwrap());
    #[cfg(unix)]
    assert_eq!(
        Command::new("/nothing").exec().kind(),
        io::ErrorKind::NotFound
    );
}

#[cfg(unix)]
fn unix_sockets() {
    use pirn::net::{UnixListener, UnixStream};

    let directory = Directory::new();
    let path = directory.at("socket");
    let listener = UnixListener::bind(&path).unwrap();
    scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                let mut stream = UnixStream::connect(&path).unwrap();
                stream.write_all(b"late").unwrap();
            });
        }
        let (first, _) = listener.accept().unwrap();
        let second = listener.incoming().next().unwrap().unwrap();
        for stream in [first, second] {
            assert_eq!(io::read_to_string(stream).unwrap(), "late");
        }
    });
}

#[cfg(unix)]
fn unix_datagrams() {
    use pirn::net::UnixDatagram;

    let directory = Directory::new();
    let path = directory.at("socket");
    let (here, there) = UnixDatagram::pair().unwrap();
    let bound = UnixDatagram::bind(&path).unwrap();
    scope(|s| {
        s.spawn(|| here.send(b"late").unwrap());
        s.spawn(|| {
            UnixDatagram::unbound()
                .unwrap()
                .send_to(b"one", &path)
                .unwrap()
        });
        let mut said = [0; 8];
        assert_eq!(there.recv(&mut said).unwrap(), 4);
        assert_eq!(bound.recv_from(&mut said).unwrap().0, 3);
    });
}

#[cfg(unix)]
fn bidirectional() {
    use pirn::net::UnixStream;

    let (mut left, left_end) = UnixStream::pair().unwrap();
    let (right_end, mut right) = UnixStream::pair().unwrap();
    let copying = spawn(move || pirn::io::copy_bidirectional(&left_end, &right_end));
    left.write_all(b"late").unwrap();
    left.shutdown(Shutdown::Write).unwrap();
    let mut said = String::new();
    right.read_to_string(&mut said).unwrap();
    drop(right);
    assert_eq!(copying.join().unwrap().unwrap(), (4, 0));
}

#[cfg(all(unix, not(pirn_tsan)))]
fn signals() {
    use pirn::cancel::Token;
    use pirn::signal::{Signal, cancel_on, listen};

    let own = std::process::id().to_string();
    let kill = |signal: &str| Command::new("kill").args([signal, &own]).status().unwrap();
    let signals = listen(&[Signal::USR1]).unwrap();
    assert!(kill("-USR1").success());
    assert_eq!(signals.recv(), Ok(Signal::USR1));
    let token = Token::new();
    let _guard = cancel_on(&[Signal::USR2], &token).unwrap();
    assert!(kill("-USR2").success());
    token.wait();
    let child = Command::new("sleep").arg("60").process_group(0).spawn();
    let mut child = child.unwrap();
    child.signal(Signal::TERM).unwrap();
    child.signal_group(Signal::TERM).unwrap();
    assert!(!child.wait().unwrap().success());
}

/// What hyper needs of a runtime.
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn hyper_parts() {
    use hyper::rt::{Executor as _, Timer as _};
    use pirn::future::hyper::{Executor, Io, Timer};

    let (tx, rx) = pirn::channel::bounded(0);
    Executor.execute(async move { tx.send_async(1).await.unwrap() });
    assert_eq!(rx.recv(), Ok(1));
    pirn::future::block_on(Timer.sleep(SHORT));
    pirn::future::block_on(Timer.sleep_until(Timer.now()));
    assert_eq!(Io::new(1).into_inner(), 1);
}

/// A runtime of tokio's, entered by fibers.
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn tokio_parts() {
    use pirn::future::tokio::{compat, enter};
    use tokio::runtime;

    /// Built early, since tokio builds none in a late destructor.
    static TOKIO: OnceLock<runtime::Runtime> = OnceLock::new();
    let build = || {
        let mut builder = runtime::Builder::new_multi_thread();
        builder.worker_threads(1).enable_all().build().unwrap()
    };
    let tokio = TOKIO.get_or_init(build).handle().clone();
    let own = pirn::Runtime::builder()
        .workers(1)
        .tokio(tokio)
        .build()
        .unwrap();
    own.run(|| {
        let slept = compat(async { tokio::time::sleep(SHORT).await });
        pirn::future::wait(slept).unwrap();
        enter(runtime::Handle::current);
    });
    // Both panic late, since tokio's thread-local is gone; a drop does not.
    own.handle().enter(|| {
        let polled = AssertUnwindSafe(compat(async {}));
        let is_late = catch_unwind(|| pirn::future::block_on(polled)).is_err();
        assert_eq!(catch_unwind(|| enter(|| ())).is_err(), is_late);
        drop(compat(async {}));
    });
}
