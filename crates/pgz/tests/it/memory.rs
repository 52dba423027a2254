//! Memory that stays flat, whatever the file and the consumer.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pgz::gzip::Mark;

use crate::sandbox::{Sandbox, noise};

const MIB: usize = 1 << 20;
/// The promised bound.
const MOST_MEMORY_KIB: u64 = 64 << 10;

#[test]
fn a_consumer_that_stops_stops_the_reading_too() {
    let box_ = Sandbox::new();
    let data = noise(1, 4 * MIB);
    for args in [&["-1"][..], &["-1i"], &["-1", "--rsyncable"]] {
        // 96 MiB of input; a consumer that reads nothing until the program stops reading.
        let memory = pour(&box_, args, 24, &data, &Consumer::Stalls);
        assert!(memory <= MOST_MEMORY_KIB, "{args:?}: {memory} KiB");
    }
    let packed = box_.run("pgz", &["-i"], &data).expect(0).stdout;
    let memory = pour(&box_, &["-d"], 24, &packed, &Consumer::Stalls);
    assert!(memory <= MOST_MEMORY_KIB, "{memory} KiB");
    let packed = box_
        .run("gzip", &["-1"], &vec![0; 64 * MIB])
        .expect(0)
        .stdout;
    let memory = pour(&box_, &["-d"], 4, &packed, &Consumer::Stalls);
    assert!(memory <= MOST_MEMORY_KIB, "{memory} KiB");
    // In an unknown format: copied.
    let memory = pour(&box_, &["-dcf"], 24, &data, &Consumer::Stalls);
    assert!(memory <= MOST_MEMORY_KIB, "{memory} KiB");
}

/// A `.Z` file of zeros, with longer strings for each code: 20 KiB that decompress to
/// 66 MiB.
#[test]
fn long_strings_of_compress_in_flat_memory() {
    const LAST: u64 = 12_000;
    let box_ = Sandbox::new();
    let mut file = vec![0x1f, 0x9d, 0x90];
    let (mut bits, mut held, mut width, mut in_group) = (0_u64, 0, 9, 0);
    let mut push = |code: u64, width: u32| {
        bits |= code << held;
        held += width;
        while held >= 8 {
            file.push(bits as u8);
            bits >>= 8;
            held -= 8;
        }
    };
    // The byte itself, and then each time the entry that the code completes.
    for code in std::iter::once(0).chain(257..LAST) {
        if code >= 1 << width {
            while in_group % 8 != 0 {
                push(0, width);
                in_group += 1;
            }
            width += 1;
        }
        push(code, width);
        in_group += 1;
    }
    push(0, 7);
    let len: u64 = (1..=LAST - 256).sum();
    let memory = pour(&box_, &["-d"], 1, &file, &Consumer::Eager);
    assert!(memory <= MOST_MEMORY_KIB, "{memory} KiB");
    let listed = box_.run("pgz", &["-ql"], &file).expect(0).stdout;
    let listed = String::from_utf8(listed).unwrap();
    let plain = listed.split_whitespace().nth(1);
    assert_eq!(plain, Some(&*len.to_string()));
}

#[test]
fn half_a_gibibyte_of_zeros_in_flat_memory() {
    let box_ = Sandbox::new();
    for args in [&["-6"][..], &["-6i"]] {
        let memory = pour(&box_, args, 512, &vec![0; MIB], &Consumer::Eager);
        assert!(memory <= MOST_MEMORY_KIB, "{args:?}: {memory} KiB");
    }
}

/// Tens of thousands of blocks with a recorded length of 0: the amount in progress is still
/// bounded.
#[test]
fn empty_blocks_in_flat_memory() {
    const EMPTY: u32 = 20_000;
    let word = b"hello";
    let mut stored = vec![1, 5, 0, 0xfa, 0xff];
    stored.extend_from_slice(word);
    stored.extend_from_slice(&crc32fast::hash(word).to_le_bytes());
    stored.extend_from_slice(&[5, 0, 0, 0]);
    // An empty stream, its checksum and its length.
    let empty = [3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut series = Vec::new();
    for _ in 0..EMPTY {
        series.extend(member(
            Mark::Block {
                member: 38,
                plain: 0,
            },
            &empty,
        ));
    }
    let len = 28 + stored.len() as u32;
    series.extend(member(
        Mark::Block {
            member: len,
            plain: 5,
        },
        &stored,
    ));
    let blocks = u64::from(EMPTY) + 1;
    series.extend(member(Mark::End { blocks, plain: 5 }, &empty));
    let box_ = Sandbox::new();
    let memory = pour(&box_, &["-d"], 10, &series, &Consumer::Eager);
    assert!(memory <= MOST_MEMORY_KIB, "{memory} KiB");
}

/// A gzip member with this mark.
fn member(mark: Mark, body: &[u8]) -> Vec<u8> {
    let extra = mark.encode();
    let mut member = vec![0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255];
    member.extend_from_slice(&(extra.len() as u16).to_le_bytes());
    member.extend_from_slice(&extra);
    member.extend_from_slice(body);
    member
}

#[test]
#[ignore = "minutes: run by `cargo xtask stress`"]
fn four_gibibytes_of_zeros_in_flat_memory() {
    let box_ = Sandbox::new();
    for consumer in [Consumer::Eager, Consumer::PerSecond(MIB)] {
        for args in [&["-6"][..], &["-6i"]] {
            let memory = pour(&box_, args, 4096, &vec![0; MIB], &consumer);
            eprintln!("{args:?} {consumer:?}: {memory} KiB");
            assert!(memory <= MOST_MEMORY_KIB, "{args:?}: {memory} KiB");
        }
    }
}

/// The consumer of the program's output.
#[derive(Debug)]
enum Consumer {
    /// Reads at full speed.
    Eager,
    /// Reads this number of bytes a second.
    PerSecond(usize),
    /// Reads nothing until the program has stopped reading; then everything.
    Stalls,
}

/// Feeds `data` through the program `times` times and returns its peak memory, in KiB. With a
/// consumer that stalls, the program must stop reading by itself.
fn pour(
    box_: &Sandbox,
    args: &[&str],
    times: usize,
    data: &[u8],
    consumer: &Consumer,
) -> u64 {
    let mut child = box_
        .command("pgz")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stdin, mut stdout) =
        (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let id = child.id();
    let fed = AtomicU64::new(0);
    let total = (times * data.len()) as u64;
    let most = thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..times {
                for piece in data.chunks(64 << 10) {
                    stdin.write_all(piece).unwrap();
                    fed.fetch_add(piece.len() as u64, Ordering::Relaxed);
                }
            }
            drop(stdin);
        });
        if matches!(consumer, Consumer::Stalls) {
            let at_rest = wait_until_still(&fed);
            assert!(at_rest < total, "{args:?} took all {total} bytes unasked");
        }
        let mut most = memory(id);
        let mut buffer = vec![0; 64 << 10];
        let (started, mut received) = (Instant::now(), 0);
        loop {
            let n = match stdout.read(&mut buffer) {
                Ok(n) => n,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => panic!("{e}"),
            };
            most = most.max(memory(id));
            if n == 0 {
                return most;
            }
            received += n;
            if let Consumer::PerSecond(rate) = consumer {
                let due = Duration::from_secs_f64(received as f64 / *rate as f64);
                thread::sleep(due.saturating_sub(started.elapsed()));
            }
        }
    });
    assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
    most
}

/// Waits until a counter is unchanged for half a second.
fn wait_until_still(counter: &AtomicU64) -> u64 {
    let mut last = (0, Instant::now());
    loop {
        thread::sleep(Duration::from_millis(20));
        let now = counter.load(Ordering::Relaxed);
        if now != last.0 || now == 0 {
            last = (now, Instant::now());
        } else if last.1.elapsed() > Duration::from_millis(500) {
            return now;
        }
    }
}

/// Returns the peak memory of the process so far, in KiB; 0 once it has ended.
fn memory(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
