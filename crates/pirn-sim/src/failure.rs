//! The failure of a run, and its report.

use std::fmt;
use std::panic::Location;
use std::path::PathBuf;

use pirn::dev::sim::Property;

use crate::diagram::Diagram;
use crate::explain::{Explained, WAITS};
use crate::trace::{Escapes, Of, Trace};
use crate::watchdog::Repeat;

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
    /// No fiber can ever run again, but some have not ended: for each of them, what it waits for.
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
        Verdict::Violated(format!("'{name}'{NOT_ALWAYS}({at}){message}"))
    }

    /// Returns true if both have the same cause: panics at one place with the same first line of
    /// their messages, or any deadlocks.
    pub(crate) fn is_like(&self, other: &Verdict) -> bool {
        match (self, other) {
            // The next lines are the values of an assertion.
            (Verdict::Panic(one), Verdict::Panic(other)) => {
                one.lines().next() == other.lines().next()
            }
            (Verdict::Deadlock(_), Verdict::Deadlock(_)) => true,
            (Verdict::Violated(one), Verdict::Violated(other)) => {
                // The message may differ.
                let name =
                    |text: &str| text.split_once(NOT_ALWAYS).map(|it| it.0.to_owned());
                name(one) == name(other)
            }
            (Verdict::Endless(_), Verdict::Endless(_)) => true,
            _ => false,
        }
    }
}

/// What stands between the name of a violated property and its place.
const NOT_ALWAYS: &str = " does not always hold ";

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Panic(message) => write!(f, "panicked: {message}"),
            Verdict::Deadlock(fibers) => {
                match fibers.len() {
                    1 => write!(f, "deadlock: 1 fiber waits indefinitely")?,
                    more => write!(f, "deadlock: {more} fibers wait indefinitely")?,
                }
                fibers
                    .iter()
                    .try_for_each(|fiber| write!(f, "\n    {fiber}"))
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
    /// The name of the test, and the place of the campaign.
    pub(crate) test: String,
    pub(crate) at: &'static Location<'static>,
    pub(crate) run: u64,
    /// The line of a corpus that has failed.
    pub(crate) line: Option<String>,
    pub(crate) seed: u64,
    pub(crate) verdict: Verdict,
    pub(crate) trace: Trace,
    pub(crate) explained: Explained,
    pub(crate) diagram: Diagram,
    /// The first panic of the run, whichever fiber's.
    pub(crate) first_panic: Option<String>,
    /// Without any one of the deviations of the trace the run does not fail in this way.
    pub(crate) is_minimal: bool,
    /// The same deviations do not fail with the seed 0.
    pub(crate) needs_seed: bool,
    /// The seed and the strategy repeat the run: it depends on no other one.
    pub(crate) is_by_seed: bool,
    /// The same trace has failed in the same way twice.
    pub(crate) repeats: bool,
    /// What no schedule decides in the run.
    pub(crate) escapes: Escapes,
    /// The corpus to which the failure may be added.
    pub(crate) corpus: Option<PathBuf>,
    /// The page that has been written, or why not.
    pub(crate) page: Option<Result<PathBuf, String>>,
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

    /// Returns a trace that fails in the same way: with a panic at the same place and the same
    /// first line of its message, by a deadlock, or with the same property violated. It is shrunk,
    /// unless the failure is [`Verdict::Endless`] or does not repeat: for small tests to at most
    /// 1.5 times as many choices as the failure needs.
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

    /// Returns a page in HTML with the report and a diagram of the failed run: a line for each
    /// fiber, a row for each step with its operation, object and place; arrows for wakes and
    /// spawns. The steps that differ from the canonical schedule are highlighted. A long run is cut
    /// to its last 200 steps. The page needs no other file and no script.
    ///
    /// A wake by a time limit may be drawn as one by the fiber that ran last. The diagram is empty
    /// if the failure does not repeat.
    ///
    /// # Examples
    /// ```
    /// let failure = pirn_sim::campaign().find(|| panic!("always")).unwrap();
    /// assert!(failure.to_html().contains("</svg>"));
    /// ```
    #[must_use]
    pub fn to_html(&self) -> String {
        self.diagram.html(&self.title(), &self.to_string())
    }

    /// Returns the steps of [`to_html`](Failure::to_html) as trace events in JSON, for
    /// `ui.perfetto.dev`: a thread for each fiber, a microsecond for each step.
    ///
    /// # Examples
    /// ```
    /// let failure = pirn_sim::campaign().find(|| panic!("always")).unwrap();
    /// assert!(failure.to_perfetto().contains("\"traceEvents\""));
    /// ```
    #[must_use]
    pub fn to_perfetto(&self) -> String {
        self.diagram.perfetto(&self.title())
    }

    /// Returns the name of the test alone.
    pub(crate) fn name(&self) -> &str {
        &self.test
    }

    /// Describes the failure as it was found: before it is repeated, shrunk and explained.
    pub(crate) fn brief(&self) -> String {
        let repeat = match (self.is_by_seed, &self.line) {
            (true, None) => Repeat::Seed(self.seed),
            _ => Repeat::Trace(self.trace.clone()),
        };
        format!("{} ({repeat})", self.verdict)
    }

    fn title(&self) -> String {
        format!("{}: {}", self.test, self.first_line())
    }

    /// Returns the first line of the verdict.
    fn first_line(&self) -> String {
        let verdict = self.verdict.to_string();
        verdict.lines().next().unwrap_or_default().to_owned()
    }

    /// Writes the verdict, and for a deadlock the fibers that wait for each other.
    fn write_verdict(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cycle = &self.explained.cycle;
        let Verdict::Deadlock(fibers) = &self.verdict else {
            return writeln!(f, "  {}", self.verdict);
        };
        write!(f, "  {}", self.first_line())?;
        match cycle.as_slice() {
            [] => {}
            [one] => write!(f, ", fiber {one} for itself")?,
            [first, ..] => {
                let numbers: Vec<_> = cycle.iter().map(ToString::to_string).collect();
                write!(
                    f,
                    "; fibers {} → {first} wait for each other",
                    numbers.join(" → ")
                )?;
            }
        }
        match fibers.len() - cycle.len() {
            others if cycle.is_empty() || others == 0 => {}
            1 => write!(f, ", and 1 other waits")?,
            others => write!(f, ", and {others} others wait")?,
        }
        writeln!(f)?;
        // The others wait for those of the cycle, or would not help to understand it.
        let shown = match cycle.len() {
            0 => fibers.as_slice(),
            length => &fibers[..length],
        };
        for fiber in shown.iter().take(WAITS) {
            writeln!(f, "    {fiber}")?;
        }
        match shown.len().saturating_sub(WAITS) {
            0 => Ok(()),
            more => writeln!(f, "    and {more} more"),
        }
    }

    /// Returns what no schedule decides.
    fn described_escapes(&self) -> String {
        let calls = match self.explained.calls.as_slice() {
            [] => String::new(),
            calls => format!(" ({})", calls.join(", ")),
        };
        self.escapes.to_string() + &calls
    }

    /// Writes which choices were unusual.
    fn write_orders(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.repeats {
            return writeln!(
                f,
                "  the same schedule does not always fail: the test depends on something else than \
                 the schedule, such as a static, a clock or the order of a HashMap"
            );
        }
        let orders = &self.explained.orders;
        let deviations = self.trace.deviations.len();
        if deviations == 0 {
            return writeln!(
                f,
                "  in the canonical schedule: each fiber ran until it waited"
            );
        }
        if orders.is_empty() {
            return Ok(());
        }
        let needed = match (self.is_minimal, deviations) {
            (false, _) => "",
            (true, 1) => " (without this it does not fail so)",
            (true, _) => " (without any one of these it does not fail so)",
        };
        let cases = match self.trace.has_cases() {
            true => ", and each select took its usual case",
            false => "",
        };
        writeln!(f, "  each fiber ran until it waited{cases}, but{needed}:")?;
        for order in orders {
            writeln!(f, "    {order}")?;
        }
        match deviations.saturating_sub(orders.len()) {
            0 => Ok(()),
            rest => writeln!(f, "    and {rest} more"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure {
            test,
            at,
            run,
            seed,
            line,
            ..
        } = self;
        write!(f, "pirn-sim: '{test}' ({at}) failed in ")?;
        match line {
            Some(line) => writeln!(f, "the run of {line}")?,
            None if !self.is_by_seed => writeln!(f, "run {run}")?,
            None => writeln!(f, "run {run} (PIRN_SIM_SEED={seed})")?,
        }
        self.write_verdict(f)?;
        let verdict = self.verdict.to_string();
        let first = self.first_panic.iter().find(|it| !verdict.contains(*it));
        if let Some(first) = first {
            writeln!(f, "  the first panic of the run: {first}")?;
        }
        if matches!(self.verdict, Verdict::NeverMet(_)) {
            return write!(
                f,
                "  no single run has failed, so there is no trace to replay"
            );
        }
        let last = self.explained.last.iter();
        for last in last.filter(|_| matches!(self.verdict, Verdict::Panic(_))) {
            writeln!(f, "  {last}")?;
        }
        self.write_orders(f)?;
        if self.needs_seed {
            let seed = self.trace.seed;
            writeln!(
                f,
                "  the seed of the trace (0x{seed:x}) is needed too: from it come the time that choices \
                 take, which halves of a join become fibers, and `pirn_sim::seed`"
            )?;
        }
        if self.escapes.any() {
            writeln!(
                f,
                "  no seed decides when these happen: {}",
                self.described_escapes()
            )?;
        }
        if let Some(page) = &self.page {
            match page {
                Ok(page) => writeln!(f, "  a diagram of it is in {}", page.display())?,
                Err(error) => writeln!(f, "  PIRN_SIM_OUT: cannot write: {error}")?,
            }
        }
        match self.trace.deviations.len() {
            long if long >= LONG && self.is_by_seed => {
                return write!(
                    f,
                    "  replay this test with PIRN_SIM_SEED={seed} PIRN_SIM_RUNS=1 and the same \
                     strategy; its trace has {long} parts"
                );
            }
            _ => {
                write!(f, "  replay this test with PIRN_SIM_TRACE='{}'", self.trace)?;
            }
        }
        match &self.corpus {
            Some(corpus) if line.is_none() && self.repeats => write!(
                f,
                "\n  to run it first from now on, add this line to {}:\n{} {}",
                corpus.display(),
                self.trace,
                self.first_line()
            ),
            _ => Ok(()),
        }
    }
}

/// The deviations from which on a report does not print a trace. Arbitrary: a few lines of a
/// terminal.
const LONG: usize = 100;

impl Trace {
    /// Returns true if a select takes another case than in the canonical schedule.
    fn has_cases(&self) -> bool {
        self.deviations.iter().any(|it| it.name.of == Of::Case)
    }

    /// Returns true if the trace is the canonical schedule: each fiber runs until it waits.
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
