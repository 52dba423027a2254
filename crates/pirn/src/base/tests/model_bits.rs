//! Model: each bit goes to exactly one taker.

use std::sync::Arc;

use crate::base::bits::AtomicBits;
use crate::base::tests::explore::explore;
use crate::shim::thread;

#[test]
fn model_bits_take_once() {
    explore("bits_take_once", 3, || {
        let bits = Arc::new(AtomicBits::new(2));
        bits.set(0);
        let taker = {
            let bits = Arc::clone(&bits);
            thread::spawn(String::new(), move || {
                let mine = bits.take_first(1);
                assert!(mine.is_none_or(|bit| bit < 2));
                bits.set(1);
            })
        };
        let cleared = bits.clear(0);
        let mine = bits.take_first(0);
        assert!(!(cleared && mine == Some(0)), "bit 0 was set only once");
        taker
            .expect("a modelled thread")
            .join()
            .expect("the taker passes");
        let mine = mine.into_iter().filter(|&bit| bit == 1).count();
        let left = usize::from(bits.take_first(0) == Some(1));
        assert_eq!(mine + left, 1, "bit 1 was set once");
        assert!(!bits.any());
    });
}
