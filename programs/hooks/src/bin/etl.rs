//! Loads a file of comma-separated values into a table of SQLite or PostgreSQL: all rows or none.
//!
//! `etl FILE TABLE DATABASE COLUMN:TYPE…` converts the named columns of the file. The first line of
//! the file has the names. A TYPE is `integer`, `real` or `text`; an empty field is NULL, and an
//! empty line is skipped. A field with a quote in it is quoted: the number of quotes in a file is even. DATABASE is `sqlite:PATH` or `postgres://…`. The table is created unless
//! it exists.
//!
//! The three stages run at once, with bounded queues between them:
//!
//! 1. A fiber reads the file, and starts a fiber for each [`CHUNK`] of records.
//! 2. Those fibers convert their records, on all workers. An `ordered` channel passes their results
//!    on in the order of the file.
//! 3. The clients of the databases block their thread. So one thread of `blocking` writes the rows,
//!    in one transaction.
//!
//! After an error (a field that is no number, a record with too few fields, a value that the table
//! refuses) nothing has been added to the table, and the exit code is 1. If the connection is lost
//! during the commit, the outcome is unknown, and the message says that.

use std::collections::HashSet;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser};
use csv::{Reader, ReaderBuilder, StringRecord};
use pirn::channel::{OrderedSender, Receiver, bounded, ordered};
use pirn::fs::File;
use pirn::spawn::JoinError;
use pirn_programs::exit;
use postgres::NoTls;
use rusqlite::types::{Null, ToSqlOutput};
use rusqlite::{Connection, OpenFlags, ToSql, TransactionBehavior, params_from_iter};

/// How many records are converted together. Arbitrary.
const CHUNK: usize = 1_000;

/// How many chunks are in progress at once. Arbitrary.
const CHUNKS: usize = 16;

/// How many bytes of the file are read at once. Arbitrary.
const READ: usize = 256 << 10;

/// How many characters of a wrong field are shown. Arbitrary.
const SHOWN: usize = 60;

/// Loads a file of comma-separated values into a table of SQLite or PostgreSQL: all rows or none.
#[derive(Parser)]
#[command(name = "etl")]
struct Load {
    /// The file, with the names of its columns in the first line
    file: PathBuf,
    /// The name of the table, without a schema; it is created unless it exists
    table: String,
    /// sqlite:PATH, postgres://… or host=…
    #[arg(value_parser = Database::parse)]
    database: Database,
    /// What to load; a TYPE is integer, real or text
    #[arg(required = true, value_name = "COLUMN:TYPE", value_parser = Column::parse)]
    columns: Vec<Column>,
}

#[derive(Clone)]
enum Database {
    Sqlite(PathBuf),
    Postgres(Box<postgres::Config>),
}

/// A column of the table.
#[derive(Debug, Clone)]
struct Column {
    name: String,
    kind: Kind,
    /// The position of its field in a record.
    place: usize,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Integer,
    Real,
    Text,
}

#[derive(Debug, PartialEq)]
enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

/// The values of one record.
type Row = Vec<Value>;

/// The rows of the file, in chunks; the last one is empty. An error ends them.
type Chunks = Receiver<Result<anyhow::Result<Vec<Row>>, JoinError>>;

/// The database and its open transaction are ready for rows.
type Ready<'a> = &'a mut dyn FnMut();

fn main() -> ExitCode {
    let load = Load::parse();
    let names: HashSet<_> = load.columns.iter().map(|column| &column.name).collect();
    if names.len() < load.columns.len() {
        let error = Load::command()
            .error(ErrorKind::ValueValidation, "a COLUMN stands there twice");
        error.exit();
    }
    let ended = pirn::run(|| load.run()).and_then(|rows| {
        writeln!(io::stdout(), "{rows} rows")
            .context("the rows are loaded, but standard output cannot be written")
    });
    exit("etl", ended)
}

impl Database {
    fn parse(database: &str) -> anyhow::Result<Database> {
        match database.strip_prefix("sqlite:") {
            Some("" | ":memory:") => bail!("no PATH of a database of SQLite"),
            Some(path) => Ok(Database::Sqlite(path.into())),
            None => {
                let config: Option<postgres::Config> = database.parse().ok();
                let config = config.filter(|config| !config.get_hosts().is_empty());
                let config =
                    config.context("neither sqlite:PATH nor postgres://… nor host=…")?;
                Ok(Database::Postgres(Box::new(config)))
            }
        }
    }
}

impl Load {
    /// Loads the file; returns the number of rows.
    fn run(mut self) -> anyhow::Result<u64> {
        let file = self.file.display().to_string();
        let opened =
            File::open(&self.file).with_context(|| format!("cannot open {file}"))?;
        let mut records = ReaderBuilder::new()
            .buffer_capacity(READ)
            .from_reader(Quotes::new(opened));
        let names = records
            .headers()
            .with_context(|| format!("cannot read {file}"))?;
        for column in &mut self.columns {
            column
                .find(names)
                .with_context(|| format!("cannot load {file}"))?;
        }
        let columns: Arc<[Column]> = self.columns.into();
        let (sender, chunks) = ordered(CHUNKS);
        let (ready, begin) = bounded(1);
        let (table, database) = (&self.table, self.database);
        pirn::scope(|s| {
            let shared = Arc::clone(&columns);
            s.spawn(move || {
                // Nothing is read if the database is not there.
                if begin.recv().is_ok() {
                    read(records, &shared, &sender);
                }
            });
            // The fiber that reads stops when the receiver of the results is dropped.
            pirn::blocking(move || {
                let ready = &mut || _ = ready.try_send(());
                match database {
                    Database::Sqlite(path) => {
                        to_sqlite(&path, table, &columns, chunks, ready)
                    }
                    Database::Postgres(config) => {
                        to_postgres(&config, table, &columns, chunks, ready)
                    }
                }
            })
        })
        .with_context(|| format!("cannot load {file} into the table {table}"))
    }
}

/// A file of which the quotes are counted: the parser takes a quote that is not closed for one that
/// is closed at the end.
struct Quotes {
    file: File,
    count: u64,
}

impl Quotes {
    fn new(file: File) -> Quotes {
        Quotes { file, count: 0 }
    }
}

impl Read for Quotes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        let quotes = buffer[..read].iter().filter(|byte| **byte == b'"');
        self.count += quotes.count() as u64;
        Ok(read)
    }
}

/// Reads the file, and starts the conversion of its records.
fn read(
    mut records: Reader<Quotes>,
    columns: &Arc<[Column]>,
    converted: &OrderedSender<anyhow::Result<Vec<Row>>>,
) {
    let mut records = records.records();
    loop {
        let chunk: Result<Vec<_>, _> = records.by_ref().take(CHUNK).collect();
        let columns = Arc::clone(columns);
        let is_last = chunk.as_ref().map_or(true, Vec::is_empty);
        let is_open = is_last && !records.reader().get_ref().count.is_multiple_of(2);
        let started = converted.spawn(move || {
            let chunk = chunk?;
            ensure!(!is_open, "a quote is not closed, or a field with one is not quoted: their number is odd");
            chunk
                .iter()
                .map(|record| convert(record, &columns))
                .collect()
        });
        // The writer has ended, and reports why.
        if is_last || started.is_err() {
            return;
        }
    }
}

/// Returns the values of a record.
fn convert(record: &StringRecord, columns: &[Column]) -> anyhow::Result<Row> {
    let values = columns.iter().map(|column| {
        let field = record.get(column.place).unwrap_or_default();
        column.kind.convert(field).with_context(|| {
            // Before it there may be empty lines.
            let line = record.position().map_or(0, csv::Position::line);
            let field: String = field.chars().take(SHOWN).collect();
            format!("line {line} or after, column {}: {field:?}", column.name)
        })
    });
    values.collect()
}

impl Column {
    /// Reads a column, of the form COLUMN:TYPE.
    fn parse(column: &str) -> anyhow::Result<Column> {
        let (name, kind) = column
            .rsplit_once(':')
            .with_context(|| format!("'{column}' is not of the form COLUMN:TYPE"))?;
        let kind = match kind {
            "integer" => Kind::Integer,
            "real" => Kind::Real,
            "text" => Kind::Text,
            _ => bail!("'{kind}' is no TYPE, for column {name}"),
        };
        Ok(Column {
            name: name.to_owned(),
            kind,
            place: 0,
        })
    }

    /// Finds the column among the names in the first line of the file.
    fn find(&mut self, names: &StringRecord) -> anyhow::Result<()> {
        let name = &self.name;
        let mut places = names.iter().zip(0..).filter(|(named, _)| named == name);
        self.place = match (places.next(), places.next()) {
            (Some((_, place)), None) => place,
            (Some(_), Some(_)) => bail!("its first line has the column {name} twice"),
            (None, _) => bail!("its first line has no column {name}"),
        };
        Ok(())
    }
}

impl Kind {
    fn convert(self, field: &str) -> anyhow::Result<Value> {
        if field.is_empty() {
            return Ok(Value::Null);
        }
        Ok(match self {
            Kind::Integer => Value::Integer(field.trim().parse()?),
            Kind::Real => {
                let value: f64 = field.trim().parse()?;
                ensure!(value.is_finite(), "not a finite number");
                Value::Real(value)
            }
            Kind::Text => Value::Text(field.to_owned()),
        })
    }

    /// Returns its name in SQL, which both databases know.
    fn in_sql(self) -> &'static str {
        match self {
            Kind::Integer => "bigint",
            Kind::Real => "double precision",
            Kind::Text => "text",
        }
    }
}

/// Adds the rows to a table of SQLite.
fn to_sqlite(
    path: &Path,
    table: &str,
    columns: &[Column],
    chunks: Chunks,
    ready: Ready<'_>,
) -> anyhow::Result<u64> {
    // Without URIs: the path is the name of a file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let name = path.display();
    let mut database = Connection::open_with_flags(path, flags)
        .with_context(|| format!("cannot open {name}"))?;
    // Another writer is waited for here, and not in the middle.
    let transaction = database
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .with_context(|| format!("cannot write to {name}"))?;
    transaction.execute_batch(&create(table, columns))?;
    let places = vec!["?"; columns.len()].join(", ");
    let insert = format!("insert into {} values ({places})", target(table, columns));
    let mut insert = transaction.prepare(&insert)?;
    let mut rows = 0;
    ready();
    each(chunks, |chunk| {
        for row in chunk {
            let added = insert.execute(params_from_iter(row));
            let added = added.with_context(|| format!("row {}", rows + 1))?;
            ensure!(added == 1, "the table has ignored row {}", rows + 1);
            rows += 1;
        }
        Ok(())
    })?;
    drop(insert);
    transaction.commit()?;
    Ok(rows)
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Value::Null => Null.to_sql(),
            Value::Integer(value) => value.to_sql(),
            Value::Real(value) => value.to_sql(),
            Value::Text(value) => value.to_sql(),
        }
    }
}

/// Adds the rows to a table of PostgreSQL, in its text format.
fn to_postgres(
    config: &postgres::Config,
    table: &str,
    columns: &[Column],
    chunks: Chunks,
    ready: Ready<'_>,
) -> anyhow::Result<u64> {
    let mut database = config
        .connect(NoTls)
        .context("cannot connect to the database")?;
    let mut transaction = database.transaction()?;
    transaction.batch_execute(&create(table, columns))?;
    let copy = format!("copy {} from stdin", target(table, columns));
    let mut copy = transaction.copy_in(&copy)?;
    let mut text = Vec::new();
    let mut sent = 0;
    ready();
    each(chunks, |chunk| {
        text.clear();
        for row in &chunk {
            write_row(row, &mut text)?;
        }
        sent += chunk.len() as u64;
        Ok(copy.write_all(&text)?)
    })?;
    let rows = copy.finish()?;
    ensure!(rows == sent, "the table has ignored {} rows", sent - rows);
    transaction.commit().map_err(|error| {
        let outcome = match error.as_db_error() {
            Some(_) => "the commit was refused",
            None => "the outcome is unknown: the commit was not answered",
        };
        anyhow::Error::new(error).context(outcome)
    })?;
    Ok(rows)
}

/// Calls `write` for each chunk, to the end of the file.
fn each(
    chunks: Chunks,
    mut write: impl FnMut(Vec<Row>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for chunk in chunks {
        match chunk?? {
            chunk if chunk.is_empty() => return Ok(()),
            chunk => write(chunk)?,
        }
    }
    bail!("the file was not read to its end")
}

/// Appends a line for `copy`: fields between tabs, `\N` for NULL, special bytes behind a backslash.
fn write_row(row: &[Value], text: &mut Vec<u8>) -> anyhow::Result<()> {
    for (value, place) in row.iter().zip(0..) {
        if place > 0 {
            text.push(b'\t');
        }
        match value {
            Value::Null => text.extend(b"\\N"),
            Value::Integer(value) => write!(text, "{value}")?,
            Value::Real(value) => write!(text, "{value}")?,
            Value::Text(value) => {
                for byte in value.bytes() {
                    match byte {
                        b'\\' => text.extend(b"\\\\"),
                        b'\t' => text.extend(b"\\t"),
                        b'\n' => text.extend(b"\\n"),
                        b'\r' => text.extend(b"\\r"),
                        byte => text.push(byte),
                    }
                }
            }
        }
    }
    text.push(b'\n');
    Ok(())
}

fn create(table: &str, columns: &[Column]) -> String {
    let columns: Vec<_> = columns
        .iter()
        .map(|column| format!("{} {}", quoted(&column.name), column.kind.in_sql()))
        .collect();
    let table = quoted(table);
    format!(
        "create table if not exists {table} ({})",
        columns.join(", ")
    )
}

/// Returns the table with its columns, as SQL.
fn target(table: &str, columns: &[Column]) -> String {
    let columns: Vec<_> = columns.iter().map(|column| quoted(&column.name)).collect();
    format!("{} ({})", quoted(table), columns.join(", "))
}

/// Returns a name as SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
