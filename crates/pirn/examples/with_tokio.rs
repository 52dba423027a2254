//! pirn inside a program of Tokio, and Tokio inside a program of pirn.
//!
//! A service of Tokio hands the work of each request to a fiber, which may block and compute. Fibers
//! are its clients, by sockets of Tokio.
//!
//! Checked: `cargo run --example with_tokio` ends with `5050 20100 45150`.

use std::io;
use std::net::SocketAddr;

use pirn::future::tokio::compat;
use pirn::future::wait;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

fn main() -> io::Result<()> {
    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    // In a program with `#[tokio::main]` this is the body of `main`.
    let listener = tokio.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    let service = tokio.spawn(serve(listener));

    // The other direction: fibers wait for futures that need Tokio's sockets.
    let fibers = pirn::Runtime::builder()
        .tokio(tokio.handle().clone())
        .build()?;
    let answers = fibers.run(|| {
        let asks = [100, 200, 300].map(|n| move || ask(address, n));
        pirn::scope::all(asks)
    })?;
    service.abort();
    let answers: Vec<_> = answers.iter().map(u64::to_string).collect();
    println!("{}", answers.join(" "));
    Ok(())
}

/// A task of Tokio for each connection.
async fn serve(listener: TcpListener) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(answer(stream));
    }
}

/// Receives a number, and sends the sum of all up to it.
async fn answer(mut stream: TcpStream) -> io::Result<()> {
    let n = stream.read_u64().await?;
    // Any thread can spawn a fiber on pirn's default runtime, and any executor polls its handle.
    let sum = pirn::spawn(move || sum(n)).await?;
    stream.write_u64(sum).await
}

/// Plain code, which waits and computes.
fn sum(n: u64) -> u64 {
    let (tx, rx) = pirn::channel::bounded(8);
    pirn::scope(|s| {
        s.spawn(|| (1..=n).for_each(|n| tx.send(n).unwrap()));
        rx.iter().take(n as usize).sum()
    })
}

/// On a fiber: one request.
fn ask(address: SocketAddr, n: u64) -> io::Result<u64> {
    let answer = wait(compat(async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_u64(n).await?;
        stream.read_u64().await
    }));
    answer?
}
