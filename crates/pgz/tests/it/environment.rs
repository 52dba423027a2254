//! Options from the environment: `GZIP` as in gzip, `PIGZ` as in pigz.

use crate::sandbox::{Done, Sandbox, text};

fn run(box_: &Sandbox, program: &str, variables: &[(&str, &str)], args: &[&str]) -> Done {
    let mut command = box_.command(program);
    let done = command.args(args).envs(variables.iter().copied());
    let done = done.output().unwrap();
    Done {
        code: done.status.code(),
        stdout: done.stdout,
        stderr: String::from_utf8(done.stderr).unwrap(),
    }
}

#[test]
fn the_words_that_gzip_takes_and_no_others() {
    let box_ = Sandbox::new();
    let data = text(1, 5000);
    box_.write("a", &data);
    box_.run("gzip", &["-k", "a"], b"").expect(0);
    for (value, code) in [
        ("", 0),
        (" \t ", 0),
        ("-9", 0),
        ("  -9\t-q ", 0),
        ("-q9", 0),
        ("-qv", 0),
        ("-v", 0),
        ("-n --name -N --no-name", 0),
        ("--quiet", 0),
        ("--silent", 0),
        ("--verb", 0),
        ("--fast", 0),
        ("--best", 0),
        ("-1 -2 -3 -4 -5 -6 -7 -8 -9", 0),
        ("--rsyncable", 0),
        ("file", 1),
        ("-9 file", 1),
        ("-", 1),
        ("--", 1),
        ("-c", 1),
        ("--stdout", 1),
        ("-d", 1),
        ("--decompress", 1),
        ("-f", 1),
        ("--force", 1),
        ("-h", 1),
        ("--help", 1),
        ("-k", 1),
        ("--keep", 1),
        ("-l", 1),
        ("--list", 1),
        ("-L", 1),
        ("--license", 1),
        ("-m", 1),
        ("-M", 1),
        ("-r", 1),
        ("--recursive", 1),
        ("-Sxxx", 1),
        ("-S xxx", 1),
        ("--suffix=xxx", 1),
        ("--synchronous", 1),
        ("-t", 1),
        ("--test", 1),
        ("-V", 1),
        ("--version", 1),
        ("-a", 1),
        ("-9c", 1),
        ("--nosuch", 1),
        ("-p2", 1),
        ("-i", 1),
    ] {
        for args in [&["-dc", "a.gz"][..], &["-c", "a"]] {
            let theirs = run(&box_, "gzip", &[("GZIP", value)], args);
            let ours = run(&box_, "pgz", &[("GZIP", value)], args);
            let what = format!("{value:?} {args:?}\n{}\n{}", theirs.stderr, ours.stderr);
            assert_eq!(ours.code, Some(code), "{what}");
            assert_eq!(theirs.code, Some(code), "{what}");
            assert_eq!(ours.stderr.is_empty(), theirs.stderr.is_empty(), "{what}");
            assert_eq!(ours.stdout.is_empty(), theirs.stdout.is_empty(), "{what}");
            if args[0] == "-dc" && code == 0 {
                assert!(ours.stdout == data, "{what}");
            }
        }
    }
}

#[test]
fn the_warning_and_the_refusals_are_gzips() {
    let box_ = Sandbox::new();
    box_.write("a", b"hello");
    for value in ["-9", "-N", "file", "--keep", "--"] {
        let theirs = run(&box_, "gzip", &[("GZIP", value)], &["-c", "a"]);
        let ours = run(&box_, "pgz", &[("GZIP", value)], &["-c", "a"]);
        let first = |text: &str| {
            let line = text.lines().next().unwrap();
            line.split_once(": ").unwrap().1.to_owned()
        };
        assert_eq!(first(&ours.stderr), first(&theirs.stderr), "{value}");
        assert!(ours.stderr.starts_with("pgz: "), "{}", ours.stderr);
    }
}

#[test]
fn the_command_line_comes_last() {
    let box_ = Sandbox::new();
    box_.write("a", &text(1, 50_000));
    let packed = |variables: &[(&str, &str)], args: &[&str]| {
        let args = [args, &["-c", "a"]].concat();
        run(&box_, "pgz", variables, &args).expect(0).stdout
    };
    let (fast, best) = (packed(&[], &["-1"]), packed(&[], &["-9"]));
    assert!(fast != best);
    assert!(packed(&[("GZIP", "-1")], &[]) == fast);
    assert!(packed(&[("GZIP", "-1")], &["-9"]) == best);
    assert!(packed(&[("PIGZ", "-1")], &[]) == fast);
    assert!(packed(&[("PIGZ", "-1")], &["-9"]) == best);
    assert!(packed(&[("GZIP", "-1"), ("PIGZ", "-9")], &[]) == best);
    let nameless = packed(&[("GZIP", "-n")], &[]);
    assert_eq!(nameless[3..8], [0; 5]);
    assert!(packed(&[("GZIP", "-n")], &["-N"]) == packed(&[], &[]));
}

#[test]
fn pigzs_variable_takes_any_option_and_no_file() {
    let box_ = Sandbox::new();
    let data = text(2, 300_000);
    box_.write("a", &data);
    let done = run(&box_, "pgz", &[("PIGZ", "-k -p 2 -b 64 -i")], &["a"]).expect(0);
    assert_eq!(done.stderr, "", "it is not obsolescent");
    assert_eq!(box_.names(), ["a", "a.gz"]);
    let plain = box_.pgz(&["-c", "-p2", "-b64", "-i", "a"]).expect(0).stdout;
    assert!(box_.read("a.gz") == plain);
    for value in ["a", "-9 a", "--", "--nosuch", "-b"] {
        let done = run(&box_, "pgz", &[("PIGZ", value)], &["-kf", "a"]).expect(1);
        assert!(
            done.stderr.contains("in PIGZ environment variable"),
            "{}",
            done.stderr
        );
    }
}
