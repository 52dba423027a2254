//! Pools of connections, with requests that are interrupted.

use std::time::Duration;

use pirn_hooks::within;
use r2d2::ManageConnection;
use redis::Commands as _;

use crate::databases::MariaDb;
use crate::fixture::{await_port, free_port, one_worker};
use crate::peers::{Program, peer};

const REQUESTS: u32 = 1_000;
const CONNECTIONS: u32 = 10;

/// How long an interrupted request may wait.
const SHORT: Duration = Duration::from_millis(2);

/// A connection, and whether a reply on it is still to come.
#[derive(Debug)]
struct Marked<C> {
    connection: C,
    is_broken: bool,
}

/// Makes connections by a function; the pool drops those that are marked.
struct Manager<F>(F);

impl<C: Send + 'static, F: Fn() -> C + Send + Sync + 'static> ManageConnection
    for Manager<F>
{
    type Connection = Marked<C>;
    type Error = std::io::Error;

    fn connect(&self) -> Result<Marked<C>, std::io::Error> {
        Ok(Marked {
            connection: (self.0)(),
            is_broken: false,
        })
    }

    fn is_valid(&self, _: &mut Marked<C>) -> Result<(), std::io::Error> {
        Ok(())
    }

    fn has_broken(&self, marked: &mut Marked<C>) -> bool {
        marked.is_broken
    }
}

/// Makes the requests on fibers of one worker, with connections of a pool. A tenth of them is
/// interrupted.
fn requests<C: Send + 'static>(
    connect: impl Fn() -> C + Send + Sync + 'static,
    echo: impl Fn(&mut C, u32) -> u32 + Sync,
    wait_long: impl Fn(&mut C) -> bool + Sync,
) {
    let builder = r2d2::Pool::builder().max_size(CONNECTIONS);
    let builder = builder.test_on_check_out(false);
    let pool = &builder.build(Manager(connect)).unwrap();
    let (echo, wait_long) = (&echo, &wait_long);
    one_worker().run(|| {
        pirn::scope(|s| {
            for number in 0..REQUESTS {
                s.spawn(move || {
                    // It waits with a lock, which would block the worker.
                    let mut marked = pirn::blocking(|| pool.get()).unwrap();
                    within(|| {
                        if !number.is_multiple_of(10) {
                            let got = echo(&mut marked.connection, number);
                            assert_eq!(got, number, "the answer of another request");
                            return;
                        }
                        marked.is_broken = true;
                        let ended =
                            pirn::timeout(SHORT, || wait_long(&mut marked.connection));
                        assert_ne!(ended, Ok(true), "a long wait ended early");
                    });
                    // Its last act may be to close the connection.
                    within(|| drop(marked));
                });
            }
        });
    });
}

#[test]
fn r2d2_with_redis_gives_each_request_its_answer() {
    let Some((_server, client)) = redis_server() else {
        return;
    };
    requests(
        move || client.get_connection().unwrap(),
        |connection, number| redis::cmd("ECHO").arg(number).query(connection).unwrap(),
        |connection| {
            connection
                .blpop::<_, Option<(String, u32)>>("none", 60.0)
                .is_ok()
        },
    );
}

#[test]
fn r2d2_with_mysql_gives_each_request_its_answer() {
    use mysql::prelude::Queryable as _;

    let Some(server) = MariaDb::start() else {
        return;
    };
    let server = std::sync::Arc::new(server);
    let theirs = std::sync::Arc::clone(&server);
    requests(
        move || theirs.connect(),
        |connection, number| {
            let row = connection.query_first(format!("SELECT {number}"));
            row.unwrap().unwrap()
        },
        |connection| connection.query_drop("SELECT SLEEP(60)").is_ok(),
    );
}

/// Starts a redis-server; returns it with a client.
pub(crate) fn redis_server() -> Option<(Program, redis::Client)> {
    let mut server = peer("redis-server", "redis-server")?;
    let port = free_port();
    server.args(["--save", "", "--appendonly", "no", "--bind", "127.0.0.1"]);
    server.args(["--port", &port.to_string()]);
    let program = Program::start(&mut server);
    await_port(port);
    Some((program, redis::Client::open(("127.0.0.1", port)).unwrap()))
}
