//! tokio: a task for each connection, on either runtime.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::spawn_blocking;

use crate::child::compute;

use super::text::{BUFFER, SMALL};
use super::work::Bill;
use super::{Settings, start};

pub(super) fn echo_multi_thread(settings: &Settings) -> io::Result<()> {
    if settings.micros > 0 {
        return work_on::<false>(settings);
    }
    match settings.small {
        true => multi_thread(settings)?.block_on(serve(settings, echo::<SMALL>)),
        false => multi_thread(settings)?.block_on(serve(settings, echo::<BUFFER>)),
    }
}

pub(super) fn echo_current_thread(settings: &Settings) -> io::Result<()> {
    match settings.small {
        true => current_thread()?.block_on(serve(settings, echo::<SMALL>)),
        false => current_thread()?.block_on(serve(settings, echo::<BUFFER>)),
    }
}

/// Computes by `spawn_blocking`.
pub(super) fn work_aside(settings: &Settings) -> io::Result<()> {
    work_on::<true>(settings)
}

fn work_on<const ASIDE: bool>(settings: &Settings) -> io::Result<()> {
    let price = settings.price();
    let talk = move |stream| work::<ASIDE>(stream, price.bill());
    multi_thread(settings)?.block_on(serve(settings, talk))
}

pub(super) fn multi_thread(settings: &Settings) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(settings.workers).enable_io().build()
}

pub(super) fn current_thread() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_io().build()
}

/// Accepts connections on a task, and spawns a task for each.
pub(super) async fn serve<F>(
    settings: &Settings,
    mut answer: impl FnMut(TcpStream) -> F + Send + 'static,
) -> io::Result<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = start::listen(settings)?;
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let accepting = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(answer(stream));
        }
    });
    accepting.await.map_err(io::Error::other)?
}

async fn echo<const SIZE: usize>(mut stream: TcpStream) {
    let mut buffer = [0; SIZE];
    // A connection that fails ends its task; the load at its other end reports that.
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

async fn work<const ASIDE: bool>(mut stream: TcpStream, mut bill: Bill) {
    let mut buffer = [0; BUFFER];
    // As above.
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        match bill.add(count) {
            0 => {}
            micros if ASIDE => {
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
