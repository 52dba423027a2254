//! The handling of answers: complete, damaged, of later versions, and hostile.

use std::time::Duration;

use pirn_top::model::App;
use pirn_top::tool::print;
use pirn_top::wire::{Excess, Failure, FiberState, Snapshot, read};

use crate::fixture;
use crate::pictures::picture;

fn reading(text: &str) -> Result<Snapshot, Failure> {
    read(&mut text.as_bytes())
}

#[test]
fn an_answer_is_read() {
    let snapshot = reading(&fixture::text()).expect("an answer");
    let runtime = snapshot.runtime.as_ref().expect("it says of which runtime");
    assert_eq!(
        (&*runtime.name, runtime.pid, runtime.workers),
        ("shop", 4242, 2)
    );
    assert_eq!(runtime.counters.get("spawned"), Some(&2_504));
    assert_eq!(snapshot.workers.len(), 3);
    assert_eq!(snapshot.counted(), 1_504);
    assert_eq!(snapshot.scale.len(), 3);
    assert_eq!(snapshot.fibers.len(), 5);
    let clerk = &snapshot.fibers[1];
    assert_eq!(clerk.state, FiberState::Parked);
    assert_eq!(
        clerk.name.as_deref(),
        Some(r"clerk \u{1b}[31m\u{7}\u{a}red")
    );
    assert_eq!(clerk.stack_used, Some(1_312));
}

#[test]
fn what_is_cut_off_anywhere_is_no_answer() {
    let text = fixture::text();
    for length in 0..text.len() {
        if !text.is_char_boundary(length) {
            continue;
        }
        match reading(&text[..length]) {
            Err(Failure::CutOff) => {}
            other => panic!("{length} bytes: {other:?}"),
        }
    }
}

#[test]
fn what_is_no_answer_is_refused() {
    for nonsense in [
        "HTTP/1.1 400 Bad Request\r\n",
        "\n",
        "{}\n",
        "[]\n",
        "{\"kind\":\"fiber\"}\n",
        "{\"kind\":\"tally\",\"state\":\"flying\",\"fibers\":1}\n",
        "{\"kind\":\"tally\",\"state\":\"\\u001b]0;title\\u0007\",\"fibers\":1}\n",
        "{\"kind\":\"scale\",\"reason\":1,\"times\":1}\n",
    ] {
        let refused = reading(nonsense);
        assert!(
            matches!(refused, Err(Failure::Nonsense(_))),
            "{nonsense}: {refused:?}"
        );
        let said = refused.expect_err("just seen").to_string();
        assert!(!said.contains(char::is_control), "{said:?}");
    }
    let later = fixture::text().replace("\"version\":1", "\"version\":2");
    assert!(matches!(reading(&later), Err(Failure::Version(2))));
    let no = r#"{"kind":"error","why":"refused","message":"another user's \u001b[2J"}"#;
    let failure = reading(&format!("{no}\n")).expect_err("refused");
    assert_eq!(failure.exit_code(), 3);
    assert!(
        failure.to_string().ends_with(r"another user's \u{1b}[2J"),
        "{failure}"
    );
    let no = r#"{"kind":"error","why":"fiber","message":"no fiber 1"}"#;
    assert_eq!(
        reading(&format!("{no}\n")).expect_err("none").exit_code(),
        1
    );
}

/// No untrusted text reaches the output unescaped.
// Proves: P15-screen.
#[test]
fn what_is_printed_has_no_control_characters() {
    let mut text = Vec::new();
    print(&mut text, &fixture::app()).expect("written to memory");
    let text = String::from_utf8(text).expect("text");
    assert!(text.contains(r"clerk \u{1b}[31m\u{7}\u{a}red"), "{text}");
    assert!(text.contains(r"mixed é \u{202e} evil"), "{text}");
    let bad = |c: &char| c.is_control() && *c != '\n';
    assert_eq!(text.chars().find(bad), None);
}

/// The largest numbers are shown, and so are their sums.
// Proves: P15-screen.
#[test]
fn the_largest_numbers_are_shown() {
    let most = u64::MAX;
    let stalls = format!(r#""slow_fibers":1,"stall_delays_ms":[[{most},{most}]]"#);
    let text = fixture::text()
        .replace(r#""slow_fibers":1"#, &stalls)
        .replace(
            r#""started":4"#,
            &format!(r#""started":{most},"left_out":{most}"#),
        )
        .replace(r#""started":1500"#, r#""started":1500,"left_out":1"#)
        .replace(r#""fibers":1490"#, &format!(r#""fibers":{most}"#));
    let mut app = App::new("/run/shop");
    app.take_snapshot(reading(&text));
    let mut printed = Vec::new();
    print(&mut printed, &app).expect("written to memory");
    let printed = String::from_utf8(printed).expect("text");
    let longest = "213503d23h";
    assert!(printed.contains(&format!("up to {longest}")), "{printed}");
    for name in ["started", "left_out"] {
        let line = format!("  {name:<20}{most:>12}\n");
        assert!(printed.contains(&line), "{printed}");
    }
    let drawn = picture(&app, (200, 50));
    let sum = "18,446,744,073,709,551,615";
    assert!(drawn.starts_with("pirn-top shop"), "{drawn}");
    for shown in [
        format!("{sum} fibers started"),
        format!("of up to {longest}"),
        format!("{sum} not shown"),
    ] {
        assert!(drawn.contains(&shown), "no `{shown}` in:\n{drawn}");
    }
}

/// A text of any length is printed; the column of all fibers is not as wide as the longest one.
#[test]
fn the_longest_texts_are_printed() {
    let long = "x".repeat(70_000);
    let cut = format!("  {}…  running", &long[..199]);
    // A mark has no width of its own.
    for (name, words) in [(long, &*cut), ("\u{301}".repeat(70_000), "running")] {
        let text = fixture::text().replace("acceptor", &name);
        let mut app = App::new("/run/shop");
        app.take_snapshot(reading(&text));
        let mut printed = Vec::new();
        print(&mut printed, &app).expect("written to memory");
        let printed = String::from_utf8(printed).expect("text");
        assert!(printed.contains(words), "{printed:.9999}");
        let others = printed.lines().filter(|line| !line.contains("running"));
        let longest = others.map(|line| line.chars().count()).max();
        assert!(longest < Some(1_000), "{longest:?}");
    }
}

/// A picture stays when there are no further answers, and says so; late answers are ignored.
#[test]
fn the_last_picture_stays() {
    let mut app: App = fixture::app();
    assert_eq!(app.rows().len(), 5);
    app.take_snapshot(Err(Failure::Nothing("/run/shop".into())));
    assert_eq!(app.rows().len(), 5);
    assert!(app.ended.is_some());
    app.take_fiber("4294967297", Ok(fixture::clerk()));
    assert!(app.detail.is_none(), "not asked yet");
}

/// An answer beyond a limit is not the end of the runtime: the picture stays, and the next answer
/// is shown. The message names the socket, the limit and the remedy.
// Proves: P15-screen.
#[test]
fn an_answer_beyond_a_limit_is_no_end() {
    let limits = [
        (
            Excess::Time(Duration::from_secs(12)),
            "takes more than 12 s",
        ),
        (Excess::Bytes(1 << 30), "has more than 1073741824 bytes"),
    ];
    for (excess, words) in limits {
        let failure = Failure::Excess("/run/shop".into(), excess);
        assert!(!failure.is_end());
        assert_eq!(failure.exit_code(), 1);
        let said = failure.to_string();
        for words in ["/run/shop", words, "`--most N`"] {
            assert!(said.contains(words), "{said}");
        }
        let mut app: App = fixture::app();
        app.take_snapshot(Err(failure));
        assert!(app.ended.is_none() && app.silent.is_some());
        assert_eq!(app.rows().len(), 5);
        app.take_snapshot(reading(&fixture::text()));
        assert!(app.silent.is_none());
    }
}

/// A runtime disconnects clients while it lives, too: the picture stays, and the next answer is
/// shown. A socket without a listener is the end.
#[test]
fn a_truncated_answer_is_no_end() {
    assert!(!Failure::CutOff.is_end());
    let mut app: App = fixture::app();
    app.take_snapshot(Err(Failure::CutOff));
    assert!(app.ended.is_none() && app.silent.is_some());
    assert_eq!(app.rows().len(), 5);
    app.take_snapshot(reading(&fixture::text()));
    assert!(app.silent.is_none());
    app.take_snapshot(Err(Failure::CutOff));
    app.take_snapshot(Err(Failure::Dead("/run/shop".into())));
    assert!(app.ended.is_some());
}
