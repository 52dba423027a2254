//! The command line: words and `--options`.
//!
//! A usage text decides which options a command has: `[--flag]`, or `[--name VALUE]` for one with a
//! value; and whether it has words: `[name…]`. With `[ARG…]` it passes all arguments on.

use std::str::FromStr;

/// The arguments after the name of a command.
#[derive(Debug, Default, Clone)]
pub(crate) struct Options {
    /// Arguments that are no options, in order.
    pub(crate) words: Vec<String>,
    /// Names and values; the value of a flag is empty.
    options: Vec<(String, String)>,
}

impl Options {
    /// Options with this flag set, for commands that call each other.
    pub(crate) fn flag(name: &str) -> Options {
        Options {
            options: vec![(name.to_owned(), String::new())],
            ..Options::default()
        }
    }

    /// Reads `args` by the usage of their command.
    ///
    /// # Errors
    /// When a value is missing, or the usage lacks an option, or words.
    pub(crate) fn parse(args: &[String], usage: &str) -> Result<Options, String> {
        let mut read = Options::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let Some(name) = arg.strip_prefix("--").filter(|_| !usage.contains("[ARG…]"))
            else {
                if !usage.contains('…') {
                    return Err(format!("no word `{arg}` here"));
                }
                read.words.push(arg.clone());
                continue;
            };
            let mut options =
                usage.split(['[', ']']).filter_map(|o| o.strip_prefix("--"));
            let Some(option) =
                options.find(|option| option.split(' ').next() == Some(name))
            else {
                return Err(format!("no option --{name} here"));
            };
            let value = if option.contains(' ') {
                args.next().ok_or(format!("--{name} needs a value"))?
            } else {
                ""
            };
            read.options.push((name.to_owned(), value.to_owned()));
        }
        Ok(read)
    }

    /// Returns true when the option was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(n, _)| n == name)
    }

    /// Returns the option's value, if it was given.
    ///
    /// # Errors
    /// When the value cannot be parsed as a `T`.
    pub(crate) fn value<T: FromStr>(&self, name: &str) -> Result<Option<T>, String> {
        let given = self.options.iter().rfind(|(n, _)| n == name);
        let parse = |(_, value): &(String, String)| {
            let parsed = value.parse::<T>();
            parsed.map_err(|_| format!("--{name}: cannot use `{value}`"))
        };
        given.map(parse).transpose()
    }

    /// Returns true when no words were given, or one of them is in `text`.
    pub(crate) fn picks(&self, text: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| text.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        let args: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&args, "test [name…] [--quick] [--repeat N]")
    }

    #[test]
    fn reads_words_flags_and_values() {
        let o = parse("ring --quick --repeat 50 steal").unwrap();
        assert_eq!(o.words, ["ring", "steal"]);
        assert!(o.has("quick") && o.picks("model_ring") && !o.picks("join"));
        assert_eq!(o.value::<u32>("repeat").unwrap(), Some(50));
        let passed_on = Options::parse(&["--list".to_owned()], "bench [ARG…]").unwrap();
        assert_eq!(passed_on.words, ["--list"]);
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(parse("--repeat").is_err());
        assert!(parse("--none").is_err() && parse("--rep").is_err());
        assert!(parse("--repeat x").unwrap().value::<u32>("repeat").is_err());
        let word = Options::parse(&["x".to_owned()], "tidy [--save] [--report]");
        assert_eq!(word.unwrap_err(), "no word `x` here");
    }
}
