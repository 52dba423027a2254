//! Damaged files: detected, reported with the offset, nothing left behind, no panic.

use crate::sandbox::{Random, Sandbox, text};

/// A file to damage: its command, and its bytes.
fn samples(box_: &Sandbox) -> Vec<(&'static str, Vec<u8>)> {
    let data = text(7, 300_000);
    let pack =
        |program: &str, flags: &[&str]| box_.run(program, flags, &data).expect(0).stdout;
    vec![
        ("gzip", pack("gzip", &["-6"])),
        ("pgz", pack("pgz", &["-6"])),
        ("pgz -i", pack("pgz", &["-i", "-b", "64"])),
    ]
}

/// Decompresses `file` in place and expects an error about it.
#[track_caller]
fn refused(box_: &Sandbox, file: &[u8], what: &str) -> String {
    box_.write("a.gz", file);
    let done = box_.pgz(&["-d", "a.gz"]).expect(1);
    assert!(done.stderr.contains("a.gz"), "{what}: {}", done.stderr);
    assert!(done.stderr.contains("at byte "), "{what}: {}", done.stderr);
    assert_eq!(box_.names(), ["a.gz"], "{what}");
    assert!(box_.read("a.gz") == file, "{what}: the input is as it was");
    done.stderr
}

/// The offset that a message names.
fn offset(message: &str) -> usize {
    let (_, behind) = message.rsplit_once("at byte ").unwrap();
    behind.trim().parse().unwrap()
}

#[test]
fn cut_off_at_many_places() {
    let box_ = Sandbox::new();
    for (kind, file) in samples(&box_) {
        let mut random = Random::new(1);
        let mut cuts: Vec<usize> = (0..24).collect();
        cuts.extend((1..24).map(|n| file.len() - n));
        cuts.extend((0..40).map(|_| random.below(file.len())));
        for cut in cuts {
            let message = refused(&box_, &file[..cut], &format!("{kind} cut at {cut}"));
            assert!(
                message.contains("unexpected end of file"),
                "{kind} {cut}: {message}"
            );
            assert!(offset(&message) <= cut, "{kind} {cut}: {message}");
        }
    }
}

#[test]
fn cut_off_between_two_independent_blocks() {
    let box_ = Sandbox::new();
    let (_, file) = samples(&box_).pop().unwrap();
    let starts: Vec<usize> = (1..file.len())
        .filter(|&at| file[at..].starts_with(&[0x1f, 0x8b, 8, 4]))
        .collect();
    assert_eq!(starts.len(), 5, "five blocks and the end record");
    for cut in starts {
        let message = refused(&box_, &file[..cut], "between blocks");
        assert!(message.contains("unexpected end of file"), "{message}");
        assert_eq!(offset(&message), cut);
        assert_eq!(box_.run("gzip", &["-t"], &file[..cut]).code, Some(0));
    }
}

#[test]
fn one_byte_changed_at_many_places() {
    let box_ = Sandbox::new();
    for (kind, file) in samples(&box_) {
        let mut random = Random::new(2);
        let mut places: Vec<usize> = (10..40).collect();
        places.extend((1..12).map(|n| file.len() - n));
        places.extend((0..60).map(|_| 10 + random.below(file.len() - 10)));
        let mut found = 0;
        for &place in &places {
            let mut bad = file.clone();
            bad[place] ^= 1 << random.below(8);
            // Changes of unused bits (padding, mtime, xfl, os) may go undetected; then gzip detects
            // nothing either.
            if box_.run("gzip", &["-t"], &bad).code == Some(0) {
                box_.write("a.gz", &bad);
                let done = box_.pgz(&["-t", "a.gz"]);
                assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
                continue;
            }
            found += 1;
            refused(&box_, &bad, &format!("{kind} changed at {place}"));
        }
        assert!(found > places.len() / 2, "{kind}: {found}");
    }
}

#[test]
fn checksums_and_lengths_are_checked() {
    let box_ = Sandbox::new();
    for (kind, file) in samples(&box_).into_iter().take(2) {
        for (back, text) in [(8, "checksum mismatch"), (4, "length mismatch")] {
            let mut bad = file.clone();
            let at = file.len() - back;
            bad[at] ^= 0x10;
            let message = refused(&box_, &bad, kind);
            assert!(message.contains(text), "{kind}: {message}");
            assert_eq!(offset(&message), at, "{kind}");
        }
    }
}

#[test]
fn garbage_behind_the_end() {
    let box_ = Sandbox::new();
    for (kind, file) in samples(&box_) {
        for garbage in [&b"x"[..], b"garbage", b"\0\0\0x", b"\x1fx", &[0xff; 70_000]] {
            let bad = [&file[..], garbage].concat();
            let message = refused(&box_, &bad, kind);
            assert!(message.contains("trailing garbage"), "{kind}: {message}");
            let zeros = garbage.iter().take_while(|&&byte| byte == 0).count();
            assert_eq!(offset(&message), file.len() + zeros, "{kind}");
        }
    }
}

#[test]
fn no_gzip_file_at_all() {
    let box_ = Sandbox::new();
    for file in [&b"hello"[..], b"\x1f\xa0\x90", b"PK\x03\x04", &[0; 5000]] {
        let message = refused(&box_, file, "no gzip");
        assert!(
            message.contains("not in gzip format at byte 0"),
            "{message}"
        );
    }
    let message = refused(&box_, b"", "nothing");
    assert!(
        message.contains("unexpected end of file at byte 0"),
        "{message}"
    );
    let message = refused(&box_, b"\x1f\x8b\x07\0\0\0\0\0\0\x03\x03\0", "method");
    assert!(
        message.contains("unknown compression method 7 at byte 2"),
        "{message}"
    );
    let message = refused(&box_, b"\x1f\x8b\x08\xe0\0\0\0\0\0\x03\x03\0", "flags");
    assert!(
        message.contains("unknown header flags 0xe0 at byte 3"),
        "{message}"
    );
}

#[test]
fn records_that_lie() {
    let box_ = Sandbox::new();
    let (_, file) = samples(&box_).pop().unwrap();
    // FEXTRA begins at 10: length, 'P' 'Z', length, kind and zeros, member, plain.
    for (at, value) in [
        (20, 1),
        (21, 0xff),
        (23, 0xff),
        (24, 1),
        (25, 0x55),
        (27, 0xff),
    ] {
        let mut bad = file.clone();
        bad[at] ^= value;
        refused(&box_, &bad, &format!("record byte {at}"));
        box_.run("gzip", &["-t"], &bad).expect(0);
    }
}

#[test]
fn good_files_before_and_after_a_damaged_one_are_done() {
    let box_ = Sandbox::new();
    let (_, good) = samples(&box_).swap_remove(1);
    box_.write("1.gz", &good);
    box_.write("2.gz", &good[..good.len() / 2]);
    box_.write("3.gz", &good);
    let done = box_.pgz(&["-d", "1.gz", "2.gz", "3.gz"]).expect(1);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    assert_eq!(box_.names(), ["1", "2.gz", "3"]);
}

#[test]
fn on_standard_input_the_message_says_stdin() {
    let box_ = Sandbox::new();
    let (_, good) = samples(&box_).swap_remove(1);
    let done = box_.run("pgz", &["-dc"], &good[..1000]).expect(1);
    assert!(
        done.stderr.starts_with("pgz: stdin: unexpected end"),
        "{}",
        done.stderr
    );
    let done = box_.run("pgz", &["-t"], b"nonsense").expect(1);
    assert!(
        done.stderr.contains("stdin: not in gzip format"),
        "{}",
        done.stderr
    );
}

/// Data in front of the damage is written, at least as much of it as by gzip.
#[test]
fn what_comes_before_the_damage_is_written() {
    let box_ = Sandbox::new();
    let data = text(7, 300_000);
    for (kind, file) in samples(&box_) {
        let mut random = Random::new(8);
        for _ in 0..60 {
            let cut = 20 + random.below(file.len() - 20);
            let theirs = box_.run("gzip", &["-dc"], &file[..cut]).stdout;
            let ours = box_.run("pgz", &["-dc"], &file[..cut]).stdout;
            let what = format!("{kind} cut at {cut}: {} {}", ours.len(), theirs.len());
            assert!(ours.len() >= theirs.len(), "{what}");
            assert!(data.starts_with(&ours), "{what}");
        }
        // Each member's data is intact, its checksum is wrong.
        let ends = (20..=file.len() - 8).filter(|&at| {
            at + 8 == file.len() || file[at + 8..].starts_with(&[0x1f, 0x8b, 8, 4])
        });
        for end in ends {
            let mut bad = file.clone();
            bad[end] ^= 1;
            let theirs = box_.run("gzip", &["-dc"], &bad).expect(1).stdout;
            let ours = box_.run("pgz", &["-dc"], &bad).expect(1).stdout;
            assert!(
                ours == theirs,
                "{kind} {end}: {} {}",
                ours.len(),
                theirs.len()
            );
        }
    }
}

#[test]
fn messages_have_the_name_that_the_program_was_called_by() {
    let box_ = Sandbox::new();
    for name in ["gzip", "gunzip", "some name"] {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_pgz"), box_.path(name)).unwrap();
        let program = box_.path(name).display().to_string();
        for args in [&["-d"][..], &["-S", ""], &["--nosuch"]] {
            let done = box_.run(&program, args, b"nonsense").expect(1);
            let start = format!("{name}: ");
            assert!(done.stderr.starts_with(&start), "{args:?} {}", done.stderr);
        }
    }
}
