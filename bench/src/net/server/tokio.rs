//! tokio: a task for each connection, on either runtime; hyper for HTTP.

use std::io;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::task::spawn_blocking;

use crate::child::compute;
use crate::peers::ASIDE;

use super::Settings;
use super::bill::Bill;
use super::blocking::answer;
use super::start::{BUFFER, SMALL, listen};

pub(super) fn echo(settings: &Settings) -> io::Result<()> {
    match (settings.price(), settings.small) {
        (Some(price), _) if settings.name == ASIDE => {
            serve(settings, move |stream| work::<true>(stream, price.bill()))
        }
        (Some(price), _) => {
            serve(settings, move |stream| work::<false>(stream, price.bill()))
        }
        (None, true) => serve(settings, echo_by::<SMALL>),
        (None, false) => serve(settings, echo_by::<BUFFER>),
    }
}

pub(super) fn http(settings: &Settings) -> io::Result<()> {
    serve(settings, talk)
}

async fn talk(stream: TcpStream) {
    let talk =
        http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer));
    // As in the head of the module.
    let _ = talk.await;
}

/// Accepts connections on a task, and spawns a task for each.
fn serve<F: Future<Output = ()> + Send + 'static>(
    settings: &Settings,
    mut talk: impl FnMut(TcpStream) -> F + Send + 'static,
) -> io::Result<()> {
    let mut builder = match settings.name.as_str() {
        "tokio-ct" => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    let workers = builder.worker_threads(settings.workers);
    let runtime = workers.enable_io().build()?;
    let listener = listen(settings)?;
    listener.set_nonblocking(true)?;
    let accepting = async move {
        let listener = TcpListener::from_std(listener)?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(talk(stream));
        }
    };
    let accepting = runtime.spawn(accepting);
    runtime.block_on(accepting).map_err(io::Error::other)?
}

async fn echo_by<const SIZE: usize>(mut stream: TcpStream) {
    let mut buffer = [0; SIZE];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

async fn work<const BLOCKING: bool>(mut stream: TcpStream, mut bill: Bill) {
    let mut buffer = [0; BUFFER];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        match bill.add(count) {
            0 => {}
            micros if BLOCKING => {
                let computing = spawn_blocking(move || compute(micros));
                computing.await.expect("it does not panic");
            }
            micros => compute(micros),
        }
        if stream.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
