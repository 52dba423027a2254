//! A load of a file into a table: exactly the file's rows, or none.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use postgres::NoTls;
use rusqlite::Connection;
use rustix::fs::{CWD, Mode, mkfifoat};

use crate::cluster::{Cluster, USER};
use crate::peers::{LIMIT, Program, directory};

const ROWS: i64 = 100_000;

/// The columns of the file that are loaded, in another order than there.
const COLUMNS: [&str; 3] = ["text:text", "id:integer", "share:real"];

/// A row of the table, in the order of [`COLUMNS`].
type Row = (Option<String>, i64, Option<f64>);

#[test]
fn rows_come_into_sqlite_as_they_are_in_the_file() {
    let directory = directory("etl-sqlite");
    let file = write_file(&directory, "rows", ROWS, "");
    let path = directory.join("it.db");
    let said = load(&file, &format!("sqlite:{}", path.display()), true);
    assert_eq!(said, format!("{ROWS} rows\n"));
    check(sqlite_rows(&path));
}

#[test]
fn rows_come_into_postgres_as_they_are_in_the_file() {
    let Some(cluster) = Cluster::start("etl") else {
        return;
    };
    let directory = directory("etl-postgres");
    let file = write_file(&directory, "rows", ROWS, "");
    let database = database(&cluster);
    assert_eq!(load(&file, &database, true), format!("{ROWS} rows\n"));
    check(postgres_rows(&database));
    // A table that refuses a row refuses all.
    let mut client = postgres::Client::connect(&database, NoTls).unwrap();
    client
        .batch_execute("alter table rows add check (id < 90000) not valid")
        .unwrap();
    let said = load(&file, &database, false);
    assert!(said.contains("into the table rows"), "{said}");
    assert!(said.contains("violates check constraint"), "{said}");
    check(postgres_rows(&database));
    // A table that ignores a row gets none; nor does one that refuses the rows when all are there.
    let schemas = [
        (
            "create function no() returns trigger as 'begin return null; end' language plpgsql; \
          create trigger no before insert on rows for each row when (new.id = 7) \
          execute function no()",
            "the table has ignored 1 rows",
        ),
        (
            "drop trigger no on rows; \
          create table others (id bigint primary key); \
          alter table rows add foreign key (id) references others \
          deferrable initially deferred",
            "the commit was refused",
        ),
    ];
    client
        .batch_execute("delete from rows; alter table rows drop constraint rows_id_check")
        .unwrap();
    for (schema, reason) in schemas {
        client.batch_execute(schema).unwrap();
        let said = load(&file, &database, false);
        assert!(said.contains(reason), "{said}");
        assert_eq!(postgres_rows(&database), []);
    }
}

/// The last line of a long file is wrong: no row of it is added, to either database.
#[test]
fn a_file_with_an_error_adds_nothing() {
    let directory = directory("etl-error");
    let path = directory.join("it.db");
    let cluster = Cluster::start("etl-error");
    let databases = [Some(format!("sqlite:{}", path.display()))];
    let databases = databases
        .into_iter()
        .chain([cluster.as_ref().map(database)]);
    let databases: Vec<_> = databases.flatten().collect();
    let good = write_file(&directory, "few", 3, "");
    for database in &databases {
        load(&good, database, true);
        let short = write_file(&directory, "short", ROWS, "1,2\n");
        let said = load(&short, database, false);
        // Each third text has two lines.
        let line = 1 + ROWS + ROWS / 3 + 2;
        assert!(said.contains(&format!("line: {line}")), "{said}");
        let wrong = write_file(&directory, "wrong", ROWS, "some,not,x1,y\n");
        let said = load(&wrong, database, false);
        let named = format!("line {line} or after, column id: \"x1\": invalid digit");
        assert!(said.contains(&named), "{said}");
    }
    assert_eq!(sqlite_rows(&path).len(), 3);
    if let Some(postgres) = databases.get(1) {
        assert_eq!(postgres_rows(postgres).len(), 3);
    }
    let said = said(&good, &databases[0], &["none:text"], false);
    assert!(said.contains("its first line has no column none"), "{said}");
    let said =
        crate::etl::said(&directory.join("no.csv"), &databases[0], &["a:text"], false);
    assert!(
        said.contains("cannot open") && said.contains("no.csv"),
        "{said}"
    );
}

/// What the parser, SQLite or a careless caller would accept.
#[test]
fn a_load_of_nothing_or_of_a_part_fails() {
    let directory = directory("etl-careless");
    let path = directory.join("it.db");
    let database = format!("sqlite:{}", path.display());
    let open = directory.join("open");
    fs::write(&open, "id,share,text\n1,2,\"x\n3,4,y\n").unwrap();
    let complaint = load(&open, &database, false);
    assert!(complaint.contains("a quote is not closed"), "{complaint}");
    let good = write_file(&directory, "good", 3, "");
    for wrong in ["sqlite:", "sqlite::memory:", "nothing", ""] {
        let ended = Program::start(&mut command(&good, wrong, &COLUMNS)).end();
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    }
    for wrong in [&["id:int"][..], &["id"], &["id:integer", "id:text"], &[]] {
        let ended = Program::start(&mut command(&good, &database, wrong)).end();
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    }
    let mut full = command(&good, &database, &COLUMNS);
    let full = full.stdout(OpenOptions::new().write(true).open("/dev/full").unwrap());
    let ended = full.stderr(Stdio::piped()).output().unwrap();
    let complaint = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{complaint}");
    assert!(complaint.contains("the rows are loaded"), "{complaint}");
    // The table has a rule that ignores rows.
    let unique =
        "create table rows (text text, id bigint unique on conflict ignore, share real)";
    let other = directory.join("other.db");
    Connection::open(&other)
        .unwrap()
        .execute_batch(unique)
        .unwrap();
    let twice = directory.join("twice");
    fs::write(&twice, "text,id,share\nx,1,2\ny,1,4\n").unwrap();
    let complaint = load(&twice, &format!("sqlite:{}", other.display()), false);
    assert!(complaint.contains("has ignored row 2"), "{complaint}");
    assert_eq!(sqlite_rows(&other).len(), 0);
}

/// A load that is killed has added nothing, and can be repeated.
#[test]
fn a_load_that_is_killed_adds_nothing() {
    let directory = directory("etl-killed");
    let path = directory.join("it.db");
    let database = format!("sqlite:{}", path.display());
    // A half of the rows comes through a pipe, and the rest does not.
    let pipe = directory.join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    let program = Program::start(&mut command(&pipe, &database, &COLUMNS));
    let mut half = OpenOptions::new().write(true).open(&pipe).unwrap();
    half.write_all(lines(ROWS / 2).as_bytes()).unwrap();
    // It is there while the transaction runs.
    let journal = PathBuf::from(format!("{}-journal", path.display()));
    let start = Instant::now();
    while !journal.exists() {
        assert!(start.elapsed() < LIMIT, "no transaction");
        thread::sleep(Duration::from_millis(1));
    }
    drop(program);
    drop(half);
    let file = write_file(&directory, "rows", ROWS, "");
    load(&file, &database, true);
    check(sqlite_rows(&path));
}

/// Writes a file with this number of rows, and `more` at its end.
fn write_file(directory: &Path, name: &str, rows: i64, more: &str) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, lines(rows) + more).unwrap();
    path
}

/// Returns the text of a file with this number of rows.
fn lines(rows: i64) -> String {
    let mut file = "other,share,id,text\n".to_owned();
    for id in 0..rows {
        let (text, id, share) = row(id);
        let text = text.unwrap_or_default().replace('"', "\"\"");
        let share = share.map_or(String::new(), |share| share.to_string());
        writeln!(file, "x,{share},{id},\"{text}\"").unwrap();
    }
    file
}

/// Returns a row. Texts contain the special characters of CSV, SQL and `copy`.
fn row(id: i64) -> Row {
    let text = match id % 7 {
        0 => None,
        1 => Some(format!("'{id}', \"quoted\"\\N")),
        2 => Some(format!("tab\t{id}\r; drop table rows")),
        3 => Some("\\".repeat(1 + id as usize % 3)),
        4 => Some("\\N".to_owned()),
        5 => Some("\\.".to_owned()),
        _ => Some(format!("größer {id}")),
    };
    let text = match (text, id % 3) {
        (text, 0) => Some(format!("{}\nsecond line", text.unwrap_or_default())),
        (text, _) => text,
    };
    let share = (id % 7 != 0).then_some(id as f64 / 7.0);
    (text, id, share)
}

#[track_caller]
fn check(rows: Vec<Row>) {
    assert_eq!(rows.len(), ROWS as usize);
    for (found, id) in rows.into_iter().zip(0..) {
        assert_eq!(found, row(id));
    }
}

fn sqlite_rows(path: &Path) -> Vec<Row> {
    let database = Connection::open(path).unwrap();
    let mut query = database
        .prepare("select text, id, share from rows order by id")
        .unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

fn postgres_rows(database: &str) -> Vec<Row> {
    let mut client = postgres::Client::connect(database, NoTls).unwrap();
    let rows = client
        .query("select text, id, share from rows order by id", &[])
        .unwrap();
    rows.iter()
        .map(|row| (row.get(0), row.get(1), row.get(2)))
        .collect()
}

fn database(cluster: &Cluster) -> String {
    let directory = cluster.directory().display();
    format!("host={directory} user={USER} dbname=postgres")
}

/// Loads [`COLUMNS`]; returns what the program said.
#[track_caller]
fn load(file: &Path, database: &str, succeeds: bool) -> String {
    said(file, database, &COLUMNS, succeeds)
}

#[track_caller]
fn said(file: &Path, database: &str, columns: &[&str], succeeds: bool) -> String {
    let ended = Program::start(&mut command(file, database, columns)).end();
    assert_eq!(ended.status.code(), Some(i32::from(!succeeds)), "{ended:?}");
    ended.output + &ended.errors
}

fn command(file: &Path, database: &str, columns: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_etl"));
    command.arg(file).args(["rows", database]).args(columns);
    command.stderr(Stdio::piped());
    command
}
