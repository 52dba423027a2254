//! Reasons of refusals, in the words of Redis; the first word is for programs.

use std::borrow::Cow;

use crate::request::Request;

/// The text of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused(Cow<'static, [u8]>);

impl Refused {
    pub(super) const SYNTAX: Refused = Refused::new("ERR syntax error");
    pub(super) const NO_INTEGER: Refused =
        Refused::new("ERR value is not an integer or out of range");
    pub(super) const NO_FLOAT: Refused = Refused::new("ERR value is not a valid float");
    pub(super) const INFINITE: Refused =
        Refused::new("ERR increment would produce NaN or Infinity");
    pub(super) const OVERFLOW: Refused =
        Refused::new("ERR increment or decrement would overflow");
    pub(super) const DECREMENT: Refused = Refused::new("ERR decrement would overflow");
    pub(super) const INDEX: Refused = Refused::new("ERR DB index is out of range");
    pub(super) const OFFSET: Refused = Refused::new("ERR offset is out of range");
    pub(super) const LONG: Refused =
        Refused::new("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    pub(super) const NO_KEY: Refused = Refused::new("ERR no such key");
    pub(super) const CURSOR: Refused = Refused::new("ERR invalid cursor");
    pub(super) const NO_MEMORY: Refused =
        Refused::new("OOM command not allowed when used memory > 'maxmemory'.");
    pub(super) const SPOILED: Refused = Refused::new("previous errors.");

    pub(super) const fn new(text: &'static str) -> Refused {
        Refused(Cow::Borrowed(text.as_bytes()))
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.0
    }

    #[cold]
    pub(super) fn arguments(command: &str) -> Refused {
        Refused::from(format!(
            "ERR wrong number of arguments for '{command}' command"
        ))
    }

    #[cold]
    pub(super) fn expire(command: &str) -> Refused {
        Refused::from(format!("ERR invalid expire time in '{command}' command"))
    }

    /// Returns an error that repeats a part of the request, between two texts.
    #[cold]
    pub(super) fn about(before: &str, told: &[u8], after: &str) -> Refused {
        Refused::from([before.as_bytes(), told, after.as_bytes()].concat())
    }

    /// Returns the error for an unknown command.
    #[cold]
    pub(super) fn unknown(request: &Request<'_>) -> Refused {
        let mut text = b"ERR unknown command '".to_vec();
        text.extend_from_slice(start(request.arg(0), LONGEST_TOLD));
        text.extend_from_slice(b"', with args beginning with: ");
        let before = text.len();
        for arg in request.args(1) {
            let room = LONGEST_TOLD.saturating_sub(text.len() - before);
            if room == 0 {
                break;
            }
            text.push(b'\'');
            text.extend_from_slice(start(arg, room));
            text.extend_from_slice(b"' ");
        }
        Refused::from(text)
    }

    /// Returns the error for an unknown subcommand.
    #[cold]
    pub(super) fn subcommand(request: &Request<'_>) -> Refused {
        let name = request.arg(0).to_ascii_uppercase();
        let told = start(request.arg(1), LONGEST_TOLD);
        let after = [b"'. Try ", &*name, b" HELP."].concat();
        let text = [b"ERR unknown subcommand '", told, &after].concat();
        Refused::from(text)
    }
}

impl From<String> for Refused {
    fn from(text: String) -> Refused {
        Refused::from(text.into_bytes())
    }
}

impl From<Vec<u8>> for Refused {
    fn from(text: Vec<u8>) -> Refused {
        Refused(Cow::Owned(text))
    }
}

/// Returns the start of a text as C prints it: up to a byte 0.
pub(super) fn start(text: &[u8], len: usize) -> &[u8] {
    let text = &text[..text.len().min(len)];
    let end = text.iter().position(|byte| *byte == 0);
    &text[..end.unwrap_or(text.len())]
}

/// Length of an unknown command's part that an error repeats.
const LONGEST_TOLD: usize = 128;
