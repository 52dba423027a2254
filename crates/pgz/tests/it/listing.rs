//! Printed output: the table of `-l`, the lines of `-v`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::sandbox::{Sandbox, noise, text};

#[test]
fn the_table_is_gzips() {
    let box_ = Sandbox::new();
    box_.write("a", &text(1, 5000));
    box_.write("noisy", &noise(1, 3000));
    box_.write("empty", b"");
    box_.run("gzip", &["a", "noisy", "empty"], b"").expect(0);
    for args in [
        &["-l", "a.gz"][..],
        &["-ql", "a.gz", "noisy.gz", "empty.gz"],
        &["-lv", "noisy.gz"],
        &["-lq", "a.gz"],
        &["-lN", "a.gz"],
        &["-lv", "empty.gz"],
    ] {
        let theirs = box_.run("gzip", args, b"").expect(0).stdout;
        let ours = box_.pgz(args).expect(0).stdout;
        assert_eq!(
            String::from_utf8(ours),
            String::from_utf8(theirs),
            "{args:?}"
        );
    }
    let all = box_
        .pgz(&["-l", "a.gz", "noisy.gz", "empty.gz"])
        .expect(0)
        .stdout;
    let all = String::from_utf8(all).unwrap();
    let numbers: Vec<Vec<u64>> = all
        .lines()
        .skip(1)
        .map(|line| {
            line.split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect()
        })
        .collect();
    for column in 0..2 {
        let sum: u64 = numbers[..3].iter().map(|row| row[column]).sum();
        assert_eq!(numbers[3][column], sum, "{all}");
    }
    assert!(all.ends_with(" (totals)\n"), "{all}");
    let packed = box_.read("a.gz");
    let theirs = box_.run("gzip", &["-l"], &packed).expect(0).stdout;
    let ours = box_.run("pgz", &["-l"], &packed).expect(0).stdout;
    assert_eq!(String::from_utf8(ours), String::from_utf8(theirs));
}

#[test]
fn the_table_has_names_that_are_not_text() {
    let box_ = Sandbox::new();
    let name = OsStr::from_bytes(b"\xff\xfe x");
    std::fs::write(box_.path(name), text(1, 5000)).unwrap();
    box_.run("gzip", &[name], b"").expect(0);
    let packed = OsStr::from_bytes(b"\xff\xfe x.gz");
    for option in ["-l", "-lN", "-lv"] {
        let args = [OsStr::new(option), packed];
        let theirs = box_.run("gzip", &args, b"").expect(0).stdout;
        let ours = box_.pgz(&args).expect(0).stdout;
        let shown = [&ours, &theirs].map(|it| it.escape_ascii().to_string());
        assert_eq!(shown[0], shown[1], "{option}");
    }
}

#[test]
fn the_table_counts_all_members() {
    let box_ = Sandbox::new();
    box_.write("a", &text(1, 700_000));
    box_.pgz(&["-i", "a"]).expect(0);
    let listed = String::from_utf8(box_.pgz(&["-l", "a.gz"]).expect(0).stdout).unwrap();
    let size = box_.read("a.gz").len();
    let numbers: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(numbers[..2], [size.to_string(), "700000".to_owned()]);
}

#[test]
fn verbose_lines_are_gzips() {
    let line = |program: &str, args: &[&str]| {
        let box_ = Sandbox::new();
        box_.write("a", &text(1, 5000));
        box_.write("n", &noise(1, 3000));
        box_.run("gzip", &["-k", "n"], b"").expect(0);
        box_.run(program, args, b"").expect(0).stderr
    };
    for args in [
        &["-dv", "n.gz", "-f"][..],
        &["-dkvf", "n.gz"],
        &["-tv", "n.gz"],
    ] {
        assert_eq!(line("pgz", args), line("gzip", args), "{args:?}");
    }
    assert!(line("pgz", &["-v", "a"]).ends_with("% -- replaced with a.gz\n"));
    assert!(line("pgz", &["-kv", "a"]).ends_with("% -- created a.gz\n"));
    assert_eq!(line("pgz", &["-qv", "-q", "a"]), "");
    let box_ = Sandbox::new();
    let packed = box_.run("gzip", &["-1"], b"hello").expect(0).stdout;
    for program in ["gzip", "pgz"] {
        let done = box_.run(program, &["-dv"], &packed).expect(0);
        assert_eq!(done.stderr, "", "{program}: no line for standard input");
    }
}

#[test]
fn the_listed_time_and_name_are_the_stored_ones_on_request() {
    let box_ = Sandbox::new();
    box_.write("original", &text(1, 5000));
    box_.run("gzip", &["original"], b"").expect(0);
    std::fs::rename(box_.path("original.gz"), box_.path("a.gz")).unwrap();
    let file = std::fs::File::options()
        .append(true)
        .open(box_.path("a.gz"));
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    file.unwrap().set_modified(time).unwrap();
    let packed = box_.read("a.gz");
    for args in [
        "-lv", "-lvN", "-lvM", "-lvn", "-lvNm", "-lN", "-lNm", "-lqv",
    ] {
        let theirs = box_.run("gzip", &[args, "a.gz"], b"").expect(0).stdout;
        let ours = box_.run("pgz", &[args, "a.gz"], b"").expect(0).stdout;
        let text = |bytes| String::from_utf8(bytes).unwrap();
        assert_eq!(text(ours), text(theirs), "{args}");
        // The time of a pipe is that of the call, so only the name is compared.
        let last = |bytes| text(bytes).split_whitespace().last().map(str::to_owned);
        let theirs = box_.run("gzip", &[args], &packed).expect(0).stdout;
        let ours = box_.run("pgz", &[args], &packed).expect(0).stdout;
        assert_eq!(last(ours), last(theirs), "{args}");
    }
}

/// gzip adds up if there are several operands and there is data.
#[test]
fn the_totals_are_gzips() {
    let box_ = Sandbox::new();
    box_.write("a", &text(1, 5000));
    box_.write("empty", b"");
    box_.run("gzip", &["a", "empty"], b"").expect(0);
    for (args, code) in [
        (&["-l", "a.gz", "nosuch"][..], 1),
        (&["-lv", "nosuch", "a.gz"], 1),
        (&["-ql", "a.gz", "nosuch"], 1),
        (&["-l", "nosuch", "nosuch"], 1),
        (&["-l", "empty.gz", "empty.gz"], 0),
    ] {
        let theirs = box_.run("gzip", args, b"").expect(code).stdout;
        let ours = box_.pgz(args).expect(code).stdout;
        let text = |bytes| String::from_utf8(bytes).unwrap();
        assert_eq!(text(ours), text(theirs), "{args:?}");
    }
}

/// `-l` reads a terminal, too.
#[test]
fn a_terminal_is_listed() {
    let box_ = Sandbox::new();
    let packed = box_.run("gzip", &["-n"], &text(1, 5000)).expect(0).stdout;
    let args = ["---presume-input-tty", "-l"];
    let theirs = box_.run("gzip", &args, &packed).expect(0).stdout;
    let ours = box_.run("pgz", &args, &packed).expect(0).stdout;
    assert_eq!(String::from_utf8(ours), String::from_utf8(theirs));
}
