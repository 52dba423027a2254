//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, Command, value_parser};

use crate::model::{Column, Filter, Order};

/// The parsed arguments.
#[derive(Debug)]
pub(super) struct Args {
    pub(super) socket: PathBuf,
    pub(super) once: bool,
    /// One fiber, by its id.
    pub(super) fiber: Option<u64>,
    pub(super) most: u64,
    pub(super) interval: Duration,
    pub(super) order: Order,
    pub(super) filter: Filter,
}

/// Parses the arguments. Ends the program with code 2 if they are invalid, and with 0 after
/// `--help` and `--version`.
pub(super) fn read() -> Args {
    let mut matches = command().get_matches();
    let column: Option<Column> = matches.remove_one("sort");
    let mut order = Order::by(column.unwrap_or(Column::Age));
    order.descending ^= matches.get_flag("reverse");
    let filter: Option<String> = matches.remove_one("filter");
    let seconds: f64 = matches.remove_one("interval").unwrap_or(1.0);
    Args {
        socket: matches.remove_one("SOCKET").expect("clap insists on it"),
        once: matches.get_flag("once"),
        fiber: matches.remove_one("fiber"),
        most: matches.remove_one("most").unwrap_or(10_000),
        interval: Duration::from_secs_f64(seconds),
        order,
        filter: Filter::new(&filter.unwrap_or_default()),
    }
}

fn command() -> Command {
    let about = "What a running pirn program does: workers, fibers, what each waits for.";
    let after = "The program listens if it was built with Builder::inspect(SOCKET), or was \
                 started with PIRN_INSPECT=SOCKET.\n\n\
                 Exit codes: 1 if no process answers, or the runtime ends; 2 for wrong \
                 arguments; 3 if this user may not ask.";
    Command::new("pirn-top")
        .about(about)
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(after)
        .arg(
            Arg::new("SOCKET")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Where the program listens"),
        )
        .arg(
            Arg::new("once")
                .long("once")
                .action(ArgAction::SetTrue)
                .help("Print what there is, and end"),
        )
        .arg(
            Arg::new("fiber")
                .long("fiber")
                .value_name("ID")
                .value_parser(value_parser!(u64))
                .help("Print one fiber with its frames, and end"),
        )
        .arg(
            Arg::new("most")
                .long("most")
                .value_name("N")
                .value_parser(value_parser!(u64))
                .help("Fibers to list for each worker [default: 10000]"),
        )
        .arg(
            Arg::new("interval")
                .long("interval")
                .value_name("SECONDS")
                .value_parser(interval)
                .help("Time between two questions [default: 1]"),
        )
        .arg(
            Arg::new("sort")
                .long("sort")
                .value_name("COLUMN")
                .value_parser(column)
                .help("Order fibers by this column, by the beginning of its head"),
        )
        .arg(
            Arg::new("reverse")
                .long("reverse")
                .action(ArgAction::SetTrue)
                .help("The other way round"),
        )
        .arg(
            Arg::new("filter")
                .long("filter")
                .value_name("WORDS")
                .help("Only fibers that these words fit, as after `/`"),
        )
}

fn interval(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match seconds {
        0.05..=3_600.0 => Ok(seconds),
        _ => Err("it must be from 0.05 to 3600".to_owned()),
    }
}

fn column(text: &str) -> Result<Column, String> {
    Column::named(text).ok_or_else(|| {
        let titles = Column::ALL.map(|column| column.title().replace(' ', "-"));
        format!("the columns are: {}", titles.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::{column, command, interval};
    use crate::model::Column;

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn values_are_checked() {
        assert_eq!(column("age"), Ok(Column::Age));
        assert_eq!(column("waits-f"), Ok(Column::Object));
        assert_eq!(column("st"), column("no such"));
        assert!(column("waits").is_err());
        assert_eq!(interval("0.5"), Ok(0.5));
        for text in ["0", "-1", "NaN", "1e9", "soon"] {
            assert!(interval(text).is_err(), "{text}");
        }
    }
}
