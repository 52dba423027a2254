//! The program on a terminal: it draws, handles keys, and restores the terminal however it ends.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::emulator::Emulator;
use crate::sandbox::{Directory, LONG, PROGRAM, Shop, crowd, eventually};
use crate::unmeasured::unmeasured;

/// Maximum time until a program without a terminal ends: many times the usual one.
const GONE: Duration = Duration::from_secs(10);

const COLUMNS: u16 = 120;
const ROWS: u16 = 30;

/// The program on a terminal of its own.
pub(crate) struct Session {
    user: File,
    /// Kept open to read the terminal's settings.
    terminal: File,
    child: Child,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Session {
    pub(crate) fn start(socket: &Path, args: &[&str]) -> Session {
        Session::run(Command::new(PROGRAM).arg(socket).args(args))
    }

    /// Runs `command` on a terminal of its own.
    fn run(command: &mut Command) -> Session {
        let (user, terminal) = terminal();
        let end = || terminal.try_clone().expect("a descriptor");
        let child = command
            .env("TERM", "xterm")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("the program runs");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (mut from, into) =
            (user.try_clone().expect("a descriptor"), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = from.read(&mut bytes) {
                into.lock()
                    .expect("no reader has panicked")
                    .extend_from_slice(&bytes[..n]);
            }
        });
        Session {
            user,
            terminal,
            child,
            seen,
        }
    }

    /// Returns the contents of the screen.
    pub(crate) fn screen(&self) -> Emulator {
        let seen = self.seen.lock().expect("no reader has panicked");
        Emulator::after(&seen, usize::from(COLUMNS), usize::from(ROWS))
    }

    /// Waits until this text is on the screen.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) {
        let start = Instant::now();
        while !self.screen().text().contains(text) {
            let screen = self.screen().text();
            assert!(
                start.elapsed() < LONG,
                "no {text:?} on the screen:\n{screen}"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.user.write_all(keys.as_bytes()).expect("typed");
    }

    /// Returns true if the terminal is in raw mode: single keys, no echo.
    fn is_raw(&self) -> bool {
        let modes = tcgetattr(&self.terminal).expect("a terminal").local_modes;
        !modes.intersects(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Waits until the program ends. Checks that the terminal is restored, and shows nothing but
    /// this text.
    #[track_caller]
    pub(crate) fn end(mut self, said: &str) -> ExitStatus {
        let mut status = None;
        eventually("it ends", || {
            status = self.child.try_wait().expect("a child of ours");
            status.is_some()
        });
        assert!(!self.is_raw());
        eventually("the first screen is back", || !self.screen().alternate);
        self.shows(said);
        let screen = self.screen().text();
        let rest = screen.lines().filter(|line| !line.is_empty());
        assert_eq!(rest.count(), usize::from(!said.is_empty()), "{screen}");
        status.expect("it has ended")
    }
}

/// Opens a new pseudo-terminal: the user's side, and the program's.
fn terminal() -> (File, File) {
    // Not inherited by programs that are started meanwhile, so that closing it here closes it.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let user = openpt(flags).expect("a terminal");
    grantpt(&user).expect("granted");
    unlockpt(&user).expect("unlocked");
    let name = ptsname(&user, Vec::new()).expect("a name");
    let terminal = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(OFlags::NOCTTY.bits().cast_signed())
        .open(name.into_string().expect("text"))
        .expect("a terminal");
    let size = Winsize {
        ws_row: ROWS,
        ws_col: COLUMNS,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&terminal, size).expect("a size");
    (File::from(user), terminal)
}

impl Drop for Session {
    fn drop(&mut self) {
        // If the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keys have their effect on the screen; then it is restored.
// Proves: P15-screen.
#[test]
fn it_draws_obeys_and_gives_the_terminal_back() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let shop = Shop::open(2, &socket);
    crowd(&shop);
    let mut session = Session::start(&socket, &["--interval", "0.05", "--sort", "name"]);
    session.shows("pirn-top shop of process");
    session.shows("400 Recv");
    session.shows("crowd-0");
    assert!(session.is_raw() && session.screen().alternate);
    session.press("/name:crowd-77\r");
    session.shows("11 fibers of 1,000, filter 'name:crowd-77'");
    session.press("j\r");
    session.shows("spawned at");
    session.shows("sandbox.rs");
    session.press("\u{1b}");
    session.shows("11 fibers of 1,000");
    session.press("2");
    session.shows("COUNTER");
    session.press("3");
    session.shows("unchanged: no fiber waits to be started");
    session.press("?");
    session.shows("one fiber, with its frames");
    session.press("?p");
    session.shows("PAUSED");
    session.press("q");
    assert!(session.end("").success());
}

/// The inspected process ends: the last picture stays with a message, and the program repeats the
/// message when it ends.
// Proves: P15-screen.
#[test]
fn the_process_ends_meanwhile() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let shop = Shop::open(1, &socket);
    let mut session = Session::start(&socket, &["--interval", "0.05"]);
    session.shows("shop");
    drop(shop);
    session.shows("this is the last picture");
    session.shows("ENDED");
    session.shows("pirn-top shop of process");
    session.press("q");
    assert_eq!(session.end("pirn-top: ").code(), Some(1));
}

/// Ctrl-C ends it in an orderly way.
#[test]
fn an_interrupt_gives_the_terminal_back() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let _shop = Shop::open(1, &socket);
    let mut session = Session::start(&socket, &[]);
    session.shows("shop");
    session.press("\u{3}");
    assert!(session.end("").success());
}

/// A signal also restores the terminal, and then ends the program.
// Proves: P15-screen.
#[test]
fn a_signal_gives_the_terminal_back() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let _shop = Shop::open(1, &socket);
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let session = Session::start(&socket, &[]);
        session.shows("shop");
        assert!(session.is_raw());
        let child = Pid::from_child(&session.child);
        kill_process(child, signal).expect("it is there");
        assert_eq!(session.end("").signal(), Some(signal.as_raw()));
    }
}

/// Starts `command` on a terminal, closes that when the program has drawn, and returns the
/// program's exit status.
#[track_caller]
fn hang_up(command: &mut Command) -> ExitStatus {
    let (mut user, terminal) = terminal();
    let end = || terminal.try_clone().expect("a descriptor");
    command.env("TERM", "xterm").stdin(end()).stdout(end());
    let mut child = command.stderr(end()).spawn().expect("the program runs");
    // Descriptors that `command` keeps would not prevent the hang-up.
    drop(terminal);
    let (mut seen, mut bytes) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&seen).contains("quit") {
        let n = user.read(&mut bytes).expect("the program draws");
        seen.extend_from_slice(&bytes[..n]);
    }
    drop(user);
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            return status;
        }
        if start.elapsed() > GONE {
            child.kill().expect("it is there");
            child.wait().expect("a child of ours");
            panic!("it lives on without a terminal for {GONE:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Closing the window ends the program, with SIGHUP and without: it has a controlling terminal only
/// in the first case.
// Proves: P15-screen.
#[test]
fn a_closed_window_ends_it() {
    let directory = Directory::new();
    let socket = directory.at("socket");
    let _shop = Shop::open(1, &socket);
    if Command::new("setsid").arg("--version").output().is_err() {
        return unmeasured("no setsid on this machine");
    }
    // Repeated: at the hang-up the program may be drawing or reading keys, depending on timing.
    for _ in 0..4 {
        let mut command = Command::new("setsid");
        let status = hang_up(command.args(["--ctty", PROGRAM]).arg(&socket));
        assert_eq!(status.signal(), Some(Signal::HUP.as_raw()), "{status}");
        let status = hang_up(Command::new(PROGRAM).arg(&socket));
        assert_eq!(status.code(), Some(1), "{status}");
    }
}

/// A panic's message is readable on the first screen. The panic happens in a child process that
/// runs this same test.
// Proves: P15-screen.
#[test]
fn a_panic_gives_the_terminal_back() {
    const PART: &str = "PIRN_TOP_TEST_PART";
    if std::env::var_os(PART).is_some() {
        let _screen = pirn_top::tool::Screen::take().expect("a terminal");
        panic!("on purpose");
    }
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    let name = "terminal::a_panic_gives_the_terminal_back";
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    let mut session = Session::run(command.env(PART, "1").env("RUST_BACKTRACE", "0"));
    let mut status = None;
    eventually("it ends", || {
        status = session.child.try_wait().expect("a child of ours");
        status.is_some()
    });
    assert!(!session.is_raw());
    session.shows("on purpose");
    assert!(!session.screen().alternate);
}
