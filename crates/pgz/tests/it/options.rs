//! Each option does what gzip's does.
//!
//! Most tests here run the same commands in two directories, once with gzip and once with
//! pgz, and compare exit code, standard output where it is not compressed, the names and
//! modes of all files and, after unpacking, their contents.

use std::fs;
use std::os::unix::fs::symlink;

use crate::sandbox::{Sandbox, text};
use crate::unmeasured::unmeasured;

/// Two equal directories.
struct Twins {
    gzip: Sandbox,
    pgz: Sandbox,
}

impl Twins {
    fn new(set_up: impl Fn(&Sandbox)) -> Twins {
        let twins = Twins {
            gzip: Sandbox::new(),
            pgz: Sandbox::new(),
        };
        set_up(&twins.gzip);
        set_up(&twins.pgz);
        twins
    }

    /// Runs both, compares all comparable results, and returns the common exit code.
    #[track_caller]
    fn run(&self, args: &[&str]) -> i32 {
        let theirs = self.gzip.run("gzip", args, b"");
        let ours = self.pgz.run("pgz", args, b"");
        let what = format!("{args:?}\n{}\n{}", theirs.stderr, ours.stderr);
        assert!(!ours.stderr.contains("panicked"), "{what}");
        assert_eq!(theirs.code, ours.code, "{what}");
        assert_eq!(theirs.stderr.is_empty(), ours.stderr.is_empty(), "{what}");
        assert_eq!(self.gzip.listing(), self.pgz.listing(), "{what}");
        for name in self.gzip.names() {
            if fs::metadata(self.gzip.path(&name)).is_ok_and(|facts| facts.is_file()) {
                let (a, b) = (self.gzip.read(&name), self.pgz.read(&name));
                assert!(
                    unpacked(&self.gzip, a) == unpacked(&self.pgz, b),
                    "{name} {what}"
                );
            }
        }
        assert!(
            unpacked(&self.gzip, theirs.stdout) == unpacked(&self.pgz, ours.stdout),
            "{what}"
        );
        ours.code.expect("no signal")
    }
}

fn unpacked(box_: &Sandbox, data: Vec<u8>) -> Vec<u8> {
    if data.starts_with(&[0x1f, 0x8b]) {
        box_.run("gzip", &["-dc"], &data).stdout
    } else {
        data
    }
}

/// Text, an empty file, a packed file, a directory with a link in it.
fn usual(box_: &Sandbox) {
    box_.write("a", &text(1, 5000));
    box_.write("b", &text(2, 300_000));
    box_.write("empty", b"");
    box_.write("d/x", &text(3, 200));
    box_.write("d/e/y", &text(4, 200));
    let packed = box_.run("gzip", &["-nc", "a"], b"").expect(0).stdout;
    for name in ["p.gz", "q.tgz", "r-gz", "S.GZ", "t.z", "noext", "u.foo"] {
        box_.write(name, &packed);
    }
}

#[test]
fn the_same_files_and_exit_codes() {
    for (args, code) in [
        (&["a"][..], 0),
        (&["-v", "a", "b"], 0),
        (&["-k", "a"], 0),
        (&["-kv9", "a", "-1"], 0),
        (&["--fast", "--keep", "a"], 0),
        (&["--be", "--ke", "a"], 0),
        (&["-c", "a", "b"], 0),
        (&["--st", "a"], 0),
        (&["-c", "d"], 2),
        (&["d"], 2),
        (&["-q", "d"], 2),
        (&["-r", "d"], 0),
        (&["-rv", "d", "a"], 0),
        (&["-rc", "d/e"], 0),
        (&["nosuch"], 1),
        (&["a", "nosuch", "b"], 1),
        (&["a", "d"], 2),
        (&["d", "nosuch"], 1),
        (&["p.gz"], 0),
        (&["-q", "p.gz"], 0),
        (&["-f", "p.gz"], 0),
        (&["-c", "p.gz"], 0),
        (&["-S", ".foo", "a"], 0),
        (&["-S", "foo", "-k", "a"], 0),
        (&["-S.bar", "a"], 0),
        (&["-S", ".x", "-S", ".y", "a"], 0),
        (&["--suffix=.foo", "a"], 0),
        (&["-n", "a"], 0),
        (&["--no-name", "-N", "a"], 0),
        (&["-d", "p.gz"], 0),
        (&["-d", "p"], 0),
        (&["-dv", "q.tgz", "r-gz", "S.GZ", "t.z"], 0),
        (&["--decompress", "--keep", "p.gz"], 0),
        (&["--uncompress", "p.gz"], 0),
        (&["-d", "a"], 2),
        (&["-dq", "a"], 0),
        (&["-d", "noext"], 2),
        (&["-dc", "noext"], 0),
        (&["-d", "u.foo"], 2),
        (&["-d", "-S", ".foo", "u.foo"], 0),
        (&["-dc", "p.gz", "q.tgz"], 0),
        (&["-dc", "p.gz", "a"], 1),
        (&["-dcf", "p.gz", "a", "empty"], 0),
        (&["-d", "nosuch"], 1),
        (&["-d", "d"], 2),
        (&["-t", "p.gz", "noext"], 0),
        (&["-tv", "p.gz"], 0),
        (&["-t", "a"], 1),
        (&["-t", "p.gz", "a"], 1),
        (&["-t", "d"], 2),
        (&["-rt", "d"], 0),
        (&["-tk", "p"], 0),
        (&["-l", "p.gz"], 0),
        (&["-l", "noext"], 0),
        (&["-ql", "p.gz", "q.tgz"], 0),
        (&["-l", "a"], 1),
        (&["-l", "nosuch"], 1),
        (&["-rl", "d/e"], 0),
        (&["--list", "p.gz"], 0),
        (&["--", "a"], 0),
        (&["-a", "a"], 0),
        (&["-aq", "a"], 0),
        (&["--ascii", "-d", "p.gz"], 0),
        (&["-m", "a"], 0),
        (&["-M", "a"], 0),
        (&["-nM", "a"], 0),
        (&["-Nm", "-c", "a"], 0),
        (&["-dM", "p.gz"], 0),
        (&["-dNm", "p.gz"], 0),
        (&["--rsyncable", "b"], 0),
        (&["--rsync", "-c", "b", "empty"], 0),
        (&["--synchronous", "a"], 0),
        (&["--synchronous", "-dk", "p.gz"], 0),
        (&["--sync", "-c", "a"], 0),
        (&["--sync", "-t", "p.gz"], 0),
        (&["-Z", "a"], 1),
        (&["--lzw", "a"], 1),
        (&["-tf", "a"], 0),
        (&["-tvf", "a", "b"], 0),
        (&["-lf", "a"], 1),
        (&["-d", "-S", ".FOO", "u.foo"], 0),
        (&["-S", "z", "-d", "p.gz"], 0),
        (&["-S", "z", "-k", "a"], 0),
        (&["-S", "gz", "-d", "p.gz"], 0),
        (&["-S", ".GZ", "-d", "p"], 0),
        (&["-S", "", "-d", "p.gz"], 1),
        (&["-Sz", "a", "empty"], 0),
        (&["--", "-a"], 1),
        (&["---presume-input-tty", "a"], 0),
    ] {
        assert_eq!(Twins::new(usual).run(args), code, "{args:?}");
    }
}

#[test]
fn texts_go_to_standard_output() {
    let box_ = Sandbox::new();
    for args in [
        &["-h"][..],
        &["-H"],
        &["--help"],
        &["-V"],
        &["--version"],
        &["-L"],
        &["--license"],
        &["-qL"],
        &["-LV"],
    ] {
        box_.run("gzip", args, b"").expect(0);
        let done = box_.pgz(args).expect(0);
        assert_eq!(done.stderr, "", "{args:?}");
        assert!(done.stdout.ends_with(b"\n"), "{args:?}");
    }
    let license = String::from_utf8(box_.pgz(&["-L"]).expect(0).stdout).unwrap();
    assert!(
        license.contains("MIT") && license.contains("Apache"),
        "{license}"
    );
}

#[test]
fn the_question_can_be_answered_without_a_terminal() {
    for (answer, args, code) in [
        (&b"y\n"[..], &["---presume-input-tty", "a"][..], 0),
        (b"n\n", &["---presume-input-tty", "a"], 2),
        (b"", &["---presume-input-tty", "a"], 2),
        (b"y\n", &["a"], 2),
        (b"y\n", &["---presume-input-tty", "-d", "-S", "", "a.gz"], 1),
        (b"x", &["---presume-input-tty", "-d"], 1),
    ] {
        let run = |program: &str| {
            let box_ = Sandbox::new();
            box_.write("a", b"new");
            box_.write("a.gz", b"old");
            // Where SIGINT is ignored, as in the background of a script, gzip does not ask.
            let args = [&["--default-signal=INT", program][..], args].concat();
            let done = box_.run("env", &args, answer).expect(code);
            (box_.names(), done.stderr.contains("(y or n)?"))
        };
        let pgz = run(env!("CARGO_BIN_EXE_pgz"));
        assert_eq!(pgz, run("gzip"), "{args:?} {answer:?}");
    }
}

/// Returns the length of the common parts of two files, from both ends, without the trailers.
fn common(a: &[u8], b: &[u8]) -> usize {
    let (a, b) = (&a[..a.len() - 8], &b[..b.len() - 8]);
    let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let pairs = a.iter().rev().zip(b.iter().rev());
    front + pairs.take_while(|(a, b)| a == b).count()
}

#[test]
fn a_change_leaves_the_rest_of_an_rsyncable_file() {
    let box_ = Sandbox::new();
    let old = text(9, 2_000_000);
    let mut new = old.clone();
    new.splice(300_000..300_000, b"some words more".iter().copied());
    let pack = |flags: &[&str], data: &[u8]| {
        let packed = box_.run("pgz", flags, data).expect(0).stdout;
        for program in ["gzip", "pgz"] {
            let back = box_.run(program, &["-d"], &packed).expect(0).stdout;
            assert!(back == data, "{flags:?} {program}");
        }
        packed
    };
    for flags in [
        &["--rsyncable"][..],
        &["--rsyncable", "-1", "-p3"],
        &["--rsyncable", "-b512"],
        &["--rsyncable", "-b32"],
    ] {
        let (a, b) = (pack(flags, &old), pack(flags, &new));
        // All except the block with the change, and the data within 32 KiB behind it.
        let same = common(&a, &b);
        assert!(same * 10 > a.len() * 6, "{flags:?}: {same} of {}", a.len());
    }
    let (a, b) = (pack(&[], &old), pack(&[], &new));
    assert!(
        common(&a, &b) * 10 < a.len() * 2,
        "blocks of one length move"
    );
    let usual = pack(&["-b128"], &old).len();
    let rsyncable = pack(&["--rsyncable", "-b128"], &old).len();
    assert!(rsyncable < usual + usual / 20, "{rsyncable} {usual}");
    let file = pack(&["--rsyncable", "-i"], &old);
    assert!(file == pack(&["--rsyncable", "-i", "-p1"], &old));
}

#[test]
fn rsyncable_files_of_all_lengths() {
    let box_ = Sandbox::new();
    for data in [
        Vec::new(),
        b"x".to_vec(),
        vec![0; 400_000],
        vec![7; 128 << 10],
        text(10, (128 << 10) - 1),
        text(10, 128 << 10),
        text(10, (128 << 10) + 1),
        text(11, 3 << 17),
    ] {
        for flags in [&["--rsyncable"][..], &["--rsyncable", "-i"]] {
            let packed = box_.run("pgz", flags, &data).expect(0).stdout;
            for program in ["gzip", "pgz"] {
                let back = box_.run(program, &["-d"], &packed).expect(0).stdout;
                assert!(back == data, "{flags:?} {program} {}", data.len());
            }
        }
    }
}

/// Before a file's removal, its replacement and the directory are on the disk.
#[test]
fn synchronous_means_synchronized() {
    let box_ = Sandbox::new();
    let trace = |args: &[&str]| {
        box_.write("a", &text(1, 5000));
        let strace = ["-f", "-o", "trace", "-e", "trace=file,fsync,fdatasync"];
        let pgz = env!("CARGO_BIN_EXE_pgz");
        let args = [&strace[..], &[pgz], args].concat();
        box_.run("strace", &args, b"").expect(0);
        String::from_utf8(box_.read("trace")).unwrap()
    };
    if std::process::Command::new("strace")
        .arg("-V")
        .output()
        .is_err()
    {
        return unmeasured("no strace on this machine");
    }
    let place = |trace: &str, what: &str| trace.find(what);
    for args in [
        &["--synchronous", "-f", "a"][..],
        &["--synchronous", "-df", "a.gz"],
    ] {
        let trace = trace(args);
        let file = place(&trace, "fsync(").expect("the file is synchronized");
        let rename = place(&trace, "rename").expect("the file gets its name");
        let directory = trace.rfind("fsync(").expect("checked above");
        let removed = trace.rfind("unlink(").expect("the input is removed");
        assert!(
            file < rename && rename < directory && directory < removed,
            "{trace}"
        );
    }
    assert!(!trace(&["-f", "a"]).contains("fsync("));
    let stdout = box_.path("out");
    for (args, input) in [
        (&["-dc", "a.gz"][..], "/dev/null"),
        (&["-d"], "a.gz"),
        (&[], "a.gz"),
    ] {
        let mut command = box_.command("strace");
        command.args(["-f", "-o", "trace", "-e", "trace=fdatasync"]);
        command.args([env!("CARGO_BIN_EXE_pgz"), "--synchronous"]);
        command
            .args(args)
            .stdin(fs::File::open(box_.path(input)).unwrap());
        command.stdout(fs::File::create(&stdout).unwrap());
        assert!(command.status().unwrap().success(), "{args:?}");
        let trace = String::from_utf8(box_.read("trace")).unwrap();
        assert!(trace.contains("fdatasync("), "{args:?}: {trace}");
    }
}

#[test]
fn several_commands_in_a_row() {
    for commands in [
        &[&["a"][..], &["-d", "a"]][..],
        &[&["-k", "a"], &["a"]],
        &[&["-k", "a"], &["-f", "a"]],
        &[&["-k", "a"], &["-d", "a"], &["-df", "a"]],
        &[&["-r", "."], &["-r", "."], &["-dr", "."], &["-drv", "."]],
        &[&["-rk", "d"], &["-rl", "d/e"], &["-rt", "d"]],
        &[
            &["-S", ".foo", "-r", "d"],
            &["-dr", "d"],
            &["-dr", "-S", ".foo", "d"],
        ],
        &[
            &["empty"],
            &["-l", "empty.gz"],
            &["-t", "empty"],
            &["-d", "empty"],
        ],
        &[
            &["-c", "a", "-k"],
            &["-9", "b"],
            &["-l", "b.gz"][..0],
            &["-d", "b"],
        ],
    ] {
        let twins = Twins::new(usual);
        for args in commands.iter().filter(|args| !args.is_empty()) {
            twins.run(args);
        }
    }
}

#[test]
fn symbolic_and_hard_links() {
    let linked = |box_: &Sandbox| {
        usual(box_);
        symlink("a", box_.path("link")).unwrap();
        symlink("d", box_.path("dlink")).unwrap();
        symlink("x", box_.path("d/inner")).unwrap();
        symlink("nowhere", box_.path("dangling")).unwrap();
        fs::hard_link(box_.path("b"), box_.path("b2")).unwrap();
        fs::hard_link(box_.path("p.gz"), box_.path("p2.gz")).unwrap();
    };
    for (args, code) in [
        (&["link"][..], 1),
        (&["-k", "link"], 1),
        (&["-f", "link"], 0),
        (&["-c", "link"], 0),
        (&["dlink"], 1),
        (&["-r", "dlink"], 1),
        (&["-r", "d"], 1),
        (&["dangling"], 1),
        (&["-f", "dangling"], 1),
        (&["b"], 2),
        (&["-q", "b"], 2),
        (&["-f", "b"], 0),
        (&["-c", "b"], 0),
        (&["-d", "p.gz"], 2),
        (&["-df", "p.gz"], 0),
    ] {
        assert_eq!(Twins::new(linked).run(args), code, "{args:?}");
    }
}

#[test]
fn usage_errors_are_errors() {
    let box_ = Sandbox::new();
    box_.write("a", b"x");
    for args in [
        &["-Z", "a"][..],
        &["--nosuch", "a"],
        &["-S", "", "a"],
        &["-S", "a/b", "a"],
        &["-p", "0", "a"],
        &["-p", "x", "a"],
        &["-p99999", "a"],
        &["-b", "16", "a"],
        &["-b", "1000M", "a"],
        &["-b", "-1", "a"],
        &["-b"],
    ] {
        let done = box_.pgz(args).expect(1);
        assert!(
            done.stderr.starts_with("pgz: "),
            "{args:?}: {}",
            done.stderr
        );
        assert_eq!(box_.names(), ["a"], "{args:?}");
    }
}

#[test]
fn block_sizes_and_workers() {
    let box_ = Sandbox::new();
    let data = text(8, 1 << 20);
    for args in [
        ["-b32", "-p1"],
        ["-b", "-p3"],
        ["-b2M", "-p2"],
        ["-b999k", "-p64"],
    ] {
        let args = if args[0] == "-b" {
            vec!["-b", "512", args[1]]
        } else {
            args.to_vec()
        };
        for extra in ["-c", "-i"] {
            let args = [&args[..], &[extra]].concat();
            let packed = box_.run("pgz", &args, &data).expect(0).stdout;
            let back = box_.run("gzip", &["-d"], &packed).expect(0).stdout;
            assert!(back == data, "{args:?}");
            let back = box_.run("pgz", &["-d", args[args.len() - 2]], &packed);
            assert!(back.expect(0).stdout == data, "{args:?}");
        }
    }
}

#[test]
fn help_version_and_counters() {
    let box_ = Sandbox::new();
    let help = String::from_utf8(box_.pgz(&["--help"]).expect(0).stdout).unwrap();
    for option in [
        "-d,", "-c,", "-k,", "-f,", "-t,", "-l,", "-r,", "-S,", "-p,", "-b,",
    ] {
        assert!(help.contains(option), "{option}: {help}");
    }
    let version = String::from_utf8(box_.pgz(&["-V"]).expect(0).stdout).unwrap();
    assert_eq!(version, format!("pgz {}\n", env!("CARGO_PKG_VERSION")));
    let data = text(5, 1 << 20);
    let done = box_.run("pgz", &["--stats", "-p2"], &data).expect(0);
    for counter in ["1 files", "1048576 bytes", "spawned", "workers"] {
        assert!(done.stderr.contains(counter), "{counter}: {}", done.stderr);
    }
}

#[test]
fn other_names_of_the_program() {
    let box_ = Sandbox::new();
    let data = text(6, 5000);
    let packed = box_.run("gzip", &["-c"], &data).expect(0).stdout;
    for name in ["unpgz", "gunzip", "pgzcat", "zcat"] {
        symlink(env!("CARGO_BIN_EXE_pgz"), box_.path(name)).unwrap();
        box_.write("a.gz", &packed);
        let program = box_.path(name).display().to_string();
        let done = box_.run(&program, &["a.gz"], b"").expect(0);
        if name.ends_with("cat") {
            assert!(done.stdout == data, "{name}");
            assert!(box_.read("a.gz") == packed, "{name}");
        } else {
            assert!(box_.read("a") == data, "{name}");
            fs::remove_file(box_.path("a")).unwrap();
        }
    }
}
