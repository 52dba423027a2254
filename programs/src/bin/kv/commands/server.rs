//! Settings and reports.

use std::fmt::Write as _;
use std::time::SystemTime;

use super::call::{Call, Done};
use super::client::VERSION;
use crate::glob;
use crate::input::LONGEST;

/// Settings that clients read. They are given on the command line or fixed.
pub(super) fn config_get(call: &mut Call<'_, '_>) -> Done {
    let settings = [
        ("save", String::new()),
        ("appendonly", "no".to_owned()),
        ("databases", "1".to_owned()),
        ("maxmemory", call.database.max_memory.to_string()),
        ("maxmemory-policy", "noeviction".to_owned()),
        ("proto-max-bulk-len", LONGEST.to_string()),
    ];
    let request = call.request;
    // The name of a setting in the answer: as in Redis, with the case of the request if that is no
    // pattern.
    let asked = |name: &'static str| {
        let is_it =
            |asked: &&[u8]| glob::matches(&asked.to_ascii_lowercase(), name.as_bytes());
        let asked = request.args(2).find(is_it)?;
        let is_name = asked.eq_ignore_ascii_case(name.as_bytes());
        Some(if is_name { asked } else { name.as_bytes() })
    };
    let asked = settings
        .iter()
        .filter_map(|(name, value)| Some((asked(name)?, value)));
    let asked: Vec<_> = asked.collect();
    call.answers.map(asked.len());
    for (name, value) in asked {
        call.answers.bulk(name);
        call.answers.bulk(value.as_bytes());
    }
    Ok(())
}

pub(super) fn info(call: &mut Call<'_, '_>) -> Done {
    let database = call.database;
    let mut sections = vec![
        (
            "Server",
            format!(
                "redis_version:{VERSION}\r\nredis_mode:standalone\r\nprocess_id:{}\r\n\
                 uptime_in_seconds:{}\r\n",
                std::process::id(),
                database.uptime()
            ),
        ),
        (
            "Clients",
            format!("connected_clients:{}\r\n", database.clients()),
        ),
        (
            "Memory",
            format!(
                "used_memory:{}\r\nmaxmemory:{}\r\nmaxmemory_policy:noeviction\r\n",
                database.store.used(),
                database.max_memory
            ),
        ),
    ];
    let (keys, limited) = (call.keys.len(), call.keys.limited());
    let keyspace = match keys {
        0 => String::new(),
        keys => format!("db0:keys={keys},expires={limited},avg_ttl=0\r\n"),
    };
    sections.push(("Keyspace", keyspace));
    let request = call.request;
    let is_asked = |section: &str| {
        let names = [section, "all", "everything", "default"];
        let is_one = |asked: &[u8]| {
            names
                .iter()
                .any(|name| asked.eq_ignore_ascii_case(name.as_bytes()))
        };
        request.len() == 1 || request.args(1).any(is_one)
    };
    let mut text = String::new();
    for (section, lines) in sections.iter().filter(|(section, _)| is_asked(section)) {
        let separator = if text.is_empty() { "" } else { "\r\n" };
        // Writing to memory does not fail.
        let _ = write!(text, "{separator}# {section}\r\n{lines}");
    }
    call.answers.text(&text);
    Ok(())
}

pub(super) fn time(call: &mut Call<'_, '_>) -> Done {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.unwrap_or_default();
    call.answers.array(2);
    call.answers.bulk(now.as_secs().to_string().as_bytes());
    call.answers
        .bulk(now.subsec_micros().to_string().as_bytes());
    Ok(())
}
