//! The categories of `PIRN_LOG`.

use std::fmt;
use std::ops::BitOr;
use std::str::FromStr;

/// A set of categories of events, which are written to standard error as they happen: the
/// categories of `PIRN_LOG`.
///
/// # Examples
/// ```
/// use pirn::diag::LogMask;
///
/// let mask = LogMask::PARK | LogMask::WAKE;
/// assert_eq!("wake,park".parse(), Ok(mask));
/// assert_eq!(mask.to_string(), "wake,park");
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq, Default)]
pub struct LogMask(u8);

/// The error of parsing a [`LogMask`]: a name that is no category.
///
/// # Examples
/// ```
/// use pirn::diag::LogMask;
///
/// let error = "wake,nap".parse::<LogMask>().unwrap_err();
/// assert!(error.to_string().starts_with("'nap' is no category"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCategory(String);

impl LogMask {
    /// Nothing.
    pub const NONE: LogMask = LogMask(0);
    /// Waits for the end of fibers, and ends of fibers.
    pub const JOIN: LogMask = LogMask(1);
    /// Fibers with a wait that is ended.
    pub const WAKE: LogMask = LogMask(1 << 1);
    /// Fibers that move between workers: from outside, through the injector, by stealing.
    pub const INJECT: LogMask = LogMask(1 << 2);
    /// Waits in channels and selects: a fiber is enqueued, signalled, dequeued; and closed
    /// channels.
    pub const CHAN: LogMask = LogMask(1 << 3);
    /// All waits.
    pub const PARK: LogMask = LogMask(1 << 4);
    /// Actions of the monitor, and each change of the number of threads, with its reason.
    pub const SYSMON: LogMask = LogMask(1 << 5);
    /// Everything.
    pub const ALL: LogMask = LogMask((1 << 6) - 1);

    /// Returns true if it has any of the categories of `other`.
    ///
    /// # Examples
    /// ```
    /// use pirn::diag::LogMask;
    ///
    /// let mask = LogMask::PARK | LogMask::WAKE;
    /// assert!(mask.intersects(LogMask::WAKE));
    /// assert!(!mask.intersects(LogMask::JOIN | LogMask::CHAN));
    /// ```
    #[must_use]
    pub const fn intersects(self, other: LogMask) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns true if it has no category.
    ///
    /// # Examples
    /// ```
    /// use pirn::diag::LogMask;
    ///
    /// assert!(LogMask::default().is_empty());
    /// assert!(!LogMask::ALL.is_empty());
    /// ```
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

const NAMES: [(&str, LogMask); 6] = [
    ("join", LogMask::JOIN),
    ("wake", LogMask::WAKE),
    ("inject", LogMask::INJECT),
    ("chan", LogMask::CHAN),
    ("park", LogMask::PARK),
    ("sysmon", LogMask::SYSMON),
];

impl BitOr for LogMask {
    type Output = LogMask;

    fn bitor(self, other: LogMask) -> LogMask {
        LogMask(self.0 | other.0)
    }
}

impl FromStr for LogMask {
    type Err = UnknownCategory;

    /// Parses names with commas between them, or `all`.
    fn from_str(text: &str) -> Result<LogMask, UnknownCategory> {
        text.split(',').try_fold(LogMask::NONE, |mask, name| {
            let name = name.trim();
            if name == "all" {
                return Ok(LogMask::ALL);
            }
            let known = NAMES.iter().find(|(known, _)| *known == name);
            known
                .map(|(_, category)| mask | *category)
                .ok_or_else(|| UnknownCategory(name.to_owned()))
        })
    }
}

impl fmt::Display for LogMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chosen = NAMES
            .iter()
            .filter(|(_, category)| self.intersects(*category));
        for (n, (name, _)) in chosen.enumerate() {
            write!(f, "{}{name}", if n == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl fmt::Display for UnknownCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no category; there are", self.0)?;
        for (name, _) in NAMES {
            write!(f, " {name}")?;
        }
        f.write_str(" and all")
    }
}

impl std::error::Error for UnknownCategory {}
