//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, Command, value_parser};

use crate::model::{Column, Filter, Order};

/// The parsed arguments.
#[derive(Debug)]
pub(super) struct Args {
    /// Empty with `--replay`.
    pub(super) socket: PathBuf,
    pub(super) once: bool,
    /// One fiber, by its id.
    pub(super) fiber: Option<u64>,
    pub(super) most: u64,
    pub(super) interval: Duration,
    pub(super) order: Order,
    pub(super) filter: Filter,
    /// Where to serve the page.
    pub(super) web: Option<SocketAddr>,
    /// Where to record answers.
    pub(super) record: Option<PathBuf>,
    /// A recording in place of a runtime.
    pub(super) replay: Option<PathBuf>,
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
        socket: matches.remove_one("SOCKET").unwrap_or_default(),
        once: matches.get_flag("once"),
        fiber: matches.remove_one("fiber"),
        most: matches.remove_one("most").unwrap_or(10_000),
        interval: Duration::from_secs_f64(seconds),
        order,
        filter: Filter::new(&filter.unwrap_or_default()),
        web: matches.remove_one("web"),
        record: matches.remove_one("record"),
        replay: matches.remove_one("replay"),
    }
}

fn command() -> Command {
    let about = "What a running pirn program does: workers, fibers, what each waits for.";
    let after = "The program listens if it was built with Builder::inspect(SOCKET), or was \
                 started with PIRN_INSPECT=SOCKET.\n\n\
                 Exit codes: 1 if no process answers, the runtime ends while it is shown on \
                 the terminal, or a file or an address cannot be used; 2 for wrong \
                 arguments; 3 if this user may not ask. With --web the program goes on when \
                 the runtime ends; --record alone ends then, with 0.";
    Command::new("pirn-top")
        .about(about)
        .version(env!("CARGO_PKG_VERSION"))
        .after_help(after)
        .arg(
            Arg::new("SOCKET")
                .required_unless_present("replay")
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
                .help("Seconds between two snapshots [default: 1]"),
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
        .arg(
            Arg::new("web")
                .long("web")
                .value_name("ADDRESS")
                .value_parser(loopback)
                .conflicts_with_all(["once", "fiber"])
                .help(
                    "Serve a page for browsers on this loopback address, such as 127.0.0.1:8080, and print its URL; port 0 is any free one",
                ),
        )
        .arg(
            Arg::new("record")
                .long("record")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .conflicts_with_all(["once", "fiber", "sort", "reverse", "filter"])
                .help("Append a snapshot to this new file in each interval, until Ctrl-C or the end of the runtime"),
        )
        .arg(
            Arg::new("replay")
                .long("replay")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .requires("web")
                .conflicts_with_all(["SOCKET", "record"])
                .help("Serve this recording in place of a runtime; needs --web"),
        )
}

/// Other machines must not connect: the page shows what only this user may ask.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: Result<SocketAddr, _> = text.parse();
    let address = address
        .map_err(|_| "not an IP address and a port, such as 127.0.0.1:8080".to_owned())?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        let port = Some(address.port())
            .filter(|port| *port != 0)
            .unwrap_or(8080);
        Err(format!(
            "not a loopback address; listen on 127.0.0.1:{port}, and use \
             `ssh -L {port}:127.0.0.1:{port}` from another machine"
        ))
    }
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
    use super::{column, command, interval, loopback};
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
        for text in ["127.0.0.1:0", "127.3.2.1:80", "[::1]:8080"] {
            assert!(loopback(text).is_ok(), "{text}");
        }
        for text in [
            "0.0.0.0:80",
            "192.168.1.1:80",
            "[::]:80",
            "127.0.0.1",
            "localhost",
        ] {
            assert!(loopback(text).is_err(), "{text}");
        }
    }
}
