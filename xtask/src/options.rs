//! The command line: words and `--options`.

use std::str::FromStr;

/// The arguments after the name of a command.
#[derive(Debug, Default, Clone)]
pub(crate) struct Options {
    /// Arguments that are no options, in order.
    pub(crate) words: Vec<String>,
    options: Vec<(String, Option<String>)>,
}

impl Options {
    /// Options with these flags set, for commands that call each other.
    pub(crate) fn of(flags: &[&str]) -> Options {
        let options = flags
            .iter()
            .map(|flag| ((*flag).to_owned(), None))
            .collect();
        Options {
            words: Vec::new(),
            options,
        }
    }

    /// Returns all arguments as words: for a command that passes them on.
    pub(crate) fn words(args: &[String]) -> Options {
        Options {
            words: args.to_vec(),
            options: Vec::new(),
        }
    }

    /// Reads `args`. An option in `valued` takes the next argument as its value.
    ///
    /// # Errors
    /// When a value is missing, or an option is in neither list.
    pub(crate) fn parse(
        args: &[String],
        flags: &[&str],
        valued: &[&str],
    ) -> Result<Options, String> {
        let mut read = Options::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let Some(name) = arg.strip_prefix("--") else {
                read.words.push(arg.clone());
                continue;
            };
            let value = if valued.contains(&name) {
                Some(
                    args.next()
                        .cloned()
                        .ok_or(format!("--{name} needs a value"))?,
                )
            } else if flags.contains(&name) {
                None
            } else {
                return Err(format!("no option --{name} here"));
            };
            read.options.push((name.to_owned(), value));
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
        let Some((_, value)) = self.options.iter().rfind(|(n, _)| n == name) else {
            return Ok(None);
        };
        let value = value.as_deref().unwrap_or_default();
        value
            .parse()
            .map(Some)
            .map_err(|_| format!("--{name}: cannot use `{value}`"))
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
        Options::parse(&args, &["quick"], &["repeat"])
    }

    #[test]
    fn reads_words_flags_and_values() {
        let o = parse("ring --quick --repeat 50 steal").unwrap();
        assert_eq!(o.words, ["ring", "steal"]);
        assert!(o.has("quick") && o.picks("model_ring") && !o.picks("join"));
        assert_eq!(o.value::<u32>("repeat").unwrap(), Some(50));
    }

    #[test]
    fn says_what_is_wrong() {
        assert!(parse("--repeat").is_err());
        assert!(parse("--none").is_err());
        assert!(parse("--repeat x").unwrap().value::<u32>("repeat").is_err());
    }
}
