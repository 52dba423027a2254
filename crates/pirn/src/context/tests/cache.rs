//! The worker's cache of stacks.

use super::ride::pool;
use crate::context::StackCache;

// Proves: M7.
#[test]
fn the_last_stack_goes_first_and_the_pool_is_left_alone() {
    let pool = pool(1_000);
    let mut cache = StackCache::new(4);
    let stack = cache.take(&pool).unwrap();
    let range = stack.range();
    cache.give(stack, &pool);
    for _ in 0..1_000 {
        let stack = cache.take(&pool).unwrap();
        assert_eq!(stack.range(), range);
        assert_eq!(pool.in_use(), 1);
        cache.give(stack, &pool);
    }
    cache.flush(&pool);
    assert_eq!(pool.in_use(), 0);
}

// Proves: M3.
#[test]
fn a_full_cache_gives_its_older_half_back() {
    let pool = pool(1_000);
    let mut cache = StackCache::new(4);
    let stacks: Vec<_> = (0..10).map(|_| cache.take(&pool).unwrap()).collect();
    let last = stacks[9].range();
    stacks
        .into_iter()
        .for_each(|stack| cache.give(stack, &pool));
    let kept = pool.in_use();
    assert!((1..=4).contains(&kept), "{kept}");
    let stack = cache.take(&pool).unwrap();
    assert_eq!(stack.range(), last);
    cache.give(stack, &pool);
    cache.flush(&pool);
    assert_eq!(pool.in_use(), 0);
}

#[test]
fn a_small_pool_is_not_hoarded() {
    let pool = pool(4);
    let (mut first, mut second) = (StackCache::new(64), StackCache::new(64));
    let stacks: Vec<_> = (0..4).map(|_| first.take(&pool).unwrap()).collect();
    assert!(second.take(&pool).is_err());
    stacks
        .into_iter()
        .for_each(|stack| first.give(stack, &pool));
    let stacks: Vec<_> = (0..4).map(|_| second.take(&pool).unwrap()).collect();
    stacks
        .into_iter()
        .for_each(|stack| second.give(stack, &pool));
    assert_eq!(pool.in_use(), 0);
}

#[test]
fn another_size_goes_past_the_cache() {
    let pool = pool(1_000);
    let mut cache = StackCache::new(4);
    cache.give(pool.take_sized(64 * 1024).unwrap(), &pool);
    assert_eq!(pool.in_use(), 0);
    let stack = cache.take(&pool).unwrap();
    assert!(stack.size() > 250 * 1024);
    pool.give(stack);
}
