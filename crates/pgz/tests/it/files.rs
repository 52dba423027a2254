//! Resulting files: modes, times, owners, names, and nothing else.

use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::sandbox::{Sandbox, text};
use crate::unmeasured::unmeasured;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::new(seconds, 123_456_789)
}

fn set_times(box_: &Sandbox, name: &str, accessed: SystemTime, modified: SystemTime) {
    let times = FileTimes::new()
        .set_accessed(accessed)
        .set_modified(modified);
    File::options()
        .append(true)
        .open(box_.path(name))
        .unwrap()
        .set_times(times)
        .unwrap();
}

#[test]
fn modes_and_times_are_kept() {
    for mode in [0o644, 0o600, 0o755, 0o640, 0o444, 0o777, 0o400] {
        let box_ = Sandbox::new();
        box_.write("a", &text(1, 200_000));
        set_times(&box_, "a", at(1_000_000_000), at(1_100_000_000));
        fs::set_permissions(box_.path("a"), Permissions::from_mode(mode)).unwrap();
        for (args, name) in [(&["a"][..], "a.gz"), (&["-d", "a.gz"], "a")] {
            box_.pgz(args).expect(0);
            assert_eq!(box_.names(), [name]);
            let facts = fs::metadata(box_.path(name)).unwrap();
            assert_eq!(facts.permissions().mode() & 0o7777, mode, "{name}");
            assert_eq!(
                facts.modified().unwrap(),
                at(1_100_000_000),
                "{name} {mode:o}"
            );
        }
    }
}

#[test]
fn the_owner_is_kept_where_permitted() {
    let box_ = Sandbox::new();
    box_.write("a", b"hello");
    if !rustix::process::geteuid().is_root() {
        return unmeasured("not root: cannot change an owner");
    }
    chown(box_.path("a"), Some(1234), Some(4321)).unwrap();
    for (args, name) in [(&["a"][..], "a.gz"), (&["-d", "a.gz"], "a")] {
        box_.pgz(args).expect(0);
        let facts = fs::metadata(box_.path(name)).unwrap();
        assert_eq!((facts.uid(), facts.gid()), (1234, 4321), "{name}");
    }
}

#[test]
fn set_id_and_sticky_files_are_left_alone() {
    // `-f` overrides the sticky bit only.
    for (mode, forced) in [(0o4755, 2), (0o2755, 2), (0o6755, 2), (0o1644, 0)] {
        for program in ["gzip", "pgz"] {
            let box_ = Sandbox::new();
            let set = |name: &str| {
                let mode = Permissions::from_mode(mode);
                fs::set_permissions(box_.path(name), mode).unwrap();
            };
            let run = |args: &[&str], code| box_.run(program, args, b"").expect(code);
            box_.write("a", b"hello");
            run(&["-k", "a"], 0);
            fs::rename(box_.path("a.gz"), box_.path("b.gz")).unwrap();
            set("a");
            set("b.gz");
            run(&["a"], 2);
            run(&["-d", "b.gz"], 2);
            run(&["-q", "a"], 2);
            run(&["-dq", "a"], 2);
            assert_eq!(box_.names(), ["a", "b.gz"], "{program} {mode:o}");
            run(&["-c", "a"], 0);
            run(&["-f", "a"], forced);
            run(&["-df", "b.gz"], forced);
            if forced == 0 {
                let names = box_.listing();
                assert_eq!(names["a.gz"] & 0o7777, mode & 0o777, "{program}");
                assert_eq!(names["b"] & 0o7777, mode & 0o777, "{program}");
            } else {
                assert_eq!(box_.names(), ["a", "b.gz"], "{program} {mode:o}");
            }
        }
    }
}

#[test]
fn name_and_time_are_in_the_header() {
    let box_ = Sandbox::new();
    box_.write("d/original", b"hello");
    set_times(&box_, "d/original", at(5), at(0x0102_0304));
    for mode in ["-k", "-ki"] {
        box_.pgz(&[mode, "d/original"]).expect(0);
        let file = box_.read("d/original.gz");
        assert_eq!(file[4..8], [4, 3, 2, 1], "{mode}");
        let name = b"original\0";
        assert!(
            file.windows(name.len()).any(|window| window == name),
            "{mode}"
        );
        fs::remove_file(box_.path("d/original.gz")).unwrap();
    }
    box_.pgz(&["-kn", "d/original"]).expect(0);
    let file = box_.read("d/original.gz");
    assert_eq!(file[3..8], [0; 5]);
}

#[test]
fn name_and_time_are_restored_on_request() {
    for mode in ["-9", "-i"] {
        let box_ = Sandbox::new();
        box_.write("original", &text(1, 1000));
        set_times(&box_, "original", at(5), at(900_000_000));
        box_.pgz(&[mode, "original"]).expect(0);
        fs::rename(box_.path("original.gz"), box_.path("other.gz")).unwrap();
        set_times(&box_, "other.gz", at(7), at(1_200_000_000));
        box_.pgz(&["-dk", "other.gz"]).expect(0);
        box_.pgz(&["-dN", "other.gz"]).expect(0);
        assert_eq!(box_.names(), ["original", "other"]);
        let modified = |name| fs::metadata(box_.path(name)).unwrap().modified().unwrap();
        assert_eq!(modified("other"), at(1_200_000_000));
        assert_eq!(
            modified("original"),
            UNIX_EPOCH + Duration::from_secs(900_000_000)
        );
    }
}

#[test]
fn a_stored_path_does_not_lead_elsewhere() {
    let box_ = Sandbox::new();
    fs::create_dir(box_.path("d")).unwrap();
    let packed = box_.run("gzip", &["-n"], b"hello").expect(0).stdout;
    let mut file = vec![0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3];
    file.extend_from_slice(b"../escaped\0");
    file.extend_from_slice(&packed[10..]);
    box_.write("d/a.gz", &file);
    box_.pgz(&["-dN", "d/a.gz"]).expect(0);
    assert_eq!(box_.names(), ["d", "d/escaped"]);
}

#[test]
fn an_existing_file_is_not_overwritten() {
    let box_ = Sandbox::new();
    box_.write("a", b"new");
    box_.write("a.gz", b"old");
    let done = box_.pgz(&["a"]).expect(2);
    assert!(
        done.stderr.contains("a.gz already exists"),
        "{}",
        done.stderr
    );
    assert_eq!(box_.read("a.gz"), b"old");
    assert_eq!(box_.read("a"), b"new");
    box_.pgz(&["-f", "a"]).expect(0);
    assert_eq!(box_.names(), ["a.gz"]);
    box_.write("a", b"old");
    box_.pgz(&["-d", "a.gz"]).expect(2);
    assert_eq!(box_.read("a"), b"old");
    box_.pgz(&["-df", "a.gz"]).expect(0);
    assert_eq!(box_.read("a"), b"new");
}

#[test]
fn names_that_are_not_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let box_ = Sandbox::new();
    let name = OsStr::from_bytes(b"\xff\xfe x");
    fs::write(box_.path(name), b"hello").unwrap();
    box_.pgz(&[name]).expect(0);
    let packed = OsStr::from_bytes(b"\xff\xfe x.gz");
    assert!(box_.path(packed).exists());
    box_.pgz(&[OsStr::new("-d"), packed]).expect(0);
    assert_eq!(box_.read(name), b"hello");
}

#[test]
fn a_directory_that_contains_itself() {
    let box_ = Sandbox::new();
    box_.write("d/x", b"hello");
    std::os::unix::fs::symlink("..", box_.path("d/up")).unwrap();
    let done = box_.pgz(&["-rf", "d"]).expect(1);
    assert!(done.stderr.contains("d/up"), "{}", done.stderr);
    assert_eq!(box_.names(), ["d", "d/up", "d/x.gz"]);
}

#[test]
fn times_that_a_header_cannot_express() {
    for (seconds, code) in [
        (-2_208_988_740, 2),
        (-1, 2),
        (0, 2),
        (1, 0),
        (i64::from(i32::MAX), 0),
        (1 << 31, 0),
        (i64::from(u32::MAX), 0),
        (1 << 32, 2),
    ] {
        for args in [
            &["-c", "a"][..],
            &["-ci", "a"],
            &["-qc", "a"],
            &["-nc", "a"],
            &["-mc", "a"],
            &["-nMc", "a"],
            &["-Nmc", "a"],
            &["a"],
        ] {
            let run = |program: &str| {
                let box_ = Sandbox::new();
                box_.write("a", b"hello");
                let since = Duration::from_secs(seconds.unsigned_abs());
                let time = match seconds < 0 {
                    true => UNIX_EPOCH - since,
                    false => UNIX_EPOCH + since,
                };
                set_times(&box_, "a", at(5), time);
                let args: Vec<&str> = args
                    .iter()
                    .map(|&arg| match (program, arg) {
                        ("gzip", "-ci") => "-c",
                        _ => arg,
                    })
                    .collect();
                let done = box_.run(program, &args, b"");
                let file = match done.stdout.is_empty() {
                    true => box_.read("a.gz"),
                    false => done.stdout,
                };
                (done.code, done.stderr.is_empty(), file[4..8].to_vec())
            };
            let (code, time) = match args[0] {
                "-nc" | "-mc" | "-Nmc" => (0, 0),
                _ => (code, u32::try_from(seconds).unwrap_or(0)),
            };
            let ours = run("pgz");
            assert_eq!(ours, run("gzip"), "{seconds} {args:?}");
            assert_eq!(ours.0, Some(code), "{seconds} {args:?}");
            assert_eq!(ours.2, time.to_le_bytes(), "{seconds} {args:?}");
        }
    }
}

#[test]
fn the_time_of_standard_input_is_that_of_a_file() {
    let box_ = Sandbox::new();
    box_.write("a", b"hello");
    for (seconds, code) in [(0, 2), (1_000_000_000, 0)] {
        set_times(&box_, "a", at(5), UNIX_EPOCH + Duration::from_secs(seconds));
        for program in ["gzip", "pgz"] {
            let mut command = box_.command(program);
            command.stdin(File::open(box_.path("a")).unwrap());
            let done = command.output().unwrap();
            assert_eq!(done.status.code(), Some(code), "{program} {seconds}");
            assert_eq!(
                done.stdout[4..8],
                (seconds as u32).to_le_bytes(),
                "{program}"
            );
        }
    }
    let done = box_.run("pgz", &["-1"], b"hello").expect(0);
    assert_eq!(
        done.stdout[4..8],
        [0; 4],
        "a pipe has no time worth keeping"
    );
}

#[test]
fn names_and_times_are_restored_one_by_one() {
    for args in [
        "-dk", "-dkN", "-dkM", "-dkn", "-dkm", "-dkNm", "-dknM", "-dkNn",
    ] {
        let run = |program: &str| {
            let box_ = Sandbox::new();
            box_.write("original", b"hello");
            set_times(&box_, "original", at(5), at(900_000_000));
            box_.run("gzip", &["original"], b"").expect(0);
            fs::rename(box_.path("original.gz"), box_.path("other.gz")).unwrap();
            set_times(&box_, "other.gz", at(7), at(1_200_000_000));
            box_.run(program, &[args, "other.gz"], b"").expect(0);
            let name = box_.names().into_iter().find(|name| name != "other.gz");
            let name = name.unwrap();
            let facts = fs::metadata(box_.path(&name)).unwrap();
            (name, facts.modified().unwrap())
        };
        assert_eq!(run("pgz"), run("gzip"), "{args}");
    }
}

/// The name in a header may be that of the compressed file itself.
#[test]
fn a_stored_name_does_not_replace_the_file_itself() {
    let box_ = Sandbox::new();
    box_.write("a.gz", b"hello");
    let packed = box_.run("gzip", &["-c", "a.gz"], b"").expect(0).stdout;
    box_.write("a.gz", &packed);
    box_.pgz(&["-dkfN", "a.gz"]).expect(0);
    assert_eq!(box_.names(), ["a", "a.gz"]);
    assert_eq!(box_.read("a"), b"hello");
    assert_eq!(box_.read("a.gz"), packed, "it is kept");
}

/// `-d link` finds `link.gz`, and reports why that cannot be opened.
#[test]
fn a_file_that_is_found_by_its_suffix_is_reported_with_its_own_error() {
    let box_ = Sandbox::new();
    box_.write("a.gz", b"");
    std::os::unix::fs::symlink("a.gz", box_.path("link.gz")).unwrap();
    for program in ["gzip", "pgz"] {
        let done = box_.run(program, &["-d", "link"], b"").expect(1);
        let (_, text) = done.stderr.split_once(": ").unwrap();
        let expected = "link.gz: Too many levels of symbolic links\n";
        assert_eq!(text, expected, "{program}");
    }
}

/// A pipe without a writer would be waited for.
#[test]
fn pipes_in_a_directory_are_no_input() {
    let box_ = Sandbox::new();
    box_.write("d/a", &text(1, 1000));
    box_.run("gzip", &["d/a"], b"").expect(0);
    box_.run("mkfifo", &["d/pipe", "d/pipe.gz"], b"").expect(0);
    for option in ["-r", "-rc", "-rdc", "-rt", "-rl"] {
        let args = ["100", env!("CARGO_BIN_EXE_pgz"), option, "d"];
        let done = box_.run("timeout", &args, b"").expect(2);
        let warnings = done.stderr.matches(": is not a directory or");
        assert_eq!(warnings.count(), 2, "{option}: {}", done.stderr);
    }
    assert_eq!(box_.names(), ["d", "d/a.gz", "d/pipe", "d/pipe.gz"]);
}
