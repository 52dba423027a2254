//! [`Command`]: a program to start, and how.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::Path;
use std::process;

use super::{Child, ExitStatus, Output, Stdio, orphans};
use crate::base::choice::Operation;
use crate::cancel::shield;
use crate::sys::with_children_unpinned;
use crate::wait::begin;

/// A program to start, with its arguments and environment, like [`std::process::Command`].
///
/// The calling thread starts the child and blocks meanwhile. Some attributes that the child
/// inherits from the starting thread, such as the parent-death signal, then depend on a worker
/// thread, not on a short-lived thread.
///
/// # Examples
/// ```
/// use pirn::process::Command;
///
/// let output = pirn::run(|| {
///     let mut shell = Command::new("sh");
///     shell.args(["-c", "echo $WORD"]).env("WORD", "hello").output()
/// })?;
/// assert!(output.status.success());
/// assert_eq!(output.stdout, b"hello\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "Cmd")]
pub struct Command {
    command: process::Command,
    /// Which of standard input, output and error have been set.
    said: [bool; 3],
    /// Whether dropping a child's handle kills the child.
    kill_on_drop: bool,
}

impl Command {
    /// Creates a command that starts `program` without arguments, in this process's environment and
    /// directory. A name without a slash is searched in `PATH`.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// assert!(Command::new("true").status()?.success());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new(program: impl AsRef<OsStr>) -> Command {
        process::Command::new(program).into()
    }

    /// Adds an argument.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let output = Command::new("echo").arg("a word").arg("*").output()?;
    /// assert_eq!(output.stdout, b"a word *\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Command {
        self.command.arg(argument);
        self
    }

    /// Adds arguments.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let output = Command::new("echo").args(["one", "two"]).output()?;
    /// assert_eq!(output.stdout, b"one two\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn args<I, S>(&mut self, arguments: I) -> &mut Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.command.args(arguments);
        self
    }

    /// Sets an environment variable.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let mut shell = Command::new("sh");
    /// let output = shell.args(["-c", "echo $WORD"]).env("WORD", "hello").output()?;
    /// assert_eq!(output.stdout, b"hello\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "setenv")]
    pub fn env(
        &mut self,
        key: impl AsRef<OsStr>,
        value: impl AsRef<OsStr>,
    ) -> &mut Command {
        self.command.env(key, value);
        self
    }

    /// Sets environment variables.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let mut shell = Command::new("sh");
    /// let output = shell.args(["-c", "echo $A$B"]).envs([("A", "1"), ("B", "2")]).output()?;
    /// assert_eq!(output.stdout, b"12\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn envs<I, K, V>(&mut self, variables: I) -> &mut Command
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.command.envs(variables);
        self
    }

    /// Removes an environment variable.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let mut shell = Command::new("sh");
    /// shell.args(["-c", "echo $WORD"]).env("WORD", "hello").env_remove("WORD");
    /// assert_eq!(shell.output()?.stdout, b"\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "unsetenv")]
    pub fn env_remove(&mut self, key: impl AsRef<OsStr>) -> &mut Command {
        self.command.env_remove(key);
        self
    }

    /// Removes all environment variables.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let mut shell = Command::new("/bin/sh");
    /// shell.args(["-c", "echo $WORD"]).env("WORD", "hello").env_clear();
    /// assert_eq!(shell.output()?.stdout, b"\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "clearenv")]
    pub fn env_clear(&mut self) -> &mut Command {
        self.command.env_clear();
        self
    }

    /// Sets the working directory.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let output = Command::new("pwd").current_dir("/").output()?;
    /// assert_eq!(output.stdout, b"/\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "chdir")]
    pub fn current_dir(&mut self, directory: impl AsRef<Path>) -> &mut Command {
        self.command.current_dir(directory);
        self
    }

    /// Sets the standard input. By default it is inherited, and empty for
    /// [`output`](Command::output).
    ///
    /// # Examples
    /// ```
    /// use std::io::Write;
    ///
    /// use pirn::process::{Command, Stdio};
    ///
    /// let mut cat = Command::new("cat");
    /// let mut child = cat.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    /// child.stdin.take().expect("a pipe").write_all(b"hello")?;
    /// assert_eq!(child.wait_with_output()?.stdout, b"hello");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "StdinPipe")]
    pub fn stdin(&mut self, from: impl Into<Stdio>) -> &mut Command {
        self.said[0] = true;
        self.command.stdin(from);
        self
    }

    /// Sets the standard output. By default it is inherited, and a pipe for
    /// [`output`](Command::output).
    ///
    /// # Examples
    /// ```
    /// use std::io::Read;
    ///
    /// use pirn::process::{Command, Stdio};
    ///
    /// let mut child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
    /// let mut text = String::new();
    /// child.stdout.take().expect("a pipe").read_to_string(&mut text)?;
    /// assert_eq!(text, "hello\n");
    /// assert!(child.wait()?.success());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "StdoutPipe")]
    pub fn stdout(&mut self, to: impl Into<Stdio>) -> &mut Command {
        self.said[1] = true;
        self.command.stdout(to);
        self
    }

    /// Sets the standard error. By default it is inherited, and a pipe for
    /// [`output`](Command::output).
    ///
    /// # Examples
    /// ```
    /// use pirn::process::{Command, Stdio};
    ///
    /// let mut shell = Command::new("sh");
    /// let output = shell.args(["-c", "echo lost >&2"]).stderr(Stdio::null()).output()?;
    /// assert!(output.stderr.is_empty());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "StderrPipe")]
    pub fn stderr(&mut self, to: impl Into<Stdio>) -> &mut Command {
        self.said[2] = true;
        self.command.stderr(to);
        self
    }

    /// Sets whether dropping the [`Child`] kills the process, unless it has ended. By default it
    /// keeps running.
    ///
    /// The kill is sent before the pipes of the handle are closed. The drop does not wait for the
    /// end: the status is collected when the next child is started or dropped. Processes that the
    /// child has started are not killed. [`status`](Command::status) and
    /// [`output`](Command::output) kill the child on an error in either case.
    ///
    /// # Examples
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// use pirn::process::{Command, Stdio};
    ///
    /// let start = Instant::now();
    /// let mut shell = Command::new("sh");
    /// shell.args(["-c", "exec sleep 60"]).stdout(Stdio::piped()).kill_on_drop(true);
    /// let mut child = shell.spawn()?;
    /// let mut stdout = child.stdout.take().expect("a pipe");
    /// drop(child);
    /// // The end of the output comes with the end of the process.
    /// assert_eq!(std::io::read_to_string(&mut stdout)?, "");
    /// assert!(start.elapsed() < Duration::from_secs(50));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn kill_on_drop(&mut self, yes: bool) -> &mut Command {
        self.kill_on_drop = yes;
        self
    }

    /// Starts the program.
    ///
    /// # Errors
    /// The caller's interrupt, or the operating system's error, `NotFound` for instance. Nothing
    /// runs then.
    ///
    /// # Cancellation
    /// An interruption point before the program is started; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let mut child = Command::new("true").spawn()?;
    /// assert!(child.wait()?.success());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "Start")]
    pub fn spawn(&mut self) -> io::Result<Child> {
        begin(Operation::Io, 0)?;
        orphans::look_after();
        // `std` panics if what it waits for is interrupted, and leaves the child behind. That can
        // be where `pirn-hooks` parks the call.
        let spawn = || with_children_unpinned(|| self.command.spawn());
        let child = shield(spawn).and_then(Child::new)?;
        Ok(match self.kill_on_drop {
            true => child.killed_on_drop(),
            false => child,
        })
    }

    /// Starts the program and waits until it has ended.
    ///
    /// # Errors
    /// Like [`spawn`](Command::spawn) and [`Child::wait`]. On an error the child is killed, since
    /// no other code has its handle. `spawn` it and wait for it to keep it running.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let status = Command::new("sh").args(["-c", "exit 3"]).status()?;
    /// assert_eq!(status.code(), Some(3));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "Run")]
    #[track_caller]
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        self.spawn()?.killed_on_drop().wait()
    }

    /// Starts the program, waits until it has ended and returns its output. By default its standard
    /// output and error are pipes, and its standard input is empty. Streams that are not set are
    /// inherited again afterwards, also those that [`as_std_mut`](Command::as_std_mut) has set.
    ///
    /// # Errors
    /// Like [`spawn`](Command::spawn) and [`Child::wait_with_output`]. On an error the child is
    /// killed, as with [`status`](Command::status).
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let hello = pirn::process::Command::new("echo").arg("hello").output()?;
    /// assert_eq!(hello.stdout, b"hello\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn output(&mut self) -> io::Result<Output> {
        self.say_rest([Stdio::null(), Stdio::piped(), Stdio::piped()]);
        let child = self.spawn();
        self.say_rest([Stdio::inherit(), Stdio::inherit(), Stdio::inherit()]);
        child?.killed_on_drop().wait_with_output()
    }

    /// Sets those of standard input, output and error that have not been set.
    fn say_rest(&mut self, [stdin, stdout, stderr]: [Stdio; 3]) {
        let command = &mut self.command;
        if !self.said[0] {
            command.stdin(stdin);
        }
        if !self.said[1] {
            command.stdout(stdout);
        }
        if !self.said[2] {
            command.stderr(stderr);
        }
    }

    /// Returns the command as `std`'s type, for reading.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let mut command = Command::new("ls");
    /// command.arg("/");
    /// assert_eq!(command.as_std().get_program(), "ls");
    /// assert_eq!(command.as_std().get_args().count(), 1);
    /// ```
    #[must_use]
    pub fn as_std(&self) -> &process::Command {
        &self.command
    }

    /// Returns the command as `std`'s type, for settings that exist only there:
    /// [`pre_exec`](std::os::unix::process::CommandExt::pre_exec), for instance, which is unsafe.
    /// Standard streams that are set there count as not set for [`output`](Command::output).
    ///
    /// # Examples
    /// ```
    /// use std::os::unix::process::CommandExt;
    ///
    /// use pirn::process::Command;
    ///
    /// let mut command = Command::new("true");
    /// let no_step = || Ok(());
    /// // SAFETY: it does nothing between `fork` and `exec`.
    /// unsafe { command.as_std_mut().pre_exec(no_step) };
    /// assert!(command.status()?.success());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "pre_exec")]
    pub fn as_std_mut(&mut self) -> &mut process::Command {
        &mut self.command
    }
}

/// Standard streams that were set there count as not set for [`output`](Command::output).
impl From<process::Command> for Command {
    fn from(command: process::Command) -> Command {
        Command {
            command,
            said: [false; 3],
            kill_on_drop: false,
        }
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.command.fmt(f)
    }
}
