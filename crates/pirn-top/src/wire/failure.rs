//! Why there is no answer.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use super::text::Text;

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// There is nothing at the path.
    Nothing(PathBuf),
    /// There is a socket that nobody listens on: its process has ended.
    Dead(PathBuf),
    /// This user may not connect.
    Forbidden(PathBuf),
    /// The answer was cut off: the runtime or its process has ended meanwhile.
    CutOff,
    /// The runtime has said that this user may not ask.
    Refused(Text),
    /// The runtime has said why it has no answer.
    NoAnswer(Text),
    /// The answer is in another version of the format.
    Version(u64),
    /// What was read is not the format; with what is wrong.
    Nonsense(String),
    /// What the system says.
    System(io::Error),
}

impl Failure {
    /// The program's exit code for it: 3 if somebody may not ask, else 1.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Forbidden(_) | Failure::Refused(_) => 3,
            _ => 1,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Nothing(path) => write!(f, "there is no socket {}", path.display()),
            Failure::Dead(path) => {
                write!(
                    f,
                    "nobody listens on {}: its process has ended",
                    path.display()
                )
            }
            Failure::Forbidden(path) => {
                let path = path.display();
                write!(f, "{path} belongs to another user")
            }
            Failure::CutOff => {
                f.write_str("the answer was cut off: the runtime has ended")
            }
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
                write!(f, "this is no runtime's answer: {why}")
            }
            Failure::System(error) => error.fmt(f),
        }
    }
}

impl Error for Failure {}
