//! Kernels of Hugo.
//!
//! Kernels of GoBench (Yuan et al., CGO 2021), written anew from descriptions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pirn::sync::{Mutex, Once, RwLock, WaitGroup};

use crate::go::{Chan, go};
use crate::kernel;

/// The lock of a key is awaited with the lock of all keys held, which its release needs.
#[test]
fn hugo_3251() {
    #[derive(Default)]
    struct Locks {
        keys: RwLock<BTreeMap<u32, Arc<Mutex<()>>>>,
        all: WaitGroup,
    }
    fn use_key(locks: &Locks, fixed: bool) {
        let mut keys = locks.keys.write();
        let key = Arc::clone(keys.entry(0).or_default());
        let keys = (!fixed).then_some(keys);
        let held = key.lock();
        drop(keys);
        let keys = locks.keys.read();
        assert!(keys.contains_key(&0), "keys are never removed");
        drop(held);
    }
    fn body(fixed: bool) {
        let locks = Arc::new(Locks::default());
        for _ in 0..2 {
            locks.all.add(4);
            for _ in 0..4 {
                go(&locks, move |locks| {
                    for _ in 0..3 {
                        use_key(locks, fixed);
                        pirn::sleep(Duration::from_nanos(300)).unwrap();
                    }
                    locks.all.done();
                });
            }
            locks.all.wait().unwrap();
        }
    }
    kernel(|| body(false), || body(true));
}

/// A nested render takes the lock of the outer one, once the outer one's time is up.
#[test]
fn hugo_5379() {
    struct Page {
        content: Once,
        plain: Once,
        lock: Mutex<()>,
        rendered: Chan<()>,
        all: WaitGroup,
    }
    fn words(page: &Arc<Page>, fixed: bool) {
        page.content.call_once(|| init(page, fixed));
        page.plain.call_once(|| drop(page.lock.lock()));
    }
    fn init(page: &Arc<Page>, fixed: bool) {
        go(page, move |page| {
            let _lock = page.lock.lock();
            // The shortcode. Fixed, it counts the words of the content that is rendered so far.
            if !fixed {
                words(page, fixed);
            }
            page.rendered.send(());
        });
        pirn::select! {
            after(Duration::from_millis(1)) => {}
            recv(page.rendered.rx) -> _ => {}
        }
    }
    fn body(fixed: bool) {
        let page = Arc::new(Page {
            content: Once::new(),
            plain: Once::new(),
            lock: Mutex::new(()),
            rendered: Chan::new(1),
            all: WaitGroup::new(),
        });
        page.all.add(2);
        for _ in 0..2 {
            go(&page, move |page| {
                words(page, fixed);
                page.all.done();
            });
        }
        page.all.wait().unwrap();
    }
    kernel(|| body(false), || body(true));
}
