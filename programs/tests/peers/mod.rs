//! The programs under test, started as ordinary processes, and third-party programs that
//! communicate with them.
//!
//! Without its peer a test is skipped, and names the package; it fails where `PIRN_TOOLS` is
//! `required`. A test ends only processes that it has started.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::io::{
    self, BufRead as _, BufReader, ErrorKind, PipeReader, PipeWriter, Read as _,
    Write as _,
};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{
    Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio,
};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use rustix::pipe::fcntl_getpipe_size;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

#[path = "../../../crates/pirn/src/base/tests/unmeasured.rs"]
mod unmeasured;

pub(crate) use unmeasured::unmeasured;

/// Longer than any operation here takes on a busy machine: a longer one hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A running program, under test or a peer; killed when dropped.
#[derive(Debug)]
pub(crate) struct Program {
    child: Child,
    name: String,
    output: Option<BufReader<ChildStdout>>,
    errors: Option<ChildStderr>,
}

/// The outcome of a program, and its output.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
    /// Its standard error, if the command has it piped.
    pub(crate) errors: String,
}

impl Program {
    /// Starts a program with its standard input and output piped here.
    pub(crate) fn start(command: &mut Command) -> Program {
        let name = command.get_program().to_string_lossy().into_owned();
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.unwrap_or_else(|e| panic!("cannot start {name}: {e}"));
        let output = child.stdout.take().map(BufReader::new);
        let errors = child.stderr.take();
        Program {
            child,
            name,
            output,
            errors,
        }
    }

    /// Starts a server under test on a free port; returns it with its address once it listens.
    pub(crate) fn serve(program: &str, args: &[&str]) -> (Program, SocketAddr) {
        Program::serve_by(listening(program).args(args))
    }

    /// The same for a [`listening`] command, with other outputs if set.
    pub(crate) fn serve_by(command: &mut Command) -> (Program, SocketAddr) {
        let mut started = Program::start(command);
        let line = started.line();
        let address = line
            .strip_prefix("listening on ")
            .and_then(|address| address.parse().ok());
        let address =
            address.unwrap_or_else(|| panic!("{started:?} said {line:?} first"));
        (started, address)
    }

    /// Returns the next line that it prints.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        let output = self.output.as_mut().expect("output that was not taken");
        output.read_line(&mut line).expect("a readable pipe");
        line.trim_end().to_owned()
    }

    /// Returns its standard input, to write to and to close.
    pub(crate) fn input(&mut self) -> ChildStdin {
        self.child
            .stdin
            .take()
            .expect("input that was not taken before")
    }

    /// Closes its standard output.
    pub(crate) fn close_output(&mut self) {
        self.output = None;
    }

    /// Sends it SIGTERM, as a service manager does.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.id(), signal).expect("a process that can be asked");
    }

    /// Interrupts it and its process group, which it leads, as a terminal does.
    pub(crate) fn interrupt_group(&self) {
        kill_process_group(self.id(), Signal::INT).expect("a group that can be asked");
    }

    fn id(&self) -> Pid {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        id.expect("the id of a process")
    }

    /// Returns its present memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.status("VmRSS:")
    }

    /// Returns its peak memory in bytes.
    pub(crate) fn peak_memory(&self) -> usize {
        self.status("VmHWM:")
    }

    /// Returns the number of its open descriptors.
    pub(crate) fn descriptors(&self) -> usize {
        let path = format!("/proc/{}/fd", self.child.id());
        fs::read_dir(path).expect("a process that runs").count()
    }

    fn status(&self, name: &str) -> usize {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(path).expect("a process that runs");
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.trim().split(' ').next()?.parse().ok());
        kib.map_or(0, |kib: usize| kib << 10)
    }

    /// Returns true if it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        let ended = self.child.try_wait();
        ended.expect("a child that can be waited for").is_some()
    }

    /// Waits until it has ended; returns the outcome, and the output since the last line taken.
    pub(crate) fn end(mut self) -> Ended {
        drop(self.child.stdin.take());
        let (output, errors) = (self.output.take(), self.errors.take());
        let output = thread::spawn(move || read_all(output));
        let errors = thread::spawn(move || read_all(errors));
        let status = self.wait();
        Ended {
            status,
            output: output.join().expect("a reader that does not panic"),
            errors: errors.join().expect("a reader that does not panic"),
        }
    }

    fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            let ended = self
                .child
                .try_wait()
                .expect("a child that can be waited for");
            if let Some(status) = ended {
                return status;
            }
            assert!(start.elapsed() < LIMIT, "{} does not end", self.name);
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Returns everything that comes from a pipe until its end.
fn read_all(pipe: Option<impl io::Read>) -> String {
    let mut text = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut text).expect("a readable pipe");
    }
    String::from_utf8_lossy(&text).into_owned()
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the peer `program` of a Debian package; `None`, for a test that is skipped, if it is
/// missing.
///
/// # Panics
/// If it is missing and `PIRN_TOOLS` is `required`.
pub(crate) fn peer(program: &str, package: &str) -> Option<Command> {
    // Some packages install their programs in the superuser's search path only.
    let path = env::var_os("PATH").unwrap_or_default();
    let places = env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    if let Some(found) = places.map(|dir| dir.join(program)).find(|p| p.is_file()) {
        return Some(Command::new(found));
    }
    let missing = format!("no `{program}` on this machine (Debian's package {package})");
    unmeasured(&missing);
    None
}

/// Runs a command with this input to its end; returns what it wrote to standard output.
///
/// # Panics
/// If it fails.
pub(crate) fn run(command: &mut Command, input: &str) -> String {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut program = Program::start(command);
    let mut pipe = program.input();
    let input = input.to_owned();
    // A program that does not read its input while it writes must not block the test. A program may
    // end without reading all of it.
    let writer = thread::spawn(move || pipe.write_all(input.as_bytes()).ok());
    let ended = program.end();
    writer.join().expect("a writer that does not panic");
    assert!(
        ended.status.success(),
        "{name}: {}\n{}",
        ended.status,
        ended.output
    );
    ended.output
}

/// Connects, with timeouts of reads and writes.
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a server that accepts");
    stream
        .set_read_timeout(Some(LIMIT))
        .expect("a limit that can be set");
    stream
        .set_write_timeout(Some(LIMIT))
        .expect("a limit that can be set");
    stream
}

/// Returns the command of a server under test, on a free port. Other arguments follow.
pub(crate) fn listening(program: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["--listen", "127.0.0.1:0"]);
    command
}

/// Returns a full pipe, so that a write to it blocks until it is read.
pub(crate) fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = io::pipe().expect("a pipe");
    let size = fcntl_getpipe_size(&writer).expect("the size of the pipe");
    writer
        .write_all(&b"\n".repeat(size))
        .expect("room in the pipe");
    (reader, writer)
}

/// Reads to the end of a connection that the server must close.
///
/// # Panics
/// If it does not.
pub(crate) fn await_close(mut stream: &TcpStream) -> Vec<u8> {
    let mut answer = Vec::new();
    let ended = stream.read_to_end(&mut answer);
    // A reset is an end, too.
    if let Err(error) = ended
        && matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
    {
        panic!("the connection is open: {error}");
    }
    answer
}

/// Sends a byte every tenth of a second, until the connection is closed.
///
/// # Panics
/// If it is open after [`LIMIT`].
pub(crate) fn trickle(mut stream: &TcpStream, bytes: impl IntoIterator<Item = u8>) {
    let start = Instant::now();
    for byte in bytes {
        if stream.write_all(&[byte]).is_err() {
            return;
        }
        assert!(start.elapsed() < LIMIT, "the connection is open");
        thread::sleep(Duration::from_millis(100));
    }
    panic!("there are no more bytes");
}

/// Waits until the server at this address accepts no more connections.
pub(crate) fn await_refusal(address: SocketAddr) {
    let start = Instant::now();
    while TcpStream::connect(address).is_ok() {
        assert!(start.elapsed() < LIMIT, "{address} still accepts");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until the server at this address has read all requests, and the clients all answers.
pub(crate) fn await_quiet(address: SocketAddr) {
    let start = Instant::now();
    // Checked twice: bytes may go from one socket to another while the sockets are listed.
    let mut times = 0;
    while times < 2 {
        times = if is_quiet(address) { times + 1 } else { 0 };
        assert!(start.elapsed() < LIMIT, "something is left at {address}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Returns true if no socket with this port, at either end, has bytes in its queues.
fn is_quiet(address: SocketAddr) -> bool {
    let sockets = fs::read_to_string("/proc/net/tcp").expect("a list of sockets");
    let port = format!(":{:04X}", address.port());
    let mut sockets = sockets.lines().map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let ends = [fields.next(), fields.next()];
        (ends, fields.nth(1))
    });
    sockets.all(|(ends, queues)| {
        let is_ours = ends.iter().flatten().any(|end| end.ends_with(&port));
        !is_ours || queues == Some("00000000:00000000")
    })
}

/// Returns an empty directory for this test.
pub(crate) fn directory(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    // It may be left from an earlier run, or not exist.
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a directory that can be made");
    path
}

/// Creates a certificate for `localhost` and its key by openssl, in this directory. Returns `None`
/// if there is no openssl and the test is skipped.
pub(crate) fn identity(directory: &Path) -> Option<(PathBuf, PathBuf)> {
    let (cert, key) = (directory.join("cert.pem"), directory.join("key.pem"));
    let mut openssl = peer("openssl", "openssl")?;
    openssl
        .args(["req", "-x509", "-newkey", "ec", "-noenc", "-days", "2"])
        .args([
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-subj",
            "/CN=localhost",
        ])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE", "-out"])
        .arg(&cert)
        .arg("-keyout")
        .arg(&key);
    run(&mut openssl, "");
    Some((cert, key))
}
