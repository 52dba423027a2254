//! Both decoders on files made by hand.

use super::*;
use crate::gzip::{Counted, Damage, Flaw};

fn lzw(file: &[u8]) -> Result<Vec<u8>, Damage> {
    let mut input = Counted::new(file);
    decode(Lzw::start(&mut input), |lzw, out| lzw.step(&mut input, out))
}

fn huffman(file: &[u8]) -> Result<Vec<u8>, Damage> {
    let mut input = Counted::new(file);
    decode(Huffman::start(&mut input), |huffman, out| {
        huffman.step(&mut input, out)
    })
}

fn decode<D>(
    started: Result<D, Stop>,
    mut step: impl FnMut(&mut D, &mut Vec<u8>) -> Result<Step, Stop>,
) -> Result<Vec<u8>, Damage> {
    let mut out = Vec::new();
    let done = started.and_then(|mut decoder| {
        while step(&mut decoder, &mut out)? == Step::More {}
        Ok(())
    });
    match done {
        Ok(()) => Ok(out),
        Err(Stop::Damage(damage)) => Err(damage),
        Err(Stop::Read(error)) => panic!("a slice can be read: {error}"),
    }
}

fn damage<T>(offset: u64, flaw: Flaw) -> Result<T, Damage> {
    Err(Damage { offset, flaw })
}

/// Returns a file of nine-bit codes.
fn nine_bits(flags: u8, codes: &[u16]) -> Vec<u8> {
    let mut file = vec![flags];
    let (mut bits, mut held) = (0u32, 0);
    for code in codes {
        bits |= u32::from(*code) << held;
        held += 9;
        while held >= 8 {
            file.push(bits as u8);
            bits >>= 8;
            held -= 8;
        }
    }
    file.push(bits as u8);
    file
}

#[test]
fn lzw_strings_grow_by_a_byte_a_code() {
    let a = u16::from(b'a');
    for (flags, first) in [(0x90, 257), (0x10, 256)] {
        let file = nine_bits(flags, &[a, first, first + 1, first]);
        assert_eq!(lzw(&file), Ok(b"a".repeat(1 + 2 + 3 + 2)), "{flags:#x}");
    }
}

#[test]
fn lzw_starts_anew_behind_a_clear() {
    let file = [0x90, 0, 0, 0, 0xc4];
    assert_eq!(lzw(&file), Ok(vec![0, 0]), "a clear at the end");
    // A group of eight codes ends at a clear; after it, 257 has to be defined anew.
    let mut file = nine_bits(0x90, &[97, 257, 256, 0, 0, 0, 0, 0]);
    file.truncate(1 + 9);
    file.extend_from_slice(&nine_bits(0, &[98, 257])[1..]);
    assert_eq!(lzw(&file), Ok(b"aaabbb".to_vec()));
    let known = file.len();
    file.truncate(known - 2);
    file.extend_from_slice(&nine_bits(0, &[257])[1..]);
    assert!(lzw(&file).is_err(), "{file:?}");
}

#[test]
fn lzw_without_blocks_has_no_clear() {
    // 256 is the first entry.
    assert_eq!(lzw(&nine_bits(0x10, &[97, 256])), Ok(b"aaa".to_vec()));
}

#[test]
fn lzw_codes_that_stand_for_nothing_are_damage() {
    for (codes, unknown) in [(&[300][..], 300), (&[256], 256), (&[97, 258], 258)] {
        let flaw = Flaw::UnknownCode(unknown);
        let found = lzw(&nine_bits(0x90, codes)).expect_err("an unknown code");
        assert_eq!(found.flaw, flaw, "{codes:?}");
    }
    assert_eq!(lzw(&[]), damage(0, Flaw::Truncated));
    for bits in [0, 8, 17, 31] {
        assert_eq!(lzw(&[0x80 | bits]), damage(0, Flaw::CodeWidth(bits.into())));
    }
}

const BANANA: &[u8] = b"\0\0\0\x06\x03\x01\x01\0anb\x16\xc8";

#[test]
fn huffman_codes_of_three_lengths() {
    assert_eq!(huffman(BANANA), Ok(b"banana".to_vec()));
    // One level: the only byte is 0, the end is 1.
    assert_eq!(huffman(b"\0\0\0\x03\x01\0x\x10"), Ok(b"xxx".to_vec()));
}

#[test]
fn huffman_data_has_the_length_it_says() {
    for len in [5, 7] {
        let mut file = BANANA.to_vec();
        file[3] = len;
        let found = huffman(&file).expect_err("another length");
        assert_eq!(found.flaw, Flaw::Length, "{len}");
    }
}

#[test]
fn every_cut_of_a_packed_file_is_noticed() {
    for cut in 0..BANANA.len() {
        let offset = cut as u64;
        assert_eq!(huffman(&BANANA[..cut]), damage(offset, Flaw::Truncated));
    }
}

#[test]
fn huffman_codes_that_make_no_tree_are_damage() {
    for (at, value) in [(4, 0), (4, 26), (5, 2), (5, 0), (6, 3), (7, 9)] {
        let mut file = BANANA.to_vec();
        file[at] = value;
        file.extend_from_slice(&[0; 40]);
        assert_eq!(huffman(&file), damage(4, Flaw::CodeTree), "{at} {value}");
    }
}
