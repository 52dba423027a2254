//! Code under tokens and limits that is drawn from the seed of the run: each wait ends as those in
//! force say, in joins, scopes and shields too.

use std::time::Instant;

use fastrand::Rng;
use pirn::cancel::{self, Token};
use pirn::par::join;
use pirn::{Interrupt, scope, time, timeout};

use crate::check;
use crate::drawn::{length, rng};

/// What is in force where code runs.
#[derive(Clone, Default)]
struct Around {
    tokens: Vec<Token>,
    limit: Option<Instant>,
}

impl Around {
    fn is_cancelled(&self) -> bool {
        self.tokens.iter().any(Token::is_cancelled)
    }

    fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| limit <= time::now())
    }

    fn with_token(&self, token: &Token) -> Around {
        let mut inside = self.clone();
        inside.tokens.push(token.clone());
        inside
    }

    fn with_limit(&self, limit: Instant) -> Around {
        let nearest = self.limit.map_or(limit, |outer| outer.min(limit));
        Around {
            limit: Some(nearest),
            ..self.clone()
        }
    }

    /// Checks that a wait ends as it should.
    fn wait(&self, rng: &mut Rng) {
        let (was_cancelled, was_over) = (self.is_cancelled(), self.is_over());
        let (begun, length) = (time::now(), length(rng));
        let ended = match rng.u32(..3) {
            0 => cancel::check(),
            _ => time::sleep(length).inspect(|()| assert!(time::now() - begun >= length)),
        };
        match ended {
            Ok(()) => assert!(!was_cancelled && !was_over),
            Err(Interrupt::Cancelled) => assert!(self.is_cancelled()),
            Err(_) => assert!(self.is_over() && !was_cancelled),
        }
        assert_eq!(cancel::deadline(), self.limit);
    }

    /// Runs drawn code.
    fn run(&self, rng: &mut Rng, tokens: &[Token], depth: u32) {
        for _ in 0..2 {
            self.wait(rng);
            let choices = if depth == 0 { 2 } else { 9 };
            let token = &tokens[rng.usize(..tokens.len())];
            match rng.u32(..choices) {
                0 => {}
                1 => token.cancel(),
                2 | 3 => token.enter(|| {
                    self.with_token(token).run(rng, tokens, depth - 1);
                }),
                4 => {
                    let limit = time::now() + length(rng);
                    cancel::with_deadline(limit, || {
                        self.with_limit(limit).run(rng, tokens, depth - 1);
                    });
                }
                5 => {
                    let (begun, length) = (time::now(), length(rng));
                    let limited = timeout(length, || {
                        let limit = cancel::deadline().unwrap();
                        assert!(limit >= begun + length || Some(limit) == self.limit);
                        self.with_limit(limit).run(rng, tokens, depth - 1);
                    });
                    assert!(limited.is_ok() || time::now() >= begun + length);
                }
                6 => cancel::shield(|| Around::default().run(rng, tokens, depth - 1)),
                7 => {
                    let (mut one, mut other) = (rng.fork(), rng.fork());
                    join(
                        || self.run(&mut one, tokens, depth - 1),
                        || self.run(&mut other, tokens, depth - 1),
                    );
                }
                _ => {
                    let (mut one, mut other) = (rng.fork(), rng.fork());
                    scope(|s| {
                        let inside = self.with_token(s.token());
                        let child = inside.clone();
                        s.spawn(move || child.run(&mut one, tokens, depth - 1));
                        inside.run(&mut other, tokens, depth - 1);
                        if other.bool() {
                            s.cancel();
                        }
                    });
                }
            }
        }
    }
}

// Proves: U30-drawn.
#[test]
fn drawn_waits_end_as_those_around_them_say() {
    check(|| {
        let mut rng = rng();
        let tokens: Vec<Token> = match rng.bool() {
            true => (0..3).map(|_| Token::new()).collect(),
            false => {
                let first = Token::new();
                let second = first.child();
                vec![first, second.clone(), second.child()]
            }
        };
        scope(|s| {
            for _ in 0..2 {
                let (mut rng, tokens) = (rng.fork(), &tokens);
                s.spawn(move || {
                    let around = Around::default().with_token(s.token());
                    around.run(&mut rng, tokens, 3);
                });
            }
        });
    });
}
