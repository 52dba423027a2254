//! The commands of the client.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::task::{Context as Poller, Poll};
use std::time::Duration;

use anyhow::Context as _;
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::{Request, Response, Uri};
use pirn::channel::{Sender, bounded};
use pirn::future::hyper::{Executor, Timer};
use pirn::future::wait;
use pirn::net::TcpStream;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::BoxFuture;
use tower_service::Service;

use crate::proto::numbers_client::NumbersClient;
use crate::proto::{FactorRequest, Number, PrimesRequest};

/// How long a server may take to accept the connection, and to answer a ping of HTTP/2; also the
/// interval between pings. Arbitrary.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many numbers of standard input wait to be sent. Arbitrary.
const AHEAD: usize = 16;

/// A connection to a server. Clones share it, and so do all calls.
#[derive(Debug, Clone)]
struct Connection(SendRequest<Body>);

impl Service<Request<Body>> for Connection {
    type Response = Response<Incoming>;
    type Error = hyper::Error;
    type Future = BoxFuture<Response<Incoming>, hyper::Error>;

    fn poll_ready(&mut self, poller: &mut Poller<'_>) -> Poll<hyper::Result<()>> {
        self.0.poll_ready(poller)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.0.send_request(request))
    }
}

/// Prints the factors of the numbers. All calls run at once.
pub(crate) fn factor(server: SocketAddr, numbers: &[u64]) -> anyhow::Result<()> {
    let client = connect(server)?;
    let factored = pirn::scope(|s| {
        let calls: Vec<_> = numbers
            .iter()
            .map(|&number| {
                let mut client = client.clone();
                s.spawn(move || wait(client.factor(FactorRequest { number })))
            })
            .collect();
        calls
            .into_iter()
            .map(|call| call.join())
            .collect::<Result<Vec<_>, _>>()
    })?;
    for (number, reply) in numbers.iter().zip(factored) {
        let reply = reply?.map_err(|status| failed(server, &status))?;
        let factors = reply.into_inner().factors;
        let factors: Vec<_> = factors.iter().map(u64::to_string).collect();
        print(format_args!("{number}: {}", factors.join(" ")))?;
    }
    Ok(())
}

/// Prints the primes from `from` to before `to`, as they come.
pub(crate) fn primes(server: SocketAddr, from: u64, to: u64) -> anyhow::Result<()> {
    let mut client = connect(server)?;
    let call = wait(client.primes(PrimesRequest { from, to }))?;
    let mut primes = call.map_err(|status| failed(server, &status))?.into_inner();
    while let Some(prime) = wait(primes.message())?.map_err(|it| failed(server, &it))? {
        print(format_args!("{}", prime.value))?;
    }
    Ok(())
}

/// Prints the sum of the numbers of standard input after each line.
pub(crate) fn totals(server: SocketAddr) -> anyhow::Result<()> {
    let mut client = connect(server)?;
    let (sender, numbers) = bounded(AHEAD);
    let numbers = numbers.into_stream();
    // If the call fails, the reader is interrupted.
    pirn::try_scope(|s| {
        let reader = s.spawn(move || Ok(send_lines(&sender)));
        let call = wait(client.totals(numbers))?;
        let mut totals = call.map_err(|status| failed(server, &status))?.into_inner();
        while let Some(total) =
            wait(totals.message())?.map_err(|it| failed(server, &it))?
        {
            print(format_args!("{}", total.sum))?;
        }
        // The sums of the lines before a wrong one have been printed.
        reader.join().unwrap_or(Ok(()))
    })
}

/// Sends the number in each line of standard input.
fn send_lines(numbers: &Sender<Number>) -> anyhow::Result<()> {
    for (line, number) in BufReader::new(pirn::io::stdin()).lines().zip(1..) {
        let line = line.context("cannot read standard input")?;
        let value = line.trim().parse();
        let value =
            value.with_context(|| format!("line {number}: '{line}' is no number"))?;
        // The call has ended, and says why.
        if numbers.send(Number { value }).is_err() {
            break;
        }
    }
    Ok(())
}

fn connect(server: SocketAddr) -> anyhow::Result<NumbersClient<Connection>> {
    let stream = TcpStream::connect_timeout(&server, PATIENCE)
        .with_context(|| format!("cannot connect to {server}"))?;
    stream.set_nodelay(true)?;
    let mut protocol = Builder::new(Executor);
    protocol
        .timer(Timer)
        .keep_alive_interval(PATIENCE)
        .keep_alive_timeout(PATIENCE)
        .keep_alive_while_idle(true);
    let (sender, connection) = wait(protocol.handshake(stream))?
        .with_context(|| format!("cannot open an HTTP/2 connection to {server}"))?;
    // It ends with the connection. Errors of the connection appear as errors of its calls.
    drop(pirn::spawn(move || drop(wait(connection))));
    let origin = Uri::try_from(format!("http://{server}"))?;
    Ok(NumbersClient::with_origin(Connection(sender), origin))
}

/// The status of a call as an error, without its metadata.
fn failed(server: SocketAddr, status: &Status) -> anyhow::Error {
    anyhow::anyhow!("{server}: {}: {}", status.code(), status.message())
}

/// Prints a line at once: another program may wait for it.
fn print(line: std::fmt::Arguments<'_>) -> anyhow::Result<()> {
    let mut output = pirn::io::stdout();
    writeln!(output, "{line}")
        .and_then(|()| output.flush())
        .context("cannot write to standard output")
}
