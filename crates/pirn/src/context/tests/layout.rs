//! The arithmetic of slots.

use crate::context::stacks::layout::{Layout, MIN_SIZE};

const PAGE: usize = 4096;

#[test]
fn sizes_are_rounded_up_to_pages_and_to_the_least_size() {
    let size = |asked| Layout::new(asked, PAGE).unwrap().size;
    assert_eq!(size(0), MIN_SIZE);
    assert_eq!(size(MIN_SIZE + 1), MIN_SIZE + PAGE);
    assert_eq!(size(256 * 1024), 256 * 1024);
    assert_eq!(Layout::new(usize::MAX, PAGE), None);
    assert_eq!(Layout::new(isize::MAX as usize, PAGE), None);
}

#[test]
fn the_guard_grows_with_the_stack_and_the_stride_is_odd() {
    for kib in [
        16,
        20,
        32,
        64,
        100,
        128,
        256,
        512,
        1024,
        8 * 1024,
        64 * 1024,
    ] {
        let layout = Layout::new(kib * 1024, PAGE).unwrap();
        assert!(layout.guard >= layout.size / 16, "{layout:?}");
        assert!(layout.guard <= layout.size / 16 + 2 * PAGE, "{layout:?}");
        assert_eq!(layout.stride() / PAGE % 2, 1, "{layout:?}");
    }
}

#[test]
fn tops_are_spread_over_two_kib_of_the_last_page() {
    let layout = Layout::new(256 * 1024, PAGE).unwrap();
    let offsets: std::collections::BTreeSet<usize> = (0..100)
        .map(|index| {
            let slot = index * layout.stride();
            slot + layout.stride() - layout.top(slot, index)
        })
        .collect();
    assert_eq!(offsets.len(), 32);
    assert!(offsets.iter().all(|offset| offset.is_multiple_of(64)));
    assert_eq!((offsets.first(), offsets.last()), (Some(&64), Some(&2048)));
}
