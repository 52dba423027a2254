//! gRPC between the program and tonic's own server and client, which run on tokio; and grpcio.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{StreamExt as _, iter, pending};
use tonic::transport::{Channel, Server};
use tonic::{Code, Request, Response, Status, Streaming};

use crate::peers::{
    LIMIT, Program, await_close, await_refusal, connect, run, unmeasured,
};
use proto::numbers_client::NumbersClient;
use proto::numbers_server::{Numbers, NumbersServer};
use proto::{FactorReply, FactorRequest, Number, Prime, PrimesRequest, Total};

/// The generated code.
#[allow(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    elided_lifetimes_in_paths,
    clippy::too_many_lines,
    reason = "generated"
)]
mod proto {
    tonic::include_proto!("pirn.numbers.v1");
}

const PROGRAM: &str = env!("CARGO_BIN_EXE_numbers");

/// Starts the program as a server.
fn server() -> (Program, SocketAddr) {
    Program::serve_by(Command::new(PROGRAM).args(["serve", "--listen", "127.0.0.1:0"]))
}

/// Runs a test on tokio with tonic's client of the program.
fn with_client(test: impl AsyncFnOnce(NumbersClient<Channel>)) -> Program {
    let (server, address) = server();
    tokio().block_on(async { test(connected(address).await).await });
    server
}

/// Returns tonic's client of the server at this address.
async fn connected(address: SocketAddr) -> NumbersClient<Channel> {
    let channel = Channel::from_shared(format!("http://{address}")).unwrap();
    NumbersClient::new(channel.connect().await.unwrap())
}

fn tokio() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

#[test]
fn tonic_calls_the_program() {
    let server = with_client(async |mut client| {
        let calls = (1..=500).map(|number| {
            let mut client = client.clone();
            tokio::spawn(async move {
                let reply = client.factor(FactorRequest { number }).await.unwrap();
                let factors = reply.into_inner().factors;
                assert_eq!(factors.iter().product::<u64>(), number);
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap();
        }
        let primes = PrimesRequest { from: 0, to: 30 };
        let primes = client.primes(primes).await.unwrap().into_inner();
        let primes: Vec<u64> = primes.map(|prime| prime.unwrap().value).collect().await;
        assert_eq!(primes, [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]);
        let numbers = iter(1..=10_000).map(|value| Number { value });
        let total = client.sum(numbers).await.unwrap().into_inner();
        assert_eq!(total.sum, 50_005_000);
        let numbers = iter([5, -3, 2]).map(|value| Number { value });
        let totals = client.totals(numbers).await.unwrap().into_inner();
        let totals: Vec<i64> = totals.map(|total| total.unwrap().sum).collect().await;
        assert_eq!(totals, [5, 2, 4]);
    });
    server.terminate();
    assert!(server.end().status.success());
}

#[test]
fn errors_have_their_status() {
    with_client(async |mut client| {
        let zero = client
            .factor(FactorRequest { number: 0 })
            .await
            .unwrap_err();
        assert_eq!(zero.code(), Code::InvalidArgument);
        assert_eq!(zero.message(), "0 has no prime factors");
        let large = client.factor(FactorRequest { number: u64::MAX }).await;
        assert_eq!(large.unwrap_err().code(), Code::InvalidArgument);
        let numbers = iter([i64::MAX, 1]).map(|value| Number { value });
        let mut totals = client.totals(numbers).await.unwrap().into_inner();
        assert_eq!(totals.next().await.unwrap().unwrap().sum, i64::MAX);
        let over = totals.next().await.unwrap().unwrap_err();
        assert_eq!(over.code(), Code::OutOfRange);
        assert!(totals.next().await.is_none());
    });
}

/// A call that its client gives up leaves nothing behind: after 900 of them the server has no more
/// memory than after 100.
#[test]
fn a_call_that_is_given_up_ends() {
    let (server, address) = server();
    let mut after = Vec::new();
    tokio().block_on(async {
        for connections in [5, 40] {
            for _ in 0..connections {
                let mut client = connected(address).await;
                // The client ends a connection on which it has given up hundreds.
                for _ in 0..20 {
                    let primes = PrimesRequest {
                        from: 0,
                        to: 1_000_000_000_000,
                    };
                    let mut all = client.primes(primes).await.unwrap().into_inner();
                    assert_eq!(all.next().await.unwrap().unwrap().value, 2);
                }
            }
            after.push(server.memory());
        }
        // A fiber that stays has 12 KiB or more of its stack in use.
        let more = after[1].saturating_sub(after[0]);
        assert!(more < 5 << 20, "{after:?}");
        let mut late = Request::new(pending());
        late.set_timeout(Duration::from_millis(100));
        let failed = connected(address).await.sum(late).await.unwrap_err();
        assert!([Code::Cancelled, Code::DeadlineExceeded].contains(&failed.code()));
    });
    println!("{after:?}");
}

/// At SIGTERM a call in progress is answered, and no more connections are accepted.
#[test]
fn a_shutdown_answers_the_calls_in_progress() {
    let (server, address) = server();
    tokio().block_on(async {
        let mut client = connected(address).await;
        let (sender, numbers) = tokio::sync::mpsc::channel(1);
        let numbers = tokio_stream::wrappers::ReceiverStream::new(numbers);
        let mut totals = client.totals(numbers).await.unwrap().into_inner();
        sender.send(Number { value: 1 }).await.unwrap();
        assert_eq!(totals.next().await.unwrap().unwrap().sum, 1);
        server.terminate();
        tokio::task::spawn_blocking(move || await_refusal(address))
            .await
            .unwrap();
        sender.send(Number { value: 2 }).await.unwrap();
        assert_eq!(totals.next().await.unwrap().unwrap().sum, 3);
        drop(sender);
        assert!(totals.next().await.is_none());
    });
    assert!(server.end().status.success());
}

/// A client that sends nothing, or is no client for HTTP/2, is disconnected.
#[test]
fn a_silent_client_is_disconnected() {
    let (_server, address) = server();
    let silent = connect(address);
    await_close(&silent);
    let mut other = connect(address);
    std::io::Write::write_all(&mut other, b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        .unwrap();
    await_close(&other);
}

/// The program calls tonic's own server.
#[test]
fn the_program_calls_tonic() {
    let tokio = tokio();
    let listener = tokio.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let _server = tokio.spawn(
        Server::builder()
            .add_service(NumbersServer::new(Doubles))
            .serve_with_incoming(TcpListenerStream::new(listener)),
    );
    let factors = said(&["factor", &address, "1", "2", "3"], "", true);
    assert_eq!(factors, "1: 1 1\n2: 2 2\n3: 3 3\n");
    let primes = said(&["primes", &address, "5", "8"], "", true);
    assert_eq!(primes, "5\n6\n7\n");
    let totals = said(&["totals", &address], "1\n2\n30\n", true);
    assert_eq!(totals, "2\n4\n60\n");
    let refused = said(&["primes", &address, "8", "5"], "", false);
    assert!(refused.contains("the range is empty"), "{refused}");
    let wrong = said(&["totals", &address], "1\nx\n", false);
    assert_eq!(
        wrong,
        "2\nnumbers: line 2: 'x' is no number: invalid digit found in string\n"
    );
}

/// The program calls itself, and reports a refused connection and a server that does not answer.
#[test]
fn the_program_calls_itself() {
    let (server, address) = server();
    let address = address.to_string();
    let factors = said(&["factor", &address, "12", "999999999989"], "", true);
    assert_eq!(factors, "12: 2 2 3\n999999999989: 999999999989\n");
    let totals = said(&["totals", &address], "9223372036854775807\n1\n", false);
    assert!(totals.contains("the sum needs over 64 bits"), "{totals}");
    server.terminate();
    assert!(server.end().status.success());
    let refused = said(&["factor", &address, "1"], "", false);
    assert!(
        refused.contains(&format!("cannot connect to {address}")),
        "{refused}"
    );
    // The system accepts the connection, and nothing answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let unanswered = said(&["factor", &address, "1"], "", false);
    assert!(unanswered.starts_with("numbers: "), "{unanswered}");
}

/// The client in Python and C calls the program, without generated code.
#[test]
fn grpcio_calls_the_program() {
    if !Path::new("/usr/lib/python3/dist-packages/grpc").exists() {
        return unmeasured("no Debian package python3-grpcio on this machine");
    }
    let mut python = Command::new("/usr/bin/python3");
    for proxy in ["http_proxy", "https_proxy", "grpc_proxy"] {
        python.env_remove(proxy);
    }
    let (_server, address) = server();
    let script = format!(
        r#"
import grpc
channel = grpc.insecure_channel("{address}")
name = "/pirn.numbers.v1.Numbers/"
factor = channel.unary_unary(name + "Factor")
# Field 1, a varint: 100. The factors are packed.
print(list(factor(b"\x08\x64")))
primes = channel.unary_stream(name + "Primes")
print([list(prime) for prime in primes(b"\x10\x0a")])
totals = channel.stream_stream(name + "Totals")
print([list(total) for total in totals(iter([b"\x08\x03", b"\x08\x04"]))])
try:
    factor(b"")
except grpc.RpcError as error:
    print(error.code(), error.details())
try:
    channel.unary_unary(name + "None")(b"")
except grpc.RpcError as error:
    print(error.code())
"#
    );
    let said = run(python.args(["-c", &script]), "");
    let expected = "[10, 4, 2, 2, 5, 5]\n\
                    [[8, 2], [8, 3], [8, 5], [8, 7]]\n\
                    [[8, 3], [8, 7]]\n\
                    StatusCode.INVALID_ARGUMENT 0 has no prime factors\n\
                    StatusCode.UNIMPLEMENTED\n";
    assert_eq!(said, expected);
}

/// Runs the client; returns what it said.
#[track_caller]
fn said(args: &[&str], input: &str, succeeds: bool) -> String {
    let mut command = Command::new(PROGRAM);
    let mut program = Program::start(command.args(args).stderr(Stdio::piped()));
    // It may end before it reads.
    let _ = std::io::Write::write_all(&mut program.input(), input.as_bytes());
    let ended = program.end();
    assert_eq!(ended.status.code(), Some(i32::from(!succeeds)), "{ended:?}");
    ended.output + &ended.errors
}

/// A service on tokio with other answers than the program's.
#[derive(Debug)]
struct Doubles;

type Messages<T> =
    std::pin::Pin<Box<dyn tokio_stream::Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Numbers for Doubles {
    async fn factor(
        &self,
        request: Request<FactorRequest>,
    ) -> Result<Response<FactorReply>, Status> {
        tokio::time::sleep(LIMIT / 1_000).await;
        let factors = vec![request.into_inner().number; 2];
        Ok(Response::new(FactorReply { factors }))
    }

    type PrimesStream = Messages<Prime>;

    async fn primes(
        &self,
        request: Request<PrimesRequest>,
    ) -> Result<Response<Messages<Prime>>, Status> {
        let PrimesRequest { from, to } = request.into_inner();
        if from > to {
            return Err(Status::failed_precondition("the range is empty"));
        }
        let all = iter(from..to).map(|value| Ok(Prime { value }));
        Ok(Response::new(Box::pin(all)))
    }

    async fn sum(
        &self,
        _: Request<Streaming<Number>>,
    ) -> Result<Response<Total>, Status> {
        Err(Status::unimplemented("not used"))
    }

    type TotalsStream = Messages<Total>;

    async fn totals(
        &self,
        request: Request<Streaming<Number>>,
    ) -> Result<Response<Messages<Total>>, Status> {
        let double = |number: Number| Total {
            sum: 2 * number.value,
        };
        let all = request.into_inner().map(move |number| number.map(double));
        Ok(Response::new(Box::pin(all)))
    }
}
