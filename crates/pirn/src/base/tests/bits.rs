//! The bitmap, alone and against a set that is obviously correct.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::bits::AtomicBits;
use crate::base::rng::Rng;
use crate::shim::thread;

#[test]
fn agrees_with_a_set() {
    for len in [1, 63, 64, 65, 200] {
        let mut rng = Rng::new(len as u64);
        let bits = AtomicBits::new(len);
        let mut model = BTreeSet::new();
        for _ in 0..20_000 {
            let i = rng.below(len);
            match rng.below(4) {
                0 => assert_eq!(bits.clear(i), model.remove(&i)),
                1 => {
                    let expected =
                        model.range(i..).chain(model.range(..i)).next().copied();
                    assert_eq!(bits.take_first(i), expected);
                    expected.inspect(|first| assert!(model.remove(first)));
                }
                _ => assert_eq!(bits.set(i), !model.insert(i)),
            }
            assert_eq!(bits.any(), !model.is_empty());
            assert_eq!(bits.count(), model.len());
        }
    }
}

#[test]
fn each_bit_goes_to_one_taker() {
    const ROUNDS: usize = 1_000;
    const LEN: usize = 70;
    let bits = Arc::new(AtomicBits::new(LEN));
    let taken: Arc<[AtomicUsize; LEN]> = Arc::new([const { AtomicUsize::new(0) }; LEN]);
    let total = |taken: &[AtomicUsize; LEN]| -> usize {
        taken
            .iter()
            .map(|times| times.load(Ordering::Relaxed))
            .sum()
    };
    let takers: Vec<_> = (0..2)
        .map(|from| {
            let (bits, taken) = (Arc::clone(&bits), Arc::clone(&taken));
            let taker = move || {
                while total(&taken) < ROUNDS * LEN {
                    match bits.take_first(from * LEN / 2) {
                        Some(bit) => {
                            taken[bit].fetch_add(1, Ordering::Relaxed);
                        }
                        None => thread::yield_now(),
                    }
                }
            };
            thread::spawn(format!("taker {from}"), taker).expect("a thread")
        })
        .collect();
    for round in 0..ROUNDS {
        for bit in 0..LEN {
            assert!(!bits.set(bit), "bit {bit} was left over from round {round}");
        }
        while total(&taken) < (round + 1) * LEN {
            thread::yield_now();
        }
    }
    takers
        .into_iter()
        .for_each(|taker| taker.join().expect("no taker panics"));
    assert!(
        taken
            .iter()
            .all(|times| times.load(Ordering::Relaxed) == ROUNDS)
    );
}
