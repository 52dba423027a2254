//! The failure of a run, and its report.

use std::fmt;

use pirn::dev::sim::Property;

use crate::trace::Trace;

/// Why a run has failed.
///
/// # Examples
/// ```
/// use pirn_sim::Verdict;
///
/// let failure = pirn_sim::campaign().find(|| panic!("always")).unwrap();
/// assert!(matches!(failure.verdict(), Verdict::Panic(message) if message.contains("always")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The body has panicked, or a fiber that no party has joined: the place and the message.
    Panic(String),
    /// No fiber can ever run again, but some have not ended: a paragraph for each of them.
    Deadlock(Vec<String>),
    /// A property that [always](pirn::sim::always) holds did not: its name, place and message.
    Violated(String),
    /// No run of the campaign has met these properties that hold
    /// [sometimes](pirn::sim::sometimes), or are to be [reached](crate::Campaign::reaches).
    NeverMet(Vec<String>),
    /// The run had this many choices without an end.
    Endless(u64),
}

impl Verdict {
    pub(crate) fn violated(property: Property) -> Verdict {
        let Property {
            name, at, message, ..
        } = property;
        let message = match message.as_str() {
            "" => String::new(),
            message => format!(": {message}"),
        };
        Verdict::Violated(format!("'{name}' does not always hold ({at}){message}"))
    }

    /// Returns true if both have the same cause: the same panic, or any deadlock.
    pub(crate) fn is_like(&self, other: &Verdict) -> bool {
        match (self, other) {
            (Verdict::Panic(one), Verdict::Panic(other)) => one == other,
            (Verdict::Deadlock(_), Verdict::Deadlock(_)) => true,
            (Verdict::Violated(one), Verdict::Violated(other)) => {
                // The message may differ.
                let name = |text: &str| text.split('(').next().map(str::to_owned);
                name(one) == name(other)
            }
            (Verdict::Endless(_), Verdict::Endless(_)) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Panic(message) => write!(f, "panicked: {message}"),
            Verdict::Deadlock(fibers) => {
                write!(f, "deadlock: {} fibers wait indefinitely", fibers.len())?;
                fibers
                    .iter()
                    .try_for_each(|fiber| write!(f, "\n{}", fiber.trim_end_matches('\n')))
            }
            Verdict::Violated(property) => f.write_str(property),
            Verdict::NeverMet(names) => {
                write!(f, "in no run of the campaign: {}", names.join(", "))
            }
            Verdict::Endless(choices) => {
                write!(f, "no end after {choices} choices")
            }
        }
    }
}

/// The first failure of a campaign. `Display` writes a report.
///
/// # Examples
/// ```
/// let failure = pirn_sim::campaign().find(|| panic!("always")).unwrap();
/// assert_eq!(failure.run(), 1);
/// assert!(failure.to_string().contains("PIRN_SIM_TRACE="));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Failure {
    pub(crate) test: String,
    pub(crate) run: u64,
    pub(crate) seed: u64,
    pub(crate) verdict: Verdict,
    pub(crate) trace: Trace,
    pub(crate) remarks: Vec<String>,
    /// The first panic of the run, whichever fiber's.
    pub(crate) first_panic: Option<String>,
    /// The same trace has failed in the same way twice.
    pub(crate) repeats: bool,
}

impl Failure {
    /// Returns why the run has failed.
    ///
    /// # Examples
    /// ```
    /// # use pirn_sim::Verdict;
    /// let failure = pirn_sim::campaign().find(|| pirn::spawn::park()).unwrap();
    /// assert!(matches!(failure.verdict(), Verdict::Deadlock(fibers) if fibers.len() == 1));
    /// ```
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Returns a trace that fails in the same way: with the same panic, or by a deadlock. It is
    /// shrunk, unless the failure is [`Verdict::Endless`] or does not repeat.
    ///
    /// # Examples
    /// ```
    /// let failure = pirn_sim::campaign().find(|| panic!("always")).unwrap();
    /// // It fails in each schedule, so no choice matters.
    /// assert!(failure.trace().is_canonical());
    /// ```
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns the number of the run that failed; the first one is 1.
    ///
    /// # Examples
    /// ```
    /// assert_eq!(pirn_sim::campaign().find(|| panic!("always")).unwrap().run(), 1);
    /// ```
    #[must_use]
    pub fn run(&self) -> u64 {
        self.run
    }

    /// Returns the seed of the run that failed.
    ///
    /// # Examples
    /// ```
    /// let failure = pirn_sim::campaign().seed(7).find(|| panic!("always")).unwrap();
    /// assert_eq!(failure.seed(), 7);
    /// ```
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure {
            test, run, seed, ..
        } = self;
        writeln!(
            f,
            "pirn-sim: {test} failed in run {run} (PIRN_SIM_SEED={seed})"
        )?;
        writeln!(f, "  {}", self.verdict)?;
        let verdict = self.verdict.to_string();
        let first = self.first_panic.iter().find(|it| !verdict.contains(*it));
        if let Some(first) = first {
            writeln!(f, "  the first panic of the run: {first}")?;
        }
        match self.remarks.len() {
            0 if !self.trace.is_canonical() => {}
            0 => {
                writeln!(
                    f,
                    "  in the canonical schedule: each fiber ran until it waited"
                )?;
            }
            _ => writeln!(f, "  each fiber ran until it waited, but:")?,
        }
        for remark in &self.remarks {
            writeln!(f, "    {remark}")?;
        }
        let rest = self
            .trace
            .deviations
            .len()
            .saturating_sub(self.remarks.len());
        if rest > 0 && self.repeats {
            writeln!(f, "    and {rest} more")?;
        }
        if !self.repeats {
            writeln!(
                f,
                "  the same schedule does not always fail: the test depends on something else than \
                 the schedule, such as a static, a clock or the order of a HashMap"
            )?;
        }
        match self.trace.deviations.len() {
            0..LONG => {
                write!(f, "  replay this test with PIRN_SIM_TRACE='{}'", self.trace)
            }
            long => write!(
                f,
                "  replay this test with PIRN_SIM_SEED={seed} PIRN_SIM_RUNS=1 and the same strategy; \
                 its trace has {long} parts"
            ),
        }
    }
}

/// The deviations from which on a report does not print a trace. Arbitrary: a few lines of a
/// terminal.
const LONG: usize = 100;

impl Trace {
    /// Returns true if the trace is the canonical schedule: each fiber goes on until it waits.
    ///
    /// # Examples
    /// ```
    /// assert!(pirn_sim::Trace::default().is_canonical());
    /// ```
    #[must_use]
    pub fn is_canonical(&self) -> bool {
        self.deviations.is_empty()
    }
}
