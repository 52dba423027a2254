//! Correct answers, byte by byte.

use crate::net::load::dialect::{BODY, Dialect};

#[test]
fn an_echo_in_pieces_is_as_many_answers_as_are_complete() {
    let mut echo = Dialect::echo(3, 10);
    let words = echo.say(0, 25).to_vec();
    assert_eq!(echo.hear(&words[..9]), Ok(0));
    assert_eq!(echo.hear(&words[9..10]), Ok(1));
    assert_eq!(echo.hear(&words[10..]), Ok(1));
}

#[test]
fn every_byte_of_an_echo_counts_and_is_named() {
    for at in 0..30 {
        let mut echo = Dialect::echo(0, 10);
        let mut words = echo.say(0, 30).to_vec();
        words[at] ^= 0x20;
        let said = echo.hear(&words).unwrap_err();
        let place = format!("byte {} of answer {}", at % 10, at / 10);
        assert!(said.starts_with(&place), "{said}");
    }
}

#[test]
fn streams_of_connections_differ_from_the_first_request_on() {
    let words = |connection| Dialect::echo(connection, 64).say(0, 64).to_vec();
    for connection in 1..20_000 {
        assert_ne!(words(0), words(connection), "connection {connection}");
    }
}

#[test]
fn a_stream_goes_on_past_the_end_of_its_table() {
    let mut echo = Dialect::echo(8, 64);
    let mut said = 0;
    while said < 200_000 {
        let words = echo.say(said, 1000);
        echo.hear(words).unwrap();
        said += 1000;
    }
}

#[test]
fn http_answers_in_pieces_and_in_a_row_are_counted() {
    let mut http = Dialect::http();
    let one = b"HTTP/1.1 200 OK\r\nDate: now\r\nContent-Length: 13\r\n\r\nHello, world!";
    let two = [one.as_slice(), one].concat();
    assert_eq!(http.hear(&two[..one.len() + 3]), Ok(1));
    assert_eq!(http.hear(&two[one.len() + 3..]), Ok(1));
}

#[test]
fn http_answers_that_are_not_right_are_refused() {
    let head = |status: &str, length: usize| {
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n").into_bytes()
    };
    let body = BODY.to_vec();
    let mut wrong = body.clone();
    wrong[4] ^= 1;
    for answer in [
        [head("500 No", 13), body.clone()].concat(),
        [head("200 OK", 12), body].concat(),
        [head("200 OK", 13), wrong].concat(),
    ] {
        assert!(Dialect::http().hear(&answer).is_err());
    }
}
