//! Commands of a connection: its protocol, its name, its end.

use super::call::{Call, Done};
use super::refused::Refused;
use crate::answers::Protocol;
use crate::integer;

/// The version of Redis with these answers.
pub(super) const VERSION: &str = "7.0.15";

pub(super) fn ping(call: &mut Call<'_, '_>) -> Done {
    match call.request.len() {
        1 => call.answers.word("PONG"),
        2 => call.answers.given(call.request.value(1)),
        _ => return Err(Refused::arguments("ping")),
    }
    Ok(())
}

pub(super) fn echo(call: &mut Call<'_, '_>) -> Done {
    call.answers.given(call.request.value(1));
    Ok(())
}

/// There is one database.
pub(super) fn select(call: &mut Call<'_, '_>) -> Done {
    match integer::parse(call.request.arg(1)) {
        Some(0) => call.answers.word("OK"),
        Some(number) if i32::try_from(number).is_ok() => return Err(Refused::INDEX),
        Some(_) => {
            return Err(Refused::new(
                "ERR value is out of range, value must between -2147483648 and 2147483647",
            ));
        }
        None => return Err(Refused::NO_INTEGER),
    }
    Ok(())
}

/// Chooses the protocol, which a client does first.
pub(super) fn hello(call: &mut Call<'_, '_>) -> Done {
    let mut protocol = call.answers.protocol();
    let mut at = 1;
    if call.request.len() > 1 {
        protocol = match integer::parse(call.request.arg(1)) {
            Some(2) => Protocol::Resp2,
            Some(3) => Protocol::Resp3,
            Some(_) => {
                return Err(Refused::new("NOPROTO unsupported protocol version"));
            }
            None => {
                return Err(Refused::new(
                    "ERR Protocol version is not an integer or out of range",
                ));
            }
        };
        at = 2;
    }
    while at < call.request.len() {
        let option = call.request.arg(at);
        let is = |name: &str| option.eq_ignore_ascii_case(name.as_bytes());
        let more = call.request.len() - at - 1;
        if is("auth") && more >= 2 {
            authenticate(call.request.arg(at + 1))?;
            at += 3;
        } else if is("setname") && more >= 1 {
            call.name(call.request.arg(at + 1))?;
            at += 2;
        } else {
            let told = super::refused::start(option, option.len());
            return Err(Refused::about(
                "ERR Syntax error in HELLO option '",
                told,
                "'",
            ));
        }
    }
    call.answers.set_protocol(protocol);
    let answers = &mut *call.answers;
    answers.map(7);
    answers.bulk(b"server");
    answers.bulk(b"redis");
    answers.bulk(b"version");
    answers.bulk(VERSION.as_bytes());
    answers.bulk(b"proto");
    answers.integer(if protocol == Protocol::Resp3 { 3 } else { 2 });
    answers.bulk(b"id");
    answers.integer(call.client.id);
    answers.bulk(b"mode");
    answers.bulk(b"standalone");
    answers.bulk(b"role");
    answers.bulk(b"master");
    answers.bulk(b"modules");
    answers.array(0);
    Ok(())
}

/// There are no passwords: the user `default` may do everything with any password.
pub(super) fn auth(call: &mut Call<'_, '_>) -> Done {
    match call.request.len() {
        2 => {
            return Err(Refused::new(
                "ERR AUTH <password> called without any password configured for the default \
                 user. Are you sure your configuration is correct?",
            ));
        }
        3 => authenticate(call.request.arg(1))?,
        _ => return Err(Refused::SYNTAX),
    }
    call.answers.word("OK");
    Ok(())
}

/// Resets the connection to its initial state.
pub(super) fn reset(call: &mut Call<'_, '_>) -> Done {
    call.client.transaction = None;
    call.client.unwatch(call.keys);
    call.client.name.clear();
    call.answers.set_protocol(Protocol::Resp2);
    call.answers.word("RESET");
    Ok(())
}

pub(super) fn id(call: &mut Call<'_, '_>) -> Done {
    call.answers.integer(call.client.id);
    Ok(())
}

pub(super) fn getname(call: &mut Call<'_, '_>) -> Done {
    match call.client.name.as_slice() {
        [] => call.answers.null(),
        name => call.answers.bulk(name),
    }
    Ok(())
}

pub(super) fn setname(call: &mut Call<'_, '_>) -> Done {
    call.name(call.request.arg(2))?;
    call.answers.word("OK");
    Ok(())
}

/// Libraries send their name and version, which are ignored.
pub(super) fn setinfo(call: &mut Call<'_, '_>) -> Done {
    let option = call.request.arg(2);
    let names = ["LIB-NAME", "LIB-VER"];
    let is_it = |name: &&str| option.eq_ignore_ascii_case(name.as_bytes());
    let Some(name) = names.into_iter().find(|name| is_it(name)) else {
        let told = super::refused::start(option, option.len());
        return Err(Refused::about("ERR Unrecognized option '", told, "'"));
    };
    if !is_plain(call.request.arg(3)) {
        let text = " cannot contain spaces, newlines or special characters.";
        return Err(Refused::about("ERR ", name.as_bytes(), text));
    }
    call.answers.word("OK");
    Ok(())
}

impl Call<'_, '_> {
    fn name(&mut self, name: &[u8]) -> Done {
        if !is_plain(name) {
            return Err(Refused::new(
                "ERR Client names cannot contain spaces, newlines or special characters.",
            ));
        }
        self.client.name = name.to_vec();
        Ok(())
    }
}

fn authenticate(user: &[u8]) -> Done {
    if user == b"default" {
        Ok(())
    } else {
        Err(Refused::new(
            "WRONGPASS invalid username-password pair or user is disabled.",
        ))
    }
}

fn is_plain(name: &[u8]) -> bool {
    name.iter().all(|byte| (b'!'..=b'~').contains(byte))
}
