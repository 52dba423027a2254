//! Headers, marks and trailers on their own.

use super::*;

fn read(bytes: &[u8]) -> Result<Header, Damage> {
    Header::read(&mut Counted::new(bytes)).expect("a slice can be read")
}

#[test]
fn what_is_encoded_is_read_back() {
    for name in [None, Some(b"a name".to_vec()), Some(Vec::new())] {
        for extra in [None, Some(Vec::new()), Some(b"abcdef".to_vec())] {
            let header = Header {
                mtime: 0x1234_5678,
                name: name.clone(),
                extra,
                xfl: 4,
                len: 0,
            };
            let mut bytes = Vec::new();
            header.encode(&mut bytes);
            let len = bytes.len() as u64;
            bytes.extend_from_slice(b"data");
            assert_eq!(read(&bytes), Ok(Header { len, ..header }));
        }
    }
}

#[test]
fn every_cut_of_a_header_is_noticed_where_it_is() {
    let header = Header {
        name: Some(b"name".to_vec()),
        extra: Some(
            Mark::End {
                blocks: 1,
                plain: 2,
            }
            .encode(),
        ),
        ..Header::default()
    };
    let mut bytes = Vec::new();
    header.encode(&mut bytes);
    for cut in 0..bytes.len() {
        let offset = cut as u64;
        let damage = Damage {
            offset,
            flaw: Flaw::Truncated,
        };
        assert_eq!(read(&bytes[..cut]), Err(damage));
    }
}

#[test]
fn the_headers_own_checksum_is_checked() {
    // FHCRC over the ten bytes before it.
    let mut bytes = vec![0x1f, 0x8b, 8, 2, 1, 2, 3, 4, 0, 3];
    let sum = crc32fast::hash(&bytes) as u16;
    bytes.extend_from_slice(&sum.to_le_bytes());
    assert_eq!(read(&bytes).map(|header| header.len), Ok(12));
    bytes[4] ^= 1;
    let damage = Damage {
        offset: 10,
        flaw: Flaw::HeaderChecksum,
    };
    assert_eq!(read(&bytes), Err(damage));
}

#[test]
fn a_name_without_end_costs_no_memory() {
    let mut bytes = vec![0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3];
    bytes.resize(1 << 20, b'x');
    bytes.push(0);
    let name = read(&bytes).expect("an odd name is no damage").name;
    assert!(name.is_some_and(|name| name.capacity() < 16 << 10));
}

#[test]
fn marks_are_read_back() {
    for mark in [
        Mark::Block {
            member: 1,
            plain: u32::MAX,
        },
        Mark::Block {
            member: u32::MAX,
            plain: 0,
        },
        Mark::End {
            blocks: 0,
            plain: u64::MAX,
        },
        Mark::End {
            blocks: 1 << 40,
            plain: 7,
        },
    ] {
        let alone = mark.encode();
        assert_eq!(Mark::find(&alone), Some(mark));
        let among = [b"ab\x03\x00xyz", &alone[..], b"cd\x00\x00"].concat();
        assert_eq!(Mark::find(&among), Some(mark));
    }
}

#[test]
fn the_marks_bytes_are_the_promised_ones() {
    let block = Mark::Block {
        member: 0x0102_0304,
        plain: 0x0506_0708,
    };
    assert_eq!(
        block.encode(),
        b"PZ\x0c\x00\x01\0\0\0\x04\x03\x02\x01\x08\x07\x06\x05"
    );
    let end = Mark::End {
        blocks: 3,
        plain: 0x0a0b,
    };
    assert_eq!(
        end.encode(),
        b"PZ\x14\x00\x02\0\0\0\x03\0\0\0\0\0\0\0\x0b\x0a\0\0\0\0\0\0"
    );
}

#[test]
fn odd_marks_are_no_marks() {
    let good = Mark::Block {
        member: 100,
        plain: 200,
    }
    .encode();
    for at in 0..8 {
        let mut bad = good.clone();
        bad[at] ^= 0x40;
        assert_eq!(Mark::find(&bad), None, "byte {at}");
    }
    for cut in 0..good.len() {
        assert_eq!(Mark::find(&good[..cut]), None, "cut at {cut}");
    }
}

/// A later version of the format may put a subfield of another kind in front of a mark.
#[test]
fn an_odd_mark_hides_no_other() {
    let mark = Mark::Block {
        member: 100,
        plain: 200,
    };
    for odd in [
        &b"PZ\x00\x00"[..],
        b"PZ\x04\x00\x03\0\0\0",
        b"PZ\x0c\x00\x01\x01\0\0\0\0\0\0\0\0\0\0",
    ] {
        let both = [odd, &mark.encode()[..]].concat();
        assert_eq!(Mark::find(&both), Some(mark), "{odd:x?}");
    }
}
