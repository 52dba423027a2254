//! Unix parts of commands and children: user, group, process group, signals, and the replacement of
//! this process.

// Owns: the methods of `std::os::unix::process::CommandExt` that are stable and safe. That trait is
// sealed, so they are methods here. Does not own: `pre_exec`, which is unsafe and stays with `std`.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt as _;

use super::{Child, Command};
use crate::base::choice::Operation;
use crate::signal::Signal;
use crate::sys;
use crate::wait::begin;

impl Command {
    /// Sets the user id of the child. Starting it fails if this process may not change to that
    /// user. If this process runs as root, the child has no supplementary groups.
    ///
    /// # Examples
    /// ```
    /// use std::os::unix::fs::MetadataExt;
    ///
    /// use pirn::process::Command;
    ///
    /// let own = std::fs::metadata("/proc/self")?.uid();
    /// let output = Command::new("id").arg("-u").uid(own).output()?;
    /// assert_eq!(output.stdout, format!("{own}\n").as_bytes());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "setuid")]
    pub fn uid(&mut self, user: u32) -> &mut Command {
        self.as_std_mut().uid(user);
        self
    }

    /// Sets the group id of the child. Starting it fails if this process may not change to that
    /// group.
    ///
    /// # Examples
    /// ```
    /// use std::os::unix::fs::MetadataExt;
    ///
    /// use pirn::process::Command;
    ///
    /// let own = std::fs::metadata("/proc/self")?.gid();
    /// let output = Command::new("id").arg("-g").gid(own).output()?;
    /// assert_eq!(output.stdout, format!("{own}\n").as_bytes());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "setgid")]
    pub fn gid(&mut self, group: u32) -> &mut Command {
        self.as_std_mut().gid(group);
        self
    }

    /// Sets the process group of the child. With 0 the child gets a group of its own, with the
    /// [id](super::Child::id) of the child as its number. Signals of the terminal then do not reach
    /// it.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let mut child = Command::new("sleep").arg("60").process_group(0).spawn()?;
    /// // A negative number stands for a group.
    /// let group = format!("-{}", child.id());
    /// assert!(Command::new("kill").args(["-KILL", "--", &group]).status()?.success());
    /// assert!(!child.wait()?.success());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "setpgid")]
    pub fn process_group(&mut self, group: i32) -> &mut Command {
        self.as_std_mut().process_group(group);
        self
    }

    /// Sets the argument 0 of the child, by default the name of the program.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    ///
    /// let output = Command::new("sh").arg0("name").args(["-c", "echo $0"]).output()?;
    /// assert_eq!(output.stdout, b"name\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "argv")]
    pub fn arg0(&mut self, argument: impl AsRef<OsStr>) -> &mut Command {
        self.as_std_mut().arg0(argument);
        self
    }

    /// Replaces this process with the program. Returns only on an error.
    ///
    /// All threads end, and with them all fibers. No destructor runs, and no buffer is flushed. The
    /// program keeps the process id, and the descriptors that are not closed on `exec`; those that
    /// `std` and this library open are closed.
    ///
    /// # Errors
    /// The caller's interrupt: nothing has been done. Or the operating system's error: the working
    /// directory, the user or the standard streams of this process may have changed already.
    ///
    /// # Cancellation
    /// An interruption point before anything is changed; never suspends.
    ///
    /// # Examples
    /// ```no_run
    /// use pirn::process::Command;
    ///
    /// let error = Command::new("sh").args(["-c", "echo this is the shell"]).exec();
    /// eprintln!("it does not start: {error}");
    /// ```
    #[doc(alias = "execvp")]
    #[must_use = "it is the error"]
    pub fn exec(&mut self) -> io::Error {
        match begin(Operation::Io, 0) {
            Ok(()) => sys::with_children_unpinned(|| self.as_std_mut().exec()),
            Err(interrupt) => interrupt.into(),
        }
    }
}

impl Child {
    /// Sends a signal to the process, for instance [`Signal::TERM`] to ask it to end. Does not wait
    /// for its effect. Once a wait has returned the child's status, it sends nothing.
    ///
    /// # Errors
    /// The operating system's error: `PermissionDenied` if the child runs as another user,
    /// `InvalidInput` for a number that is no signal. It is no error if the process has already
    /// ended.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::os::unix::process::ExitStatusExt;
    ///
    /// use pirn::process::Command;
    /// use pirn::signal::Signal;
    ///
    /// let mut child = Command::new("sleep").arg("60").spawn()?;
    /// child.signal(Signal::TERM)?;
    /// assert_eq!(child.wait()?.signal(), Some(Signal::TERM.as_raw()));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "send_signal")]
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        match self.has_been_waited_for() {
            true => Ok(()),
            false => sys::send_to_child(self.id(), signal.as_raw()),
        }
    }

    /// Sends a signal to every process of the group that the child leads. The processes that it
    /// has started belong to the group unless they have left it. A child leads a group if it was
    /// started with [`process_group(0)`](Command::process_group). Does not wait for the effect.
    ///
    /// # Errors
    /// * [`InvalidInput`](io::ErrorKind::InvalidInput) if the child leads no group, or if a wait
    ///   has returned its status: its number may belong to an unrelated group then. So send the
    ///   signal before such a wait.
    /// * The operating system's error, as for [`signal`](Child::signal).
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::process::Command;
    /// use pirn::signal::Signal;
    ///
    /// let mut pipeline = Command::new("sh");
    /// pipeline.args(["-c", "sleep 60 | sleep 60"]).process_group(0);
    /// let mut child = pipeline.spawn()?;
    /// child.signal_group(Signal::TERM)?;
    /// assert!(!child.wait()?.success());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "killpg")]
    pub fn signal_group(&self, signal: Signal) -> io::Result<()> {
        let refuse = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        if self.has_been_waited_for() {
            return refuse(
                "the child has been waited for, so its group may be another one",
            );
        }
        match sys::send_to_group_of(self.id(), signal.as_raw())? {
            true => Ok(()),
            false => refuse("the child leads no group: start it with `process_group(0)`"),
        }
    }
}
