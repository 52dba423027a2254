//! [`Command`]: which program is to be started, and how.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::Path;
use std::process;

use super::{Child, ExitStatus, Output, Stdio, orphans};
use crate::wait::begin;

/// Which program is to be started, and how, as [`std::process::Command`].
///
/// The child is started by the calling thread, which is held up for that long: what the system has the child inherit from the thread that started it (its end as the end of a
/// parent, for instance) is then a worker's, and not a thread's that comes and goes.
pub struct Command {
    command: process::Command,
    /// Which of standard input, output and error have been said.
    said: [bool; 3],
}

impl Command {
    /// A command that starts `program` without arguments, in this process's environment and
    /// directory. Looked for in `PATH` if there is no slash in it.
    pub fn new(program: impl AsRef<OsStr>) -> Command {
        process::Command::new(program).into()
    }

    /// Adds an argument.
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Command {
        self.command.arg(argument);
        self
    }

    /// Adds arguments.
    pub fn args<I, S>(&mut self, arguments: I) -> &mut Command
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.command.args(arguments);
        self
    }

    /// Sets a variable of the environment.
    pub fn env(
        &mut self,
        key: impl AsRef<OsStr>,
        value: impl AsRef<OsStr>,
    ) -> &mut Command {
        self.command.env(key, value);
        self
    }

    /// Sets variables of the environment.
    pub fn envs<I, K, V>(&mut self, variables: I) -> &mut Command
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.command.envs(variables);
        self
    }

    /// Takes a variable out of the environment.
    pub fn env_remove(&mut self, key: impl AsRef<OsStr>) -> &mut Command {
        self.command.env_remove(key);
        self
    }

    /// Takes all variables out of the environment.
    pub fn env_clear(&mut self) -> &mut Command {
        self.command.env_clear();
        self
    }

    /// Sets the directory.
    pub fn current_dir(&mut self, directory: impl AsRef<Path>) -> &mut Command {
        self.command.current_dir(directory);
        self
    }

    /// Sets the standard input. Otherwise it is inherited, and nothing for
    /// [`output`](Command::output).
    pub fn stdin(&mut self, from: impl Into<Stdio>) -> &mut Command {
        self.said[0] = true;
        self.command.stdin(from);
        self
    }

    /// Sets the standard output. Otherwise it is inherited, and a pipe for
    /// [`output`](Command::output).
    pub fn stdout(&mut self, to: impl Into<Stdio>) -> &mut Command {
        self.said[1] = true;
        self.command.stdout(to);
        self
    }

    /// Sets the standard error. Otherwise it is inherited, and a pipe for
    /// [`output`](Command::output).
    pub fn stderr(&mut self, to: impl Into<Stdio>) -> &mut Command {
        self.said[2] = true;
        self.command.stderr(to);
        self
    }

    /// Starts the program.
    ///
    /// # Errors
    /// The interrupt that the caller is under, or what the system says: `NotFound`, for
    /// instance. Nothing runs then.
    ///
    /// # Cancellation
    /// An interruption point before the program is started; never suspends.
    pub fn spawn(&mut self) -> io::Result<Child> {
        begin()?;
        orphans::look_after();
        self.command.spawn().and_then(Child::new)
    }

    /// Starts the program and waits until it has ended.
    ///
    /// # Errors
    /// Like [`spawn`](Command::spawn) and [`Child::wait`]. The child is killed then, since nobody else
    /// could: to have it go on, `spawn` it and wait for it.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        self.spawn()?.killed_on_drop().wait()
    }

    /// Starts the program, waits until it has ended and returns what it has written. Unless
    /// said otherwise, its standard output and error are pipes, and there is nothing to be read
    /// from its standard input.
    ///
    /// # Errors
    /// Like [`spawn`](Command::spawn) and [`Child::wait_with_output`]. The child is killed then, as by
    /// [`status`](Command::status).
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

    /// Sets those of standard input, output and error that have not been said.
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

    /// The command as `std` has it, to be asked.
    #[must_use]
    pub fn as_std(&self) -> &process::Command {
        &self.command
    }

    /// The command as `std` has it, for what can be said there only. What is said there
    /// of standard input, output and error counts as not said for [`output`](Command::output).
    pub fn as_std_mut(&mut self) -> &mut process::Command {
        &mut self.command
    }
}

/// What was said of standard input, output and error counts as not said for
/// [`output`](Command::output).
impl From<process::Command> for Command {
    fn from(command: process::Command) -> Command {
        Command {
            command,
            said: [false; 3],
        }
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.command.fmt(f)
    }
}
