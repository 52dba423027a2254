//! Trace events in JSON, one in a line.

use std::fmt::Write as _;

use super::drawing::Diagram;

impl Diagram {
    /// Returns trace events in JSON: a thread for each fiber, a microsecond for each turn.
    pub(crate) fn perfetto(&self, title: &str) -> String {
        let mut events = Vec::new();
        let name = json(title);
        events.push(format!(
            "{{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{{\"name\":{name}}}}}"
        ));
        for lane in &self.lanes {
            let name = json(&format!("fiber {} ({})", lane.fiber, lane.spawned));
            events.push(format!(
                "{{\"ph\":\"M\",\"pid\":1,\"tid\":{},\"name\":\"thread_name\",\
                 \"args\":{{\"name\":{name}}}}}",
                lane.fiber
            ));
        }
        let mut flow = 0;
        for (index, row) in self.rows.iter().enumerate() {
            let at = self.cut + index;
            let fiber = self.lanes[row.lane].fiber;
            let (text, place) = (json(&row.text), json(&row.place));
            let common = format!("\"pid\":1,\"tid\":{fiber},\"ts\":{at}");
            events.push(format!(
                "{{\"ph\":\"X\",{common},\"dur\":1,\"name\":{text},\"args\":{{\"place\":{place}}}}}"
            ));
            if let Some(usual) = row.instead_of {
                let name = json(&format!("instead of fiber {usual}"));
                events.push(format!(
                    "{{\"ph\":\"i\",\"s\":\"t\",{common},\"name\":{name}}}"
                ));
            }
            if let Some(failure) = &row.failure {
                let name = json(failure);
                events.push(format!(
                    "{{\"ph\":\"i\",\"s\":\"g\",{common},\"name\":{name}}}"
                ));
            }
            let arrows = row.woken.iter().map(|to| ("wake", *to));
            for (name, to) in arrows.chain(row.spawned.iter().map(|to| ("spawn", *to))) {
                let later = self.rows.iter().enumerate().skip(index + 1);
                let next = later
                    .filter(|(_, row)| row.lane == to)
                    .map(|it| it.0)
                    .next();
                let Some(next) = next else {
                    continue;
                };
                flow += 1;
                let (to, then) = (self.lanes[to].fiber, self.cut + next);
                let about =
                    format!("\"name\":\"{name}\",\"cat\":\"{name}\",\"id\":{flow}");
                events.push(format!("{{\"ph\":\"s\",{common},{about}}}"));
                events.push(format!(
                    "{{\"ph\":\"f\",\"bp\":\"e\",\"pid\":1,\"tid\":{to},\"ts\":{then},{about}}}"
                ));
            }
        }
        for lane in self.lanes.iter().filter(|lane| lane.is_stuck) {
            events.push(format!(
                "{{\"ph\":\"i\",\"s\":\"t\",\"pid\":1,\"tid\":{},\"ts\":{},\
                 \"name\":\"waits indefinitely\"}}",
                lane.fiber,
                self.cut + self.rows.len()
            ));
        }
        let (cut, events) = (self.cut, events.join(",\n"));
        format!(
            "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"steps_not_shown\":{cut}}},\
             \"traceEvents\":[\n{events}\n]}}\n"
        )
    }
}

/// Returns a string of JSON.
fn json(text: &str) -> String {
    let mut string = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => string.push_str("\\\""),
            '\\' => string.push_str("\\\\"),
            control if control.is_control() => {
                let _ = write!(string, "\\u{:04x}", u32::from(control));
            }
            other => string.push(other),
        }
    }
    string.push('"');
    string
}

#[cfg(test)]
mod tests {
    use super::json;

    #[test]
    fn strings_are_escaped() {
        assert_eq!(json("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
    }
}
