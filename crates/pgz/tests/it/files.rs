//! What is there afterwards: modes, times, owners, names, and nothing else.

use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::sandbox::{Sandbox, text};

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
        eprintln!("not root: the owner cannot be changed, so cannot be kept either");
        return;
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
    for mode in [0o4755, 0o2755, 0o1644] {
        let box_ = Sandbox::new();
        box_.write("a", b"hello");
        fs::set_permissions(box_.path("a"), Permissions::from_mode(mode)).unwrap();
        box_.pgz(&["a"]).expect(2);
        assert_eq!(box_.names(), ["a"], "{mode:o}");
        box_.pgz(&["-f", "a"]).expect(0);
        let left = fs::metadata(box_.path("a.gz"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(left & 0o7777, mode & 0o777, "{mode:o}");
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
