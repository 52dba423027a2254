//! Why there is no answer.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::text::Text;

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// There is no file at the path.
    Nothing(PathBuf),
    /// There is a socket without a listener: its process has ended.
    Dead(PathBuf),
    /// No data has arrived for some time.
    Silent(Silence),
    /// The answer has exceeded a limit; with the path of its socket.
    Excess(PathBuf, Excess),
    /// This user may not connect.
    Forbidden(PathBuf),
    /// The answer is truncated: the runtime has ended meanwhile, or has disconnected this client.
    CutOff,
    /// The runtime has refused this user.
    Refused(Text),
    /// The runtime's reason for having no answer.
    NoAnswer(Text),
    /// The answer is in another version of the format.
    Version(u64),
    /// The data is not in the format; with the error.
    Nonsense(String),
    /// The file cannot be replayed; with its path and the reason.
    Recording(String),
    /// The system's error.
    System(io::Error),
}

/// The limit that an answer has exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    /// It takes longer than this.
    Time(Duration),
    /// It has more bytes than this.
    Bytes(u64),
}

/// Information on a process that does not answer.
#[derive(Debug)]
pub struct Silence {
    /// Its socket.
    pub path: PathBuf,
    /// Duration of the silence.
    pub length: Duration,
    /// Its process id.
    pub process: Option<i32>,
    /// True if it has been stopped.
    pub is_stopped: bool,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Time(limit) => write!(f, "takes more than {} s", limit.as_secs_f64()),
            Excess::Bytes(limit) => write!(f, "has more than {limit} bytes"),
        }
    }
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, seconds) = (self.path.display(), self.length.as_secs_f64());
        write!(f, "no answer on {path} for {seconds} s: ")?;
        match self.process {
            Some(id) if self.is_stopped => write!(
                f,
                "process {id} has been stopped; `kill -CONT {id}` lets it go on"
            ),
            Some(id) => write!(
                f,
                "process {id} answers other clients, or gets no processor time; try again"
            ),
            None => f.write_str(
                "too many clients wait, or the process has been stopped; try again",
            ),
        }
    }
}

impl Failure {
    /// Returns the program's exit code: 3 if the user is refused, else 1.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Forbidden(_) | Failure::Refused(_) => 3,
            _ => 1,
        }
    }
}

impl Failure {
    /// Returns true if the runtime has ended, as far as this tells.
    ///
    /// A truncated answer is no end; the next request may find one.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(self, Failure::Nothing(_) | Failure::Dead(_))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Nothing(path) => write!(f, "there is no socket {}", path.display()),
            Failure::Dead(path) => {
                write!(
                    f,
                    "no process listens on {}: the one that created it has ended",
                    path.display()
                )
            }
            Failure::Silent(silence) => silence.fmt(f),
            Failure::Excess(path, excess) => {
                write!(
                    f,
                    "the answer on {} {excess}: ask for fewer fibers with `--most N`; \
                     if that does not help, the process is no pirn runtime or has too little \
                     processor time",
                    path.display()
                )
            }
            Failure::Forbidden(path) => {
                let path = path.display();
                write!(f, "{path} belongs to another user")
            }
            Failure::CutOff => f.write_str(
                "the answer was cut off: the runtime ended or disconnected this client",
            ),
            Failure::Refused(why) | Failure::NoAnswer(why) => {
                write!(f, "the runtime says: {why}")
            }
            Failure::Version(version) => {
                write!(
                    f,
                    "the runtime answers in version {version} of the format, this program reads version 1"
                )
            }
            Failure::Nonsense(why) => {
                write!(f, "this is no runtime's answer: {}", Text::clean(why))
            }
            Failure::Recording(why) => write!(f, "cannot replay {}", Text::clean(why)),
            Failure::System(error) => error.fmt(f),
        }
    }
}

impl Error for Failure {}
