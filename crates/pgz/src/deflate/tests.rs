//! Blocks, packers and inflaters on their own.

use super::*;
use crate::gzip::{Flaw, Header, Trailer};

fn filled(before: &[u8], data: &[u8]) -> Block {
    let mut block = Block::with_room(data.len());
    block
        .fill(before, data.len(), &mut &data[..])
        .expect("a slice can be read");
    block
}

fn sample(len: usize) -> Vec<u8> {
    (0..len)
        .map(|i| ((i * i) >> 7) as u8 ^ (i % 251) as u8)
        .collect()
}

fn inflate(packed: &[u8]) -> Vec<u8> {
    let mut inflater = Inflater::default();
    inflater.start();
    let (mut out, mut used) = (Vec::with_capacity(64), 0);
    loop {
        match inflater.step(&packed[used..], &mut out).expect("good data") {
            Progress::Used(n) => used += n,
            Progress::Ended(n) => {
                assert_eq!(used + n, packed.len());
                return out;
            }
            Progress::Starved => panic!("ended too early"),
        }
        out.reserve(64);
    }
}

#[test]
fn stretches_make_one_stream() {
    let data = sample(300_000);
    let mut packer = Packer::new(Level::default());
    let (mut stream, mut crc) = (Vec::new(), crc32fast::Hasher::new());
    let mut start: usize = 0;
    for end in [1, 40_000, 40_001, 200_000, 300_000, 300_000] {
        let closing = if start == end {
            Closing::Last
        } else {
            Closing::Open
        };
        let before = &data[start.saturating_sub(DICTIONARY)..start];
        let block = filled(before, &data[start..end]);
        let packed = packer.stretch(&block, closing, Vec::new());
        stream.extend_from_slice(&packed.bytes);
        crc.combine(&packed.crc);
        start = end;
    }
    assert!(inflate(&stream) == data);
    assert_eq!(crc.finalize(), crc32fast::hash(&data));
}

#[test]
fn a_stretch_refers_to_the_bytes_before_it() {
    let noise: Vec<u8> = (0..20_000u64)
        .map(|i| ((i * i).wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let mut packer = Packer::new(Level::default());
    let alone = packer.stretch(&filled(&[], &noise), Closing::Last, Vec::new());
    let after = packer.stretch(&filled(&noise, &noise), Closing::Last, Vec::new());
    assert!(after.bytes.len() * 10 < alone.bytes.len());
}

#[test]
fn a_used_packer_packs_as_a_fresh_one() {
    let noise = |seed: u64, len: u64| -> Vec<u8> {
        (0..len)
            .map(|i| {
                (((i + seed) * (i ^ seed)).wrapping_mul(2_654_435_761) >> 13) as u8 % 9
            })
            .collect()
    };
    let before = noise(1, DICTIONARY as u64);
    let block = filled(&before, &noise(2, 50_000));
    for number in 1..=9 {
        let level = Level::new(number).expect("1 to 9 are levels");
        let fresh = Packer::new(level).stretch(&block, Closing::Open, Vec::new());
        let mut used = Packer::new(level);
        for seed in 3..40 {
            let other = filled(&before, &noise(seed, 100_000));
            used.stretch(&other, Closing::Open, Vec::new());
            let again = used.stretch(&block, Closing::Open, Vec::new());
            assert!(again.bytes == fresh.bytes, "level {number}, after {seed}");
        }
    }
}

#[test]
fn members_are_whole_and_lies_about_them_are_found() {
    let data = sample(100_000);
    let mut packer = Packer::new(Level::default());
    let header = Header::default();
    let packed = packer.member(&filled(&[], &data), &header, Closing::Open, Vec::new());
    let head = packed.framing as usize - Trailer::LEN;
    let body = &packed.bytes[head..];
    let mut inflater = Inflater::default();
    let mut out = b"before".to_vec();
    inflater
        .member(body, 1000, data.len(), &mut out)
        .expect("nothing is wrong with it");
    assert_eq!(out, [&b"before"[..], &data].concat());
    let mut member =
        |body: &[u8], plain| inflater.member(body, 1000, plain, &mut Vec::new());
    for plain in [0, 1, data.len() - 1, data.len() + 1, data.len() * 2] {
        let flaw = member(body, plain).expect_err("a wrong length").flaw;
        assert!(matches!(flaw, Flaw::Index(_)), "{plain}: {flaw}");
    }
    for cut in [0, 1, 7, 8, 9, body.len() / 2, body.len() - 1] {
        let damage = member(&body[..cut], data.len()).expect_err("cut short");
        assert!(
            (1000..=1000 + cut as u64).contains(&damage.offset),
            "{damage}"
        );
    }
    let longer = [body, b"x"].concat();
    assert!(member(&longer, data.len()).is_err());
    assert!(member(body, data.len()).is_ok(), "the state recovers");
}

#[test]
fn nothing_is_packed_as_something_short() {
    let mut packer = Packer::new(Level::default());
    let packed = packer.stretch(&filled(&[], &[]), Closing::Last, Vec::new());
    assert_eq!(packed.bytes, [3, 0]);
    assert_eq!(inflate(&packed.bytes), b"");
}

#[test]
fn blocks_keep_what_the_next_one_needs() {
    let data = sample(DICTIONARY + 100);
    let block = filled(&[], &data);
    assert_eq!(block.tail(), &data[100..]);
    assert_eq!(block.dictionary(), b"");
    let short = filled(&data[..DICTIONARY], &data[..10]);
    assert_eq!(short.tail(), [&data[10..DICTIONARY], &data[..10]].concat());
    assert_eq!(short.data(), &data[..10]);
}

#[test]
fn a_pool_keeps_no_more_than_its_limit() {
    let made = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = std::sync::Arc::clone(&made);
    let pool = Pool::new(2, move || {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Vec::<u8>::new()
    });
    let taken: Vec<_> = (0..5).map(|_| pool.take()).collect();
    taken.into_iter().for_each(|item| pool.give(item));
    let again: Vec<_> = (0..3).map(|_| pool.take()).collect();
    assert_eq!(made.load(std::sync::atomic::Ordering::Relaxed), 6);
    drop(again);
}
