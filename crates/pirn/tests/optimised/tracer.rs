//! The counting process: starts the same test in a child, steps its worker from mark to mark,
//! and counts read-modify-writes and reads of the clock.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::ops::Range;
use std::process::{Child, Command, Stdio};
use std::ptr;

use crate::child::{self, OPERATIONS, READY};
use crate::decode::{is_read_modify_write, reads_the_clock};
use crate::unmeasured::unmeasured;

const PART: &str = "PIRN_TEST_PART";

/// Runs `work` in a child, as the test of this name, and fails if it executes more than `most`
/// read-modify-writes for an operation, beyond those that start and end the counting.
pub(crate) fn limit(name: &str, most: f64, work: impl FnOnce() + Send) {
    limit_on(1, name, most, work);
}

/// Like [`limit`], on a runtime with so many workers: 1, or 0 for a runtime without threads, and so
/// without a thread that inspects its fibers.
pub(crate) fn limit_on(
    workers: usize,
    name: &str,
    most: f64,
    work: impl FnOnce() + Send,
) {
    counted(workers, name, most, work);
}

/// Like [`limit`], and fails if the clock is read more than `reads` times for an operation.
pub(crate) fn limit_with_clock(
    name: &str,
    most: f64,
    reads: f64,
    work: impl FnOnce() + Send,
) {
    let Some(counted) = counted(1, name, most, work) else {
        return;
    };
    println!("{name}: the clock was read {} times", counted.reads);
    assert!(
        counted.reads as f64 <= reads * (OPERATIONS + 1) as f64,
        "{} reads of the clock for {OPERATIONS} operations, {reads} for each are allowed",
        counted.reads
    );
}

/// Does the work of [`limit_on`] and returns the counts; `None` in the child, and where a process
/// cannot be stepped.
fn counted(
    workers: usize,
    name: &str,
    most: f64,
    work: impl FnOnce() + Send,
) -> Option<Counted> {
    if std::env::var_os(PART).is_some() {
        child::run(workers, work);
        return None;
    }
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    let child = command
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(PART, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.expect("a process starts");
    let counted = count(&mut child);
    let ended = match counted {
        Ok(_) => child.wait(),
        Err(_) => child.kill().and_then(|()| child.wait()),
    };
    let counted = match counted {
        Ok(counted) => counted,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            unmeasured(&format!("may not step a process ({error})"));
            return None;
        }
        Err(error) => panic!("stepping: {error}"),
    };
    assert!(ended.expect("it was started").success(), "the child failed");
    assert_ne!(counted.steps, 0, "nothing was executed between the marks");
    let total: u64 = counted.found.values().sum();
    let each = total as f64 / OPERATIONS as f64;
    println!(
        "{name}: {each:.3} read-modify-writes, {} instructions",
        counted.steps / OPERATIONS
    );
    for (place, times) in &counted.found {
        println!("  {times:6} at {place}");
    }
    // A stepped worker is so slow that its fibers seem to compute between their operations: a fiber
    // may yield once more, and so one more operation may end between the marks.
    assert!(
        total as f64 <= most * (OPERATIONS + 1) as f64,
        "{each} read-modify-writes for an operation, {most} are allowed"
    );
    Some(counted)
}

/// The counts between the marks.
struct Counted {
    steps: u64,
    /// How often each read-modify-write was executed, by its place as `addr2line` prints it.
    found: BTreeMap<String, u64>,
    /// How often the clock was read.
    reads: u64,
}

fn count(child: &mut Child) -> io::Result<Counted> {
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let ready = loop {
        let line = lines.next().ok_or(io::ErrorKind::UnexpectedEof)??;
        if let Some(numbers) = line.strip_prefix(READY) {
            break numbers.to_owned();
        }
    };
    let numbers: Vec<u64> = ready
        .split(' ')
        .map(|number| number.parse().expect("a number"))
        .collect();
    let [id, begin, end] = numbers[..] else {
        panic!("said `{ready}`");
    };
    let thread = Thread(id as libc::pid_t);
    thread.seize()?;
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(&[0])?;
    let base = base(child.id(), begin)?;
    let system = vdso(child.id())?;
    let counted = thread.count(begin, end, base, &system)?;
    thread.ask(libc::PTRACE_DETACH, 0, 0)?;
    // The child may write more, and must not find the pipe closed.
    lines.for_each(drop);
    Ok(counted)
}

/// The address of the binary in the memory of the process.
fn base(process: u32, inside: u64) -> io::Result<u64> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps"))?;
    let own = std::env::current_exe()?.display().to_string();
    let starts = maps.lines().filter(|line| line.ends_with(&own));
    let starts =
        starts.filter_map(|line| u64::from_str_radix(line.split_once('-')?.0, 16).ok());
    Ok(starts.min().unwrap_or(inside))
}

/// The addresses of the code that the system maps into the process, which reads the clock.
fn vdso(process: u32) -> io::Result<Range<u64>> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps"))?;
    let line = maps.lines().find(|line| line.ends_with("[vdso]"));
    let ends = line.and_then(|line| line.split(' ').next()?.split_once('-'));
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let range = ends.and_then(|(start, end)| Some(number(start)?..number(end)?));
    Ok(range.unwrap_or(0..0))
}

/// A thread of another process that this one steps.
#[derive(Clone, Copy)]
struct Thread(libc::pid_t);

impl Thread {
    /// Stops the thread, to be stepped by this one.
    fn seize(self) -> io::Result<()> {
        self.ask(libc::PTRACE_SEIZE, 0, 0)?;
        self.ask(libc::PTRACE_INTERRUPT, 0, 0)?;
        self.stopped().map(drop)
    }

    fn count(
        self,
        begin: u64,
        end: u64,
        base: u64,
        system: &Range<u64>,
    ) -> io::Result<Counted> {
        let mut known = BTreeMap::new();
        let mut found = BTreeMap::new();
        let (mut steps, mut reads) = (0, 0);
        let mut again = false;
        let mut inside = false;
        let mut signal = 0;
        loop {
            self.ask(libc::PTRACE_SINGLESTEP, 0, signal)?;
            // Any stop other than the end of a step is a signal for the thread.
            signal = match self.stopped()? {
                libc::SIGTRAP => 0,
                other => other as u64,
            };
            let at = self.place()?;
            if at == end {
                return Ok(Counted {
                    steps,
                    found,
                    reads,
                });
            }
            inside |= at == begin;
            if !inside || signal != 0 {
                continue;
            }
            steps += 1;
            let (locked, clock) = match known.get(&at) {
                Some(kind) => *kind,
                None => {
                    let code = self.code(at)?;
                    let kind = (is_read_modify_write(&code), reads_the_clock(&code));
                    known.insert(at, kind);
                    kind
                }
            };
            // The code of the system reads again if a tick comes meanwhile: one read in all.
            again &= system.contains(&at);
            reads += u64::from(clock && !again);
            again |= clock;
            if locked {
                *found
                    .entry(format!("{:#x}", at.wrapping_sub(base)))
                    .or_default() += 1;
            }
        }
    }

    /// Waits until the thread stops, and returns the signal that it stopped with.
    fn stopped(self) -> io::Result<i32> {
        let mut status = 0;
        // SAFETY: writes to `status` alone.
        let stopped = unsafe { libc::waitpid(self.0, &mut status, libc::__WALL) };
        match stopped {
            -1 => Err(io::Error::last_os_error()),
            _ if libc::WIFSTOPPED(status) => Ok(libc::WSTOPSIG(status)),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The address of the next instruction.
    fn place(self) -> io::Result<u64> {
        let offset = std::mem::offset_of!(libc::user_regs_struct, rip);
        self.word(libc::PTRACE_PEEKUSER, offset as u64)
    }

    /// Sixteen bytes of code, one more than the longest instruction has.
    fn code(self, at: u64) -> io::Result<[u8; 16]> {
        let words = [
            self.word(libc::PTRACE_PEEKTEXT, at)?,
            // The page after an instruction that ends its page may be unmapped.
            self.word(libc::PTRACE_PEEKTEXT, at + 8).unwrap_or(0),
        ];
        let mut code = [0; 16];
        code[..8].copy_from_slice(&words[0].to_le_bytes());
        code[8..].copy_from_slice(&words[1].to_le_bytes());
        Ok(code)
    }

    /// A word of the thread's memory or registers.
    fn word(self, request: libc::c_uint, at: u64) -> io::Result<u64> {
        // SAFETY: a place in this thread.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: as above. The word itself may be -1: only `errno` reveals a failure.
        unsafe { *errno = 0 };
        let nothing = ptr::null_mut::<libc::c_void>();
        // SAFETY: reads from the traced process, which copies the word.
        let word = unsafe { libc::ptrace(request, self.0, at, nothing) };
        match io::Error::last_os_error() {
            error if error.raw_os_error() != Some(0) => Err(error),
            _ => Ok(word as u64),
        }
    }

    fn ask(self, request: libc::c_uint, address: u64, data: u64) -> io::Result<()> {
        // SAFETY: these requests write to no memory of this process.
        let failed = unsafe { libc::ptrace(request, self.0, address, data) };
        match failed {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}
