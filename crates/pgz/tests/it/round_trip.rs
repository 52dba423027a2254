//! The output equals the input.

use flate2::{Compress, Compression, FlushCompress, Status};

use crate::sandbox::{Sandbox, has_pigz, noise, text};

const KIB: usize = 1 << 10;

/// Sizes around every limit: of nothing, of the dictionary, of a block, of several.
const SIZES: [usize; 16] = [
    0,
    1,
    2,
    1000,
    32 * KIB - 1,
    32 * KIB,
    32 * KIB + 1,
    64 * KIB,
    128 * KIB - 1,
    128 * KIB,
    128 * KIB + 1,
    160 * KIB,
    256 * KIB,
    256 * KIB + 1,
    1024 * KIB,
    1024 * KIB + 12345,
];

#[test]
fn through_files_at_every_size() {
    let pigz = has_pigz();
    let box_ = Sandbox::new();
    for size in SIZES {
        let data = text(size as u64, size);
        for flags in ["-6", "-i", "-1b32", "-9ib64", "-p1", "-ip1", "-p5"] {
            box_.write("a", &data);
            box_.pgz(&[flags, "a"]).expect(0);
            assert_eq!(box_.names(), ["a.gz"], "{flags} {size}");
            let packed = box_.read("a.gz");
            box_.run("gzip", &["-t"], &packed).expect(0);
            let judges = if pigz {
                &["gzip", "pigz", "pgz"][..]
            } else {
                &["gzip", "pgz"]
            };
            for judge in judges {
                let back = box_.run(judge, &["-dc", "a.gz"], b"").expect(0);
                assert!(back.stdout == data, "{judge} {flags} {size}");
            }
            box_.pgz(&["-d", "a.gz"]).expect(0);
            assert!(box_.read("a") == data, "{flags} {size}");
        }
    }
}

#[test]
fn through_pipes_at_every_size() {
    let box_ = Sandbox::new();
    for size in SIZES {
        let data = text(size as u64, size);
        for flags in [&[][..], &["-c"], &["-"], &["-i", "-b", "32"]] {
            let packed = box_.run("pgz", flags, &data).expect(0).stdout;
            let back = box_.run("gzip", &["-d"], &packed).expect(0);
            assert!(back.stdout == data, "gzip {flags:?} {size}");
            let back = box_.run("pgz", &["-d"], &packed).expect(0);
            assert!(back.stdout == data, "pgz {flags:?} {size}");
        }
    }
}

/// Returns the deflate stream that a loop on one thread makes of `data`: each block of 128 KiB by a
/// state of its own, with the 32 KiB before it as its dictionary.
fn packed_by_a_loop(data: &[u8], effort: u32) -> Vec<u8> {
    let blocks = data.len() / (128 * KIB) + 1;
    let mut out = Vec::with_capacity(2 * data.len() + blocks * KIB);
    for index in 0..blocks {
        let start = index * 128 * KIB;
        let end = data.len().min(start + 128 * KIB);
        let mut deflate = Compress::new(Compression::new(effort), false);
        if start > 0 {
            let dictionary = &data[start - 32 * KIB..start];
            deflate.set_dictionary(dictionary).unwrap();
        }
        let last = index + 1 == blocks;
        let (flush, done) = match last {
            false => (FlushCompress::Sync, Status::Ok),
            true => (FlushCompress::Finish, Status::StreamEnd),
        };
        let status = deflate.compress_vec(&data[start..end], &mut out, flush);
        assert_eq!(status.unwrap(), done);
        assert_eq!(deflate.total_in(), (end - start) as u64);
    }
    out
}

/// The file has the same bits on any number of workers: those that a loop on one thread makes.
// Proves: R1.
#[test]
fn any_number_of_workers_packs_the_bits_of_a_loop() {
    const HEADER: usize = 10;
    const TRAILER: usize = 8;
    let box_ = Sandbox::new();
    let around_a_block = [128 * KIB - 1, 128 * KIB, 128 * KIB + 1];
    let sizes = [0, 1000, 1024 * KIB, 3000 * KIB];
    for size in sizes.into_iter().chain(around_a_block) {
        let data = text(size as u64, size);
        for (level, effort) in [("-1", 2), ("-6", 6), ("-9", 9)] {
            let expected = packed_by_a_loop(&data, effort);
            for workers in ["-p1", "-p2", "-p5"] {
                let flags = ["-n", level, workers];
                let packed = box_.run("pgz", &flags, &data).expect(0).stdout;
                let body = &packed[HEADER..packed.len() - TRAILER];
                assert!(body == expected, "{flags:?} {size}");
            }
        }
        // Not named: the level, the size of a block and the number of workers.
        let pack = |flags: &[&str]| box_.run("pgz", flags, &data).expect(0).stdout;
        let named = ["-6", "-b128", "-p3"];
        assert!(pack(&["-n"]) == pack(&[&["-n"], &named[..]].concat()));
        let apart = pack(&["-ni"]);
        for workers in ["-p1", "-p2", "-p5"] {
            let flags = ["-ni", "-6", "-b128", workers];
            assert!(pack(&flags) == apart, "{flags:?} {size}");
        }
    }
}

#[test]
fn what_gzip_packs_at_every_size() {
    let pigz = has_pigz();
    let box_ = Sandbox::new();
    for size in SIZES {
        let data = text(size as u64, size);
        for packer in if pigz {
            &["gzip", "pigz"][..]
        } else {
            &["gzip"]
        } {
            for level in ["-1", "-9"] {
                let packed = box_.run(packer, &[level], &data).expect(0).stdout;
                let back = box_.run("pgz", &["-d"], &packed).expect(0);
                assert!(back.stdout == data, "{packer} {level} {size}");
            }
        }
    }
}

#[test]
fn every_level_and_data_that_does_not_compress() {
    let box_ = Sandbox::new();
    let texts = text(1, 700 * KIB);
    let noises = noise(1, 700 * KIB);
    let zeros = vec![0; 700 * KIB];
    for level in 1..=9 {
        for data in [&texts, &noises, &zeros] {
            for mode in ["-", "-i"] {
                let flags = format!("-{level}");
                let packed = box_.run("pgz", &[&flags, mode], data).expect(0).stdout;
                assert!(packed.len() < data.len() + data.len() / 100 + 100);
                let back = box_.run("gzip", &["-d"], &packed).expect(0);
                assert!(back.stdout == *data, "{level} {mode}");
                let back = box_.run("pgz", &["-d"], &packed).expect(0);
                assert!(back.stdout == *data, "{level} {mode}");
            }
        }
    }
}

#[test]
fn higher_levels_pack_smaller_and_within_a_hundredth_of_gzip() {
    let box_ = Sandbox::new();
    let data = text(3, 4 << 20);
    let size = |program: &str, level: &str| {
        box_.run(program, &[level, "-n"], &data)
            .expect(0)
            .stdout
            .len()
    };
    let sizes = ["-1", "-3", "-6", "-9"].map(|level| size("pgz", level));
    assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    for level in ["-1", "-6", "-9"] {
        let (ours, theirs) = (size("pgz", level), size("gzip", level));
        assert!(
            ours * 100 <= theirs * 101,
            "{level}: {ours} against {theirs}"
        );
    }
}

#[test]
fn members_one_after_another_and_zeros_behind_them() {
    let box_ = Sandbox::new();
    let (a, b, c) = (text(1, 300 * KIB), text(2, 10), text(3, 140 * KIB));
    let plain: Vec<u8> = [&a[..], &b, &c, b""].concat();
    let pack = |program: &str, flags: &[&str], data: &[u8]| {
        box_.run(program, flags, data).expect(0).stdout
    };
    let mut packed = [
        pack("pgz", &["-i"], &a),
        pack("gzip", &["-9"], &b),
        pack("pgz", &["-1"], &c),
        pack("pgz", &["-i"], b""),
    ]
    .concat();
    for zeros in [0, 1, 511, 200 * KIB] {
        packed.resize(packed.len() + zeros, 0);
        let ours = box_.run("pgz", &["-d"], &packed).expect(0);
        assert!(ours.stdout == plain, "{zeros}");
        let theirs = box_.run("gzip", &["-dc"], &packed).expect(0);
        assert!(theirs.stdout == plain, "{zeros}");
    }
}

/// Temporary files in a directory are another process's, or were left behind by one.
#[test]
fn temporary_files_are_no_input() {
    let box_ = Sandbox::new();
    let names = [".pgz-12-0.tmp", ".pgz-12-x.tmp", ".pgz-.tmp", "a"];
    for name in names {
        box_.write(&format!("d/{name}"), b"text");
    }
    box_.run("pgz", &["-r", "d"], b"").expect(0);
    let mut left = box_.names();
    left.sort_unstable();
    let packed = [
        "d",
        "d/.pgz-.tmp.gz",
        "d/.pgz-12-0.tmp",
        "d/.pgz-12-x.tmp.gz",
        "d/a.gz",
    ];
    assert_eq!(left, packed);
    // Named, it is a file like any other.
    box_.run("pgz", &["d/.pgz-12-0.tmp"], b"").expect(0);
    assert!(box_.names().contains(&"d/.pgz-12-0.tmp.gz".to_owned()));
}

#[test]
fn a_thousand_small_files() {
    let box_ = Sandbox::new();
    for number in 0..1000 {
        let data = text(number, (number as usize * 37) % 5000);
        box_.write(&format!("d/{}/{number}", number % 7), &data);
    }
    let before = box_.names();
    for (packer, unpacker) in [("pgz", "gzip"), ("gzip", "pgz"), ("pgz", "pgz")] {
        box_.run(packer, &["-r", "d"], b"").expect(0);
        let packed = box_.names();
        assert_eq!(
            packed.iter().filter(|name| name.ends_with(".gz")).count(),
            1000
        );
        box_.run(unpacker, &["-dr", "d"], b"").expect(0);
        assert_eq!(box_.names(), before, "{packer} {unpacker}");
    }
    for number in 0..1000 {
        let data = text(number, (number as usize * 37) % 5000);
        assert!(box_.read(format!("d/{}/{number}", number % 7)) == data);
    }
}

#[test]
fn headers_of_every_shape() {
    let box_ = Sandbox::new();
    let data = text(9, 5000);
    let packed = box_.run("gzip", &["-n"], &data).expect(0).stdout;
    let body = &packed[10..];
    // FTEXT. FHCRC is not set: gzip 1.12 checks it, older ones reject it.
    for (flags, fields) in [
        (0x01, &b""[..]),
        (0x04, b"\x06\x00ab\x02\x00xy"),
        (0x08, b"name\0"),
        (0x10, b"a comment\0"),
        (0x1d, b"\x00\x00name\0comment\0"),
        (0x04, b"\x03\x00PZ\x09"),
        (0x04, b"\x05\x00PZ\x01\x00\x07"),
    ] {
        let mut file = vec![0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 0, 3];
        file.extend_from_slice(fields);
        file.extend_from_slice(body);
        let back = box_.run("pgz", &["-d"], &file).expect(0);
        assert!(back.stdout == data, "{flags:#x}");
        box_.run("gzip", &["-t"], &file).expect(0);
    }
}
