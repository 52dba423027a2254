//! The methods of the service.
//!
//! tonic calls a method by polling its future, which must not wait as a fiber does. So a method
//! runs its work on a fiber: plain code that waits, sends and returns errors. If the client gives up
//! the call, a fiber with one answer is cancelled, and one with several ends at its next message.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use pirn::channel::{RecvStream, Sender, bounded};
use pirn::future::{fiber, wait};
use tonic::{Request, Response, Status, Streaming};

use crate::proto::numbers_server::Numbers;
use crate::proto::{FactorReply, FactorRequest, Number, Prime, PrimesRequest, Total};

/// The greatest number to be factored or tested. A test takes at most half a million divisions.
const MOST: u64 = 1_000_000_000_000;

/// How many messages of an answer wait for a client that reads slowly. Arbitrary.
const AHEAD: usize = 16;

/// How long a call waits for the next message of its client, and for its client to take one. Arbitrary.
const PATIENCE: Duration = Duration::from_secs(60);

/// The service; it has no state.
#[derive(Debug)]
pub(crate) struct Service;

/// The messages of an answer.
type Messages<T> = RecvStream<Result<T, Status>>;

#[tonic::async_trait]
impl Numbers for Service {
    async fn factor(
        &self,
        request: Request<FactorRequest>,
    ) -> Result<Response<FactorReply>, Status> {
        let number = request.into_inner().number;
        answer(move || factor(number)).await
    }

    type PrimesStream = Messages<Prime>;

    async fn primes(
        &self,
        request: Request<PrimesRequest>,
    ) -> Result<Response<Messages<Prime>>, Status> {
        let PrimesRequest { from, to } = request.into_inner();
        at_most(to)?;
        Ok(messages(move |answer| {
            let mut primes = (from..to).filter(|value| is_prime(*value));
            primes.try_for_each(|value| send(answer, Prime { value }))
        }))
    }

    async fn sum(
        &self,
        request: Request<Streaming<Number>>,
    ) -> Result<Response<Total>, Status> {
        let mut numbers = request.into_inner();
        answer(move || {
            let mut total = Total::default();
            while let Some(number) = next(&mut numbers)? {
                total.add(number)?;
            }
            Ok(total)
        })
        .await
    }

    type TotalsStream = Messages<Total>;

    async fn totals(
        &self,
        request: Request<Streaming<Number>>,
    ) -> Result<Response<Messages<Total>>, Status> {
        let mut numbers = request.into_inner();
        Ok(messages(move |answer| {
            let mut total = Total::default();
            while let Some(number) = next(&mut numbers)? {
                total.add(number)?;
                send(answer, total)?;
            }
            Ok(())
        }))
    }
}

impl Total {
    fn add(&mut self, number: Number) -> Result<(), Status> {
        let sum = self.sum.checked_add(number.value);
        self.sum =
            sum.ok_or_else(|| Status::out_of_range("the sum needs over 64 bits"))?;
        Ok(())
    }
}

/// Runs `work` on a fiber, and returns its result.
async fn answer<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Status> + Send + 'static,
) -> Result<Response<T>, Status> {
    let ended = fiber(work).await;
    let panicked = |error| Err(Status::internal(format!("a method failed: {error}")));
    ended.unwrap_or_else(panicked).map(Response::new)
}

/// Runs `work` on a fiber, and returns the messages that it sends. An error ends them.
fn messages<T: Send + 'static>(
    work: impl FnOnce(&Sender<Result<T, Status>>) -> Result<(), Status> + Send + 'static,
) -> Response<Messages<T>> {
    let (sender, messages) = bounded(AHEAD);
    let run = move || {
        // UNWIND: what `work` has borrowed is dropped with it.
        let ended = catch_unwind(AssertUnwindSafe(|| work(&sender)));
        let panicked = |_| Err(Status::internal("a method panicked"));
        if let Err(status) = ended.unwrap_or_else(panicked) {
            // It fails if the client has left.
            let _ = sender.send_timeout(Err(status), PATIENCE);
        }
    };
    pirn::spawn(run).detach();
    Response::new(messages.into_stream())
}

/// Sends a message; waits while [`AHEAD`] others wait for the client.
fn send<T>(answer: &Sender<Result<T, Status>>, message: T) -> Result<(), Status> {
    let sent = answer.send_timeout(Ok(message), PATIENCE);
    sent.map_err(|_| Status::cancelled("the client does not read"))
}

/// Waits for the next number of the client; `None` after the last one.
fn next(numbers: &mut Streaming<Number>) -> Result<Option<Number>, Status> {
    let next = pirn::timeout(PATIENCE, || wait(numbers.message()));
    let Ok(next) = next else {
        return Err(Status::deadline_exceeded(format!(
            "no number in {PATIENCE:?}"
        )));
    };
    next.unwrap_or_else(|_| Err(Status::cancelled("the call was cancelled")))
}

fn factor(number: u64) -> Result<FactorReply, Status> {
    at_most(number)?;
    if number == 0 {
        return Err(Status::invalid_argument("0 has no prime factors"));
    }
    let (mut left, mut factors) = (number, Vec::new());
    while let Some(factor) = least_factor(left) {
        factors.push(factor);
        left /= factor;
    }
    Ok(FactorReply { factors })
}

fn at_most(number: u64) -> Result<(), Status> {
    match number <= MOST {
        true => Ok(()),
        false => Err(Status::invalid_argument(format!(
            "{number} is above the limit of {MOST}"
        ))),
    }
}

fn is_prime(number: u64) -> bool {
    least_factor(number) == Some(number)
}

/// Returns the least prime factor of a number, by trial division; `None` for 0 and 1.
fn least_factor(number: u64) -> Option<u64> {
    if number < 2 {
        return None;
    }
    let divisors = std::iter::once(2).chain((3..).step_by(2));
    let mut small = divisors.take_while(|divisor| divisor * divisor <= number);
    Some(
        small
            .find(|divisor| number.is_multiple_of(*divisor))
            .unwrap_or(number),
    )
}
