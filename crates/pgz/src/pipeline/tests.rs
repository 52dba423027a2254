//! The pipelines on both executors, and the decode stage on thousands of damaged files.

use std::io::{self, Read, Write};

use super::*;
use crate::deflate::{Inflater, Level};
use crate::gzip::{Header, Trailer};

/// Receives pieces without any executor, and checks them as the pipeline does.
#[derive(Default)]
struct Inline {
    data: Vec<u8>,
    member: Vec<u8>,
    bad: bool,
}

impl Emit for Inline {
    fn buffer(&mut self) -> Vec<u8> {
        Vec::with_capacity(1 << 12)
    }

    fn bytes(&mut self, piece: Vec<u8>) -> Result<(), Gone> {
        self.member.extend_from_slice(&piece);
        Ok(())
    }

    fn close(&mut self, trailer: Trailer, _offset: u64) -> Result<(), Gone> {
        let member = std::mem::take(&mut self.member);
        self.bad |= crc32fast::hash(&member) != trailer.crc;
        self.bad |= member.len() as u32 != trailer.len;
        self.data.extend(member);
        Ok(())
    }

    fn end(&mut self) -> Result<(), Gone> {
        self.data.append(&mut self.member);
        Ok(())
    }

    fn member(&mut self, member: Member) -> Result<(), Gone> {
        let Member {
            body,
            offset,
            plain,
        } = member;
        let done = Inflater::default().member(&body, offset, plain, &mut self.data);
        self.bad |= done.is_err();
        Ok(())
    }
}

/// The data, or nothing if any part of the file is damaged.
fn inline(file: &[u8]) -> Option<Vec<u8>> {
    let mut pieces = Inline::default();
    let done = decode(file, Foreign::Refused, &mut pieces);
    (done.is_ok() && !pieces.bad).then_some(pieces.data)
}

fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 20) as usize
}

fn sample(len: usize) -> Vec<u8> {
    let mut state = 99;
    let mut out = Vec::new();
    while out.len() < len {
        let from = random(&mut state) % (out.len() + 1);
        let n = random(&mut state) % 40;
        let until = (from + n).min(out.len());
        out.extend_from_within(from..until);
        out.push(random(&mut state) as u8 % 64);
    }
    out.truncate(len);
    out
}

fn settings(independent: bool) -> Settings {
    let level = Level::new(6).expect("6 is a level");
    Settings {
        level,
        block_size: 32 << 10,
        independent,
        rsyncable: false,
    }
}

fn compressed<E: Executor>(executor: &E, settings: Settings, data: &[u8]) -> Vec<u8> {
    let engine = Engine::new(executor.clone(), settings);
    let header = Header {
        name: Some(b"x".to_vec()),
        ..Header::default()
    };
    let mut file = Vec::new();
    let tally = engine
        .compress(&header, &mut &*data, &mut file)
        .expect("no failure");
    assert_eq!(
        (tally.plain, tally.packed),
        (data.len() as u64, file.len() as u64)
    );
    assert_eq!(tally.crc, crc32fast::hash(data));
    file
}

fn round_trips<E: Executor>(executor: &E) {
    for len in [0, 1, 32_767, 32_768, 32_769, 65_536, 500_000] {
        let data = sample(len);
        for independent in [false, true] {
            let file = compressed(executor, settings(independent), &data);
            assert!(inline(&file).is_some_and(|found| found == data), "{len}");
            let engine = Engine::new(executor.clone(), settings(false));
            let mut out = Vec::new();
            let tally = engine
                .decompress(&mut &*file, Foreign::Refused, &mut out)
                .expect("no failure");
            assert!(out == data, "{len}");
            assert_eq!((tally.plain, tally.packed), (len as u64, file.len() as u64));
            assert_eq!(tally.crc, crc32fast::hash(&data));
        }
    }
}

#[test]
fn round_trips_on_threads() {
    round_trips(&Threads::new(1));
    round_trips(&Threads::new(3));
}

#[test]
fn round_trips_on_fibers() {
    round_trips(&Fibers::new(1).expect("a runtime"));
    round_trips(&Fibers::new(3).expect("a runtime"));
}

// Proves: R1.
#[test]
fn every_executor_makes_the_same_file() {
    let data = sample(4_000_000);
    for independent in [false, true] {
        let settings = settings(independent);
        let threads = compressed(&Threads::new(2), settings, &data);
        let fibers = compressed(&Fibers::new(2).expect("a runtime"), settings, &data);
        assert!(threads == fibers);
        let alone = compressed(&Threads::new(1), settings, &data);
        assert!(threads == alone);
    }
}

/// Fails after a given number of bytes, as a reader and as a writer.
struct Failing(usize);

impl Read for Failing {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = buf.len().min(self.0);
        self.0 -= n;
        if n == 0 {
            Err(io::Error::other("gone"))
        } else {
            Ok(n)
        }
    }
}

impl Write for Failing {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.read(&mut vec![0; buf.len()])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn failures<E: Executor>(executor: &E) {
    let header = Header::default();
    for independent in [false, true] {
        let engine = Engine::new(executor.clone(), settings(independent));
        for good in [0, 1, 40_000, 700_000] {
            let done = engine.compress(&header, &mut Failing(good), &mut io::sink());
            assert!(matches!(done, Err(Failure::Read(_))), "{good} {done:?}");
            let mut endless = io::repeat(7).take(900_000_000);
            let done = engine.compress(&header, &mut endless, &mut Failing(good / 1000));
            assert!(matches!(done, Err(Failure::Write(_))), "{good} {done:?}");
        }
        let file = compressed(executor, settings(independent), &sample(600_000));
        for good in [0, 1, file.len() / 2] {
            let mut input = (&*file).take(good as u64).chain(Failing(0));
            let done = engine.decompress(&mut input, Foreign::Refused, &mut io::sink());
            assert!(matches!(done, Err(Failure::Read(_))), "{good} {done:?}");
            let done =
                engine.decompress(&mut &*file, Foreign::Refused, &mut Failing(good));
            assert!(matches!(done, Err(Failure::Write(_))), "{good} {done:?}");
        }
    }
}

#[test]
fn failing_ends_on_threads() {
    failures(&Threads::new(2));
}

#[test]
fn failing_ends_on_fibers() {
    failures(&Fibers::new(2).expect("a runtime"));
}

/// Changes a file in one to four ways, as disk errors, transmission errors and attackers do.
fn mutate(file: &mut Vec<u8>, state: &mut u64) {
    for _ in 0..1 + random(state) % 4 {
        if file.is_empty() {
            return;
        }
        // Most decisions depend on headers.
        let near = random(state) % 64;
        let far = random(state) % file.len();
        let at = if random(state).is_multiple_of(2) {
            near % file.len()
        } else {
            far
        };
        match random(state) % 6 {
            0 => file[at] ^= 1 << (random(state) % 8),
            1 => file[at] = random(state) as u8,
            2 => file.truncate(at),
            3 => {
                let until = (at + random(state) % 300).min(file.len());
                file.drain(at..until);
            }
            4 => {
                let until = (at + random(state) % 300).min(file.len());
                let piece = file[at..until].to_vec();
                let to = random(state) % (file.len() + 1);
                file.splice(to..to, piece);
            }
            _ => {
                let until = (at + random(state) % 8).min(file.len());
                file[at..until].fill(0xff);
            }
        }
    }
}

#[test]
fn damaged_files_give_their_data_or_an_error() {
    let data = sample(150_000);
    let threads = Threads::new(1);
    let plain = compressed(&threads, settings(false), &data);
    let marked = compressed(&threads, settings(true), &data);
    let small = compressed(&threads, settings(true), &data[..100]);
    let mut state = 0x5eed;
    let mut survived = 0;
    for round in 0..6000 {
        let (file, whole) = match round % 3 {
            0 => (&plain, &data[..]),
            1 => (&marked, &data[..]),
            _ => (&small, &data[..100]),
        };
        let mut file = file.clone();
        mutate(&mut file, &mut state);
        if let Some(found) = inline(&file) {
            survived += 1;
            // A short file may have lost its only block or have been doubled; data is never made up
            // or left out.
            let right = found.chunks(whole.len()).all(|chunk| chunk == whole)
                && (!found.is_empty() || whole.len() < data.len());
            assert!(right, "round {round}: {} bytes", found.len());
        }
    }
    assert!(
        survived < 1500,
        "{survived} of 6000 damaged files were accepted"
    );
}
