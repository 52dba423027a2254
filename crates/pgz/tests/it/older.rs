//! Files of `compress` and `pack`, compared with `gzip`.

use crate::sandbox::{Random, Sandbox, noise, text};

/// Codes in the order in which `compress` packs them: eight of one width at a time.
struct Codes {
    file: Vec<u8>,
    bits: u64,
    held: u32,
    width: u32,
    in_group: u32,
}

impl Codes {
    fn push(&mut self, code: u16) {
        self.bits |= u64::from(code) << self.held;
        self.held += self.width;
        self.in_group = (self.in_group + 1) % 8;
        while self.held >= 8 {
            self.file.push(self.bits as u8);
            self.bits >>= 8;
            self.held -= 8;
        }
    }

    fn widen(&mut self, width: u32) {
        while self.in_group != 0 {
            self.push(0);
        }
        self.width = width;
    }

    fn finish(mut self) -> Vec<u8> {
        if self.held > 0 {
            self.file.push(self.bits as u8);
        }
        self.file
    }
}

/// A plain writer of `.Z` files: the table is searched from front to back by a map, and
/// emptied at every `clear_every` bytes in block mode.
fn compress(data: &[u8], widest: u32, block_mode: bool, clear_every: usize) -> Vec<u8> {
    let flags = widest as u8 | u8::from(block_mode) << 7;
    let mut codes = Codes {
        file: vec![0x1f, 0x9d, flags],
        bits: 0,
        held: 0,
        width: 9,
        in_group: 0,
    };
    let mut table = std::collections::HashMap::new();
    let first = 256 + u32::from(block_mode);
    let mut next = first;
    let mut string: Option<u16> = None;
    for (at, &byte) in data.iter().enumerate() {
        let Some(prefix) = string else {
            string = Some(byte.into());
            continue;
        };
        if let Some(&longer) = table.get(&(prefix, byte)) {
            string = Some(longer);
            continue;
        }
        codes.push(prefix);
        if next < 1 << widest {
            table.insert((prefix, byte), next as u16);
            next += 1;
        }
        // The reader is one entry behind.
        if next > 1 << codes.width && codes.width < widest {
            codes.widen(codes.width + 1);
        }
        string = Some(byte.into());
        if block_mode && at % clear_every == clear_every - 1 {
            codes.push(256);
            codes.widen(9);
            table.clear();
            next = first;
        }
    }
    if let Some(last) = string {
        codes.push(last);
    }
    codes.finish()
}

#[test]
fn files_of_compress_at_every_width() {
    let box_ = Sandbox::new();
    for widest in 10..=16 {
        for (data, clear_every) in [
            // Enough to fill the table.
            (text(1, 10 << widest), usize::MAX),
            (text(2, 100_000), 40_000),
            (noise(3, 60_000), 7_777),
            (vec![b'x'; 50_000], usize::MAX),
            (Vec::new(), 1),
            (b"a".to_vec(), usize::MAX),
        ] {
            for block_mode in [false, true] {
                let file = compress(&data, widest, block_mode, clear_every);
                let what = format!("{widest} {block_mode} {}", data.len());
                let theirs = box_.run("gzip", &["-dc"], &file);
                assert!(theirs.stdout == data, "{what}: the writer is at fault");
                let ours = box_.run("pgz", &["-dc"], &file).expect(0);
                assert!(ours.stdout == data, "{what}");
                assert_eq!(ours.stderr, "", "{what}");
            }
        }
    }
}

#[test]
fn files_of_compress_by_name() {
    let data = text(4, 100_000);
    let file = compress(&data, 16, true, usize::MAX);
    for (args, code) in [
        (&["-d", "a.Z"][..], 0),
        (&["-d", "a"], 0),
        (&["-dk", "a.Z"], 0),
        (&["-dv", "a.Z"], 0),
        (&["-t", "a.Z"], 0),
        (&["-tv", "a"], 0),
        (&["-l", "a.Z"], 0),
        (&["-ql", "a.Z"], 0),
        (&["-dN", "a.Z"], 0),
        (&["a.Z"], 0),
        (&["-dc", "a.Z", "a.Z"], 0),
    ] {
        let (gzip, pgz) = (Sandbox::new(), Sandbox::new());
        for box_ in [&gzip, &pgz] {
            box_.write("a.Z", &file);
        }
        let theirs = gzip.run("gzip", args, b"").expect(code);
        let ours = pgz.pgz(args).expect(code);
        assert!(ours.stdout == theirs.stdout, "{args:?}");
        assert_eq!(ours.stderr.is_empty(), theirs.stderr.is_empty(), "{args:?}");
        assert_eq!(pgz.listing(), gzip.listing(), "{args:?}");
        for name in pgz.names() {
            assert!(pgz.read(&name) == gzip.read(&name), "{args:?}");
        }
    }
}

#[test]
fn packed_files() {
    let file = b"\x1f\x1e\0\0\0\x06\x03\x01\x01\0anb\x16\xc8";
    for (args, code) in [
        (&["-d", "a.z"][..], 0),
        (&["-dc", "a"], 0),
        (&["-t", "a.z"], 0),
        (&["-l", "a.z"], 0),
    ] {
        let (gzip, pgz) = (Sandbox::new(), Sandbox::new());
        for box_ in [&gzip, &pgz] {
            box_.write("a.z", file);
        }
        let theirs = gzip.run("gzip", args, b"").expect(code);
        let ours = pgz.pgz(args).expect(code);
        assert_eq!(ours.stdout, theirs.stdout, "{args:?}");
        assert_eq!(pgz.listing(), gzip.listing(), "{args:?}");
    }
}

/// Damaged files give the same data and exit code as with gzip.
#[test]
fn damaged_files_of_compress() {
    let box_ = Sandbox::new();
    let good = compress(&text(5, 20_000), 12, true, 9_000);
    let mut random = Random::new(6);
    for round in 0..60 {
        let mut file = good.clone();
        match round % 3 {
            0 => file.truncate(random.below(good.len())),
            1 => file[3 + random.below(good.len() - 3)] ^= 1 << random.below(8),
            _ => drop(file.splice(30.., noise(round, 40))),
        }
        let theirs = box_.run("gzip", &["-dc"], &file);
        let ours = box_.run("pgz", &["-dc"], &file);
        assert!(!ours.stderr.contains("panicked"), "{}", ours.stderr);
        assert_eq!(ours.code, theirs.code, "round {round}: {}", theirs.stderr);
        let common = theirs.stdout.len().min(ours.stdout.len());
        assert!(
            ours.stdout[..common] == theirs.stdout[..common]
                && ours.stdout.len() >= theirs.stdout.len(),
            "round {round}"
        );
    }
}

#[test]
fn packed_files_that_are_damaged() {
    let box_ = Sandbox::new();
    for file in [
        &b"\x1f\x1e\0\0\x1f\x8b\x08\0\0\0\0\0\x02\x03\x1e\0\0\0\x02\x03"[..],
        b"\x1f\x1e\0\0\0\x06\x03\x01\x01\0anb\x16",
        b"\x1f\x1e\0\0\0\x07\x03\x01\x01\0anb\x16\xc8",
        b"\x1f\x9d",
        b"\x1f\x9d\x90\xff\xff",
        b"\x1f\x9d\x91",
    ] {
        let theirs = box_.run("gzip", &["-d"], file);
        let ours = box_.run("pgz", &["-d"], file);
        assert_eq!((theirs.code, ours.code), (Some(1), Some(1)), "{file:x?}");
        assert!(ours.stderr.contains("at byte "), "{}", ours.stderr);
    }
}
