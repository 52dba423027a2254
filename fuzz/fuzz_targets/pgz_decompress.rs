//! Any bytes given to `pgz -d` end in data or in an error: no panic, no hang, no memory
//! beyond what the input can expand to, and never an offset outside the file.
//!
//! Runs the decode stage with a sink that inflates marked members in place, as the jobs
//! do. A byte in front of the file says in how small pieces it arrives.

#![no_main]

use std::io::{BufRead, Read};

use libfuzzer_sys::fuzz_target;
use pgz::deflate::Inflater;
use pgz::gzip::{Damage, Trailer};
use pgz::pipeline::{Emit, Failure, Foreign, Gone, Member, Stop, decode};

fuzz_target!(|input: &[u8]| {
    let Some((&step, file)) = input.split_first() else {
        return;
    };
    let mut sink = Sink {
        length: file.len(),
        data: 0,
        member: Vec::new(),
    };
    let input = Steps {
        file,
        step: usize::from(step) + 1,
    };
    match decode(input, Foreign::Refused, &mut sink) {
        Ok(outcome) => assert_eq!(outcome.packed, file.len() as u64),
        Err(Stop::Failure(Failure::Damage(damage))) => sink.check(&damage),
        Err(Stop::Gone) => {}
        Err(Stop::Failure(other)) => panic!("a slice can be read: {other}"),
    }
    // Deflate gains 1032 to 1 at most. LZW gains more the longer the file is: its strings
    // grow by one byte a code.
    let (codes, longest) = (file.len() as u64, (file.len() as u64).min(1 << 16));
    assert!(sink.data as u64 <= (codes + 1) * longest.max(1032));
});

/// A file that arrives in pieces.
struct Steps<'a> {
    file: &'a [u8],
    step: usize,
}

impl Read for Steps<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let step = self.step.min(buf.len());
        self.file.read(&mut buf[..step])
    }
}

impl BufRead for Steps<'_> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        Ok(&self.file[..self.step.min(self.file.len())])
    }

    fn consume(&mut self, n: usize) {
        self.file = &self.file[n..];
    }
}

struct Sink {
    length: usize,
    data: usize,
    member: Vec<u8>,
}

impl Sink {
    fn check(&self, damage: &Damage) {
        assert!(damage.offset <= self.length as u64, "{damage}");
    }
}

impl Emit for Sink {
    fn buffer(&mut self) -> Vec<u8> {
        Vec::with_capacity(1 << 12)
    }

    fn bytes(&mut self, piece: Vec<u8>) -> Result<(), Gone> {
        self.data += piece.len();
        self.member.extend(piece);
        Ok(())
    }

    fn close(&mut self, trailer: Trailer, offset: u64) -> Result<(), Gone> {
        assert!(offset as usize + Trailer::LEN <= self.length);
        let member = std::mem::take(&mut self.member);
        let right = crc32fast::hash(&member) == trailer.crc;
        if right { Ok(()) } else { Err(Gone) }
    }

    fn end(&mut self) -> Result<(), Gone> {
        self.member.clear();
        Ok(())
    }

    fn member(&mut self, member: Member) -> Result<(), Gone> {
        let Member {
            body,
            offset,
            plain,
        } = member;
        let mut out = Vec::new();
        match Inflater::default().member(&body, offset, plain, &mut out) {
            Ok(_sum) => {
                assert_eq!(out.len(), plain);
                self.data += plain;
                Ok(())
            }
            Err(damage) => {
                self.check(&damage);
                Err(Gone)
            }
        }
    }
}
