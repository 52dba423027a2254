//! Data in an unknown format: with `-f` it is copied, as with `zcat -f`.

use crate::sandbox::{Sandbox, text};

/// Output, exit code and silence of pgz are gzip's, from standard input and by name.
#[track_caller]
fn same(box_: &Sandbox, args: &[&str], file: &[u8], what: &str) {
    box_.write("in", file);
    let by_name = [args, &["in"]].concat();
    for (args, input) in [(args, file), (&by_name, b"")] {
        let theirs = box_.run("gzip", args, input);
        let ours = box_.run("pgz", args, input);
        let said = format!("{what} {args:?}\n{}\n{}", theirs.stderr, ours.stderr);
        assert!(!ours.stderr.contains("panicked"), "{said}");
        assert_eq!(ours.code, theirs.code, "{said}");
        assert_eq!(ours.stderr.is_empty(), theirs.stderr.is_empty(), "{said}");
        assert!(ours.stdout == theirs.stdout, "{said}");
    }
}

#[test]
fn plain_data_of_any_length() {
    let box_ = Sandbox::new();
    let sizes = (0..=64).chain([32_831, 32_832, 32_833, 131_071, 131_072, 131_073]);
    for size in sizes.chain([262_144, 1 << 20]) {
        let data = text(1, size);
        same(&box_, &["-dcf"], &data, &format!("{size}"));
    }
    for start in [
        &b"\x1f"[..],
        b"\x1fx",
        b"\x1f\x8b",
        b"\x1f\x8b\x07",
        b"\0",
        b"\0\x1f\x8b",
        b"PK\x03\x05",
    ] {
        same(&box_, &["-dcf"], start, &format!("{start:x?}"));
    }
}

#[test]
fn what_follows_compressed_data() {
    let box_ = Sandbox::new();
    let pack = |program: &str, flags: &[&str], len| {
        box_.run(program, flags, &text(2, len)).expect(0).stdout
    };
    let packed = [
        pack("gzip", &["-9"], 5000),
        pack("pgz", &["-9"], 500_000),
        pack("pgz", &["-9i"], 500_000),
        pack("gzip", &["-1"], 0),
    ];
    for (at, first) in packed.iter().enumerate() {
        for second in [
            &b""[..],
            b"yyy\n",
            b"\0",
            b"\0\0",
            b"\0\0yyy\n",
            b"\x1f",
            b"\x1fx",
            &packed[0],
            &[&packed[1][..], b"yyy\n"].concat(),
            &text(3, 300_000),
        ] {
            let file = [&first[..], second].concat();
            let what = format!("{at} {:?}", &second[..second.len().min(8)]);
            same(&box_, &["-dcf"], &file, &what);
            same(&box_, &["-tf"], &file, &what);
        }
    }
}

#[test]
fn without_force_or_standard_output_it_is_damage() {
    let box_ = Sandbox::new();
    let good = box_.run("gzip", &["-9"], b"xxx\n").expect(0).stdout;
    let mixed = [&good[..], b"yyy\n"].concat();
    for (file, args) in [
        (&mixed[..], &["-dc", "a.gz"][..]),
        (&mixed, &["-t", "a.gz"]),
        (&mixed, &["-df", "a.gz"]),
        (&mixed, &["-lf", "a.gz"]),
        (b"yyy\n", &["-df", "a.gz"]),
        (b"yyy\n", &["-lf", "a.gz"]),
        (b"yyy\n", &["-dc", "a.gz"]),
    ] {
        box_.write("a.gz", file);
        let done = box_.pgz(args).expect(1);
        assert!(done.stderr.contains("at byte "), "{args:?} {}", done.stderr);
        assert_eq!(box_.names(), ["a.gz"], "{args:?}");
    }
}

/// The blocks of a `-i` file without their end record are a truncated file, whatever follows.
#[test]
fn blocks_without_their_end_are_damage_all_the_same() {
    let box_ = Sandbox::new();
    let file = box_.run("pgz", &["-i"], &text(4, 300_000)).expect(0).stdout;
    let end = (0..file.len()).rfind(|&at| file[at..].starts_with(&[0x1f, 0x8b, 8, 4]));
    let blocks = &file[..end.unwrap()];
    for tail in [&b""[..], b"yyy\n", b"\0", b"\x1f\x9d\x90", b"\x1f\x1e"] {
        let file = [blocks, tail].concat();
        let done = box_.run("pgz", &["-dcf"], &file).expect(1);
        assert!(done.stderr.contains("at byte "), "{}", done.stderr);
    }
}
