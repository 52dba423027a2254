//! Kernels of Knative Serving.
//!
//! Kernels of GoBench (Yuan et al., CGO 2021), written anew from descriptions.

use std::sync::Arc;

use pirn::sync::{Mutex, WaitGroup};

use crate::go::{Chan, go};
use crate::kernel;

/// The second request takes the only slot, but the lock it needs is freed after the first one.
#[test]
fn serving_2137() {
    struct Breaker {
        pending: Chan<()>,
        active: Chan<()>,
        requests: [Request; 2],
    }
    struct Request {
        lock: Mutex<()>,
        accepted: Chan<bool>,
        start: WaitGroup,
    }
    fn serve(breaker: &Breaker, request: &Request) {
        request.start.done();
        let is_accepted = pirn::select! {
            send(breaker.pending.tx, ()) -> _ => {
                breaker.active.send(());
                drop(request.lock.lock());
                breaker.active.recv();
                breaker.pending.recv();
                true
            }
            default => false,
        };
        request.accepted.send(is_accepted);
    }
    fn body(fixed: bool) {
        let breaker = Arc::new(Breaker {
            pending: Chan::new(2),
            active: Chan::new(1),
            requests: std::array::from_fn(|_| Request {
                lock: Mutex::new(()),
                accepted: Chan::new(1),
                start: WaitGroup::new(),
            }),
        });
        let mut guards = Vec::new();
        for (at, request) in breaker.requests.iter().enumerate() {
            pirn::yield_now();
            guards.push(request.lock.lock());
            request.start.add(1);
            go(&breaker, move |breaker| {
                serve(breaker, &breaker.requests[at]);
            });
            request.start.wait().unwrap();
        }
        if fixed {
            guards.clear();
        }
        let mut guards = guards.into_iter();
        for request in &breaker.requests {
            drop(guards.next());
            let is_accepted = request.accepted.recv();
            request.accepted.send(is_accepted.unwrap());
        }
    }
    kernel(|| body(false), || body(true));
}
