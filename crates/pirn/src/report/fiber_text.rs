//! The text of one fiber in a report.

use std::fmt;

use crate::base::name::Name;
use crate::fiber::state_names::State;
use crate::report::fiber_info::FiberInfo;
use crate::report::frames::Frames;

/// Writes a paragraph: the state, since when and where, what the fiber waits for, its frames.
impl fmt::Display for FiberInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Name(self.name.as_deref().unwrap_or("unnamed"));
        write!(f, "    fiber {} '{name}' ", self.id)?;
        match self.state {
            State::Running => write!(f, "runs")?,
            State::Runnable => write!(f, "is ready")?,
            State::Parked => write!(f, "waits for {:.1?}", self.since)?,
            state => write!(f, "is {state:?}")?,
        }
        if let Some(reason) = self.reason {
            write!(f, " ({reason:?})")?;
        }
        if let Some(at) = self.waits_at {
            write!(f, " at {at}")?;
        }
        write!(f, ", spawned at {}", self.spawned_at)?;
        if self.stack_size > 0 {
            let (used, size) = (self.stack_used, self.stack_size);
            write!(f, ", {used} of {size} bytes of stack")?;
            if self.stack_touched > 0 {
                write!(f, " ({} touched)", self.stack_touched)?;
            }
        }
        writeln!(f)?;
        if let Some(object) = &self.waits_for {
            writeln!(f, "      for {object}")?;
        }
        if self.deadline.is_some() {
            writeln!(f, "      with a time limit")?;
        }
        match &self.backtrace {
            Some(backtrace) => write!(f, "{}", Frames(backtrace)),
            None => Ok(()),
        }
    }
}

impl FiberInfo {
    /// Returns one line: which fiber, and what it waits for.
    pub(crate) fn brief(&self) -> impl fmt::Display {
        fmt::from_fn(|f| {
            let name = Name(self.name.as_deref().unwrap_or("unnamed"));
            write!(f, "'{name}' (spawned at {})", self.spawned_at)?;
            match (&self.waits_for, self.reason) {
                (Some(object), _) => write!(f, " waits for {object}"),
                (None, Some(reason)) => write!(f, " waits ({reason:?})"),
                (None, None) => Ok(()),
            }
        })
    }

    /// Returns the user's frames of [`backtrace`](FiberInfo::backtrace), innermost first: function
    /// and place of each. Looks up symbols in the executable.
    pub(crate) fn frames(&self) -> Vec<String> {
        let text = self.backtrace.as_ref().map(|it| Frames(it).to_string());
        let text = text.unwrap_or_default();
        text.lines().map(|line| line.trim().to_owned()).collect()
    }
}
