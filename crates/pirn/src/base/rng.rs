//! A small fast generator for choices that need only be fair: the first victim of a steal, the
//! first case of a select. Not for secrets.
//!
//! wyrand: one addition and one 64×64→128 multiplication a number, eight bytes of state.

/// One stream of pseudo-random numbers; owned by one thread.
#[derive(Debug, Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) const fn new(seed: u64) -> Self {
        Rng(seed)
    }

    #[inline]
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        fold(self.0, self.0 ^ MIX)
    }

    /// Returns a number in `0..n`, each equally likely.
    ///
    /// # Panics
    /// If `n` is 0.
    #[inline]
    pub(crate) fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "no number is below zero");
        let n = n as u64;
        let mut wide = u128::from(self.next_u64()) * u128::from(n);
        if (wide as u64) < n {
            // The first `2^64 mod n` low halves belong to an incomplete round: draw again.
            let unfair = n.wrapping_neg() % n;
            while (wide as u64) < unfair {
                wide = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (wide >> 64) as usize
    }
}

fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide >> 64) as u64 ^ wide as u64
}

/// The generator's two published constants: odd, with 32 of 64 bits set in each.
const STEP: u64 = 0xa076_1d64_78bd_642f;
const MIX: u64 = 0xe703_7ed1_a0b4_28db;
