//! Clients of databases.

use std::env::temp_dir;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process;
use std::thread;

use diesel::prelude::*;
use mysql::prelude::Queryable as _;

use crate::cluster::{Cluster, USER};
use crate::fixture::{
    PAUSE, REQUESTS, allow_many_files, at_once, await_port, check_each_count, free_port,
    serve,
};
use crate::peers::{Program, peer, run};

/// A MariaDB server with an empty database.
pub(crate) struct MariaDb {
    server: Option<Program>,
    directory: PathBuf,
    port: u16,
}

impl MariaDb {
    pub(crate) fn start() -> Option<MariaDb> {
        let mut install = peer("mariadb-install-db", "mariadb-server")?;
        let mut server = peer("mariadbd", "mariadb-server")?;
        let port = free_port();
        let directory = temp_dir().join(format!("pirn-mariadb-{}-{port}", process::id()));
        let data = format!("--datadir={}", directory.display());
        run(
            install
                .args([
                    "--no-defaults",
                    "--user=root",
                    "--auth-root-authentication-method=normal",
                ])
                .arg(&data),
            "",
        );
        server.args(["--no-defaults", "--user=root", "--skip-grant-tables"]);
        server.args(["--skip-networking=0", "--bind-address=127.0.0.1"]);
        server.args([&data, &format!("--port={port}"), "--max-connections=2000"]);
        server.arg(format!("--socket={}/socket", directory.display()));
        allow_many_files();
        let server = Program::start(server.stderr(process::Stdio::null()));
        await_port(port);
        Some(MariaDb {
            server: Some(server),
            directory,
            port,
        })
    }

    pub(crate) fn connect(&self) -> mysql::Conn {
        let options = mysql::OptsBuilder::new()
            .ip_or_hostname(Some("127.0.0.1"))
            .tcp_port(self.port)
            .prefer_socket(false)
            .user(Some("root"));
        mysql::Conn::new(options).unwrap()
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        drop(self.server.take());
        let _ = fs::remove_dir_all(&self.directory);
    }
}

#[test]
fn mysql_parks() {
    let Some(server) = MariaDb::start() else {
        return;
    };
    check_each_count("mysql", |number| {
        let query = format!("SELECT SLEEP(0.2), {number}");
        let row: Option<(u32, u32)> = server.connect().query_first(query).unwrap();
        assert_eq!(row, Some((0, number)));
    });
}

/// libpq, through diesel.
#[test]
fn libpq_parks() {
    let Some(cluster) = Cluster::start("libpq") else {
        return;
    };
    let directory = cluster.directory().display();
    let url = format!("host={directory} user={USER} dbname=postgres");
    at_once("diesel and libpq", REQUESTS, |number| {
        let mut connection = PgConnection::establish(&url).unwrap();
        diesel::sql_query("SELECT pg_sleep(0.2)")
            .execute(&mut connection)
            .unwrap();
        let answer = diesel::select(diesel::dsl::sql::<diesel::sql_types::Integer>(
            &number.to_string(),
        ));
        assert_eq!(answer.get_result(&mut connection), Ok(number as i32));
    })
    .check();
}

/// It polls futures of a runtime of its own, which block in `epoll_wait`.
#[test]
fn postgres_blocks_its_worker() {
    let Some(cluster) = Cluster::start("postgres-sync") else {
        return;
    };
    let query = |_| {
        let mut client = postgres::Config::new()
            .host_path(cluster.directory())
            .user(USER)
            .dbname("postgres")
            .connect(postgres::NoTls)
            .unwrap();
        client.batch_execute("SELECT pg_sleep(0.2)").unwrap();
    };
    let blocked = || pirn_hooks::stats().of("epoll_wait").unwrap().blocked;
    let before = blocked();
    at_once("postgres", 5, query).check_blocked();
    assert!(blocked() > before, "epoll_wait is counted");
    at_once("postgres in blocking", REQUESTS, |number| {
        pirn::blocking(|| query(number));
    })
    .check_time();
}

/// A server without a command that waits, behind a connection that delays its answers.
#[test]
fn memcache_parks() {
    let Some(mut server) = peer("memcached", "memcached") else {
        return;
    };
    let port = free_port();
    server.args(["-l", "127.0.0.1", "-u", "root", "-p", &port.to_string()]);
    let _server = Program::start(&mut server);
    await_port(port);
    let slow = delayed(port);
    at_once("memcache", REQUESTS, |number| {
        let client = memcache::Client::connect(format!("memcache://{slow}")).unwrap();
        let key = format!("key-{number}");
        client.set(&key, number, 0).unwrap();
        assert_eq!(client.get::<u32>(&key).unwrap(), Some(number));
    })
    .check_within(10);
}

/// Returns the address of a relay to the port, which delays what the server sends.
fn delayed(port: u16) -> SocketAddr {
    serve(move |near| {
        let far = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut from_near, mut to_far) =
            (near.try_clone().unwrap(), far.try_clone().unwrap());
        let relay = thread::spawn(move || std::io::copy(&mut from_near, &mut to_far));
        let (mut far, mut near) = (far, near);
        let mut buffer = vec![0; 1 << 16];
        while let Ok(got @ 1..) = far.read(&mut buffer) {
            thread::sleep(PAUSE);
            if near.write_all(&buffer[..got]).is_err() {
                break;
            }
        }
        drop((near, far));
        let _ = relay.join();
    })
}

/// Files block the thread, and each call is short; the results are right.
#[test]
fn sqlite_works() {
    let path = temp_dir().join(format!("pirn-sqlite-{}", process::id()));
    let _ = fs::remove_file(&path);
    let setup = rusqlite::Connection::open(&path).unwrap();
    setup
        .execute("CREATE TABLE numbers (number INTEGER)", ())
        .unwrap();
    at_once("rusqlite", REQUESTS, |number| {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection
            .execute("INSERT INTO numbers VALUES (?1)", [number])
            .unwrap();
    });
    let sum: u32 = setup
        .query_row("SELECT sum(number) FROM numbers", (), |row| row.get(0))
        .unwrap();
    assert_eq!(sum, (0..REQUESTS).sum::<u32>());
    fs::remove_file(&path).unwrap();
}
