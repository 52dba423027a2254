//! The hook at the end of a thread runs before the destructors of its thread-locals, and is
//! registered no more often than that needs.

use std::cell::RefCell;
use std::sync::mpsc;

use crate::shim::thread;
use crate::sys::thread_end::{at_thread_end, enter_hook, is_first};

/// Sends its name when it is dropped.
struct Says(&'static str, RefCell<Option<mpsc::Sender<&'static str>>>);

impl Says {
    fn hear(&self, tx: &mpsc::Sender<&'static str>) {
        *self.1.borrow_mut() = Some(tx.clone());
    }
}

impl Drop for Says {
    fn drop(&mut self) {
        if let Some(tx) = &*self.1.borrow() {
            let _ = tx.send(self.0);
        }
    }
}

std::thread_local! {
    static HOOKED: Says = const { Says("last", RefCell::new(None)) };
    static FIRST: Says = const { Says("first", RefCell::new(None)) };
    static SECOND: Says = const { Says("second", RefCell::new(None)) };
    static THIRD: Says = const { Says("third", RefCell::new(None)) };
}

fn hook() {
    HOOKED.with(|says| {
        if let Some(tx) = &*says.1.borrow() {
            let _ = tx.send("hook");
        }
    });
}

/// Calls `f` on a thread, and returns the order in which the thread's destructors and hooks ran.
fn order(
    f: impl FnOnce(&mpsc::Sender<&'static str>) + Send + 'static,
) -> Vec<&'static str> {
    // The first thread of the process looks for the list, and registers the hook twice more.
    let first = || assert!(at_thread_end(|| ()));
    let first = thread::spawn(String::new(), first);
    first.unwrap().join().unwrap();
    let (tx, rx) = mpsc::channel();
    let ends = thread::spawn(String::new(), move || {
        HOOKED.with(|says| says.hear(&tx));
        f(&tx);
    });
    ends.unwrap().join().unwrap();
    rx.iter().collect()
}

// Proves: F11-end.
#[test]
fn a_hook_comes_before_destructors() {
    for later in [false, true] {
        let said = order(move |tx| {
            FIRST.with(|says| says.hear(tx));
            assert!(!is_first());
            assert!(at_thread_end(hook));
            assert!(is_first(), "the list has not been found");
            assert!(at_thread_end(hook));
            SECOND.with(|says| says.hear(tx));
            assert!(!is_first());
            if later {
                assert!(at_thread_end(hook) && at_thread_end(hook));
                assert!(is_first());
                THIRD.with(|says| says.hear(tx));
            }
        });
        let expected: &[&str] = match later {
            false => &["second", "hook", "first", "last"],
            true => &["third", "hook", "second", "hook", "first", "last"],
        };
        assert_eq!(said, expected);
    }
}

/// Where the head of the list is not found, the hook is registered each time: it runs before all
/// destructors, and leaks.
#[test]
fn a_hook_without_the_list_is_entered_each_time() {
    let said = order(|tx| {
        let enter = || enter_hook(hook, || None);
        FIRST.with(|says| says.hear(tx));
        enter();
        assert!(!is_first());
        SECOND.with(|says| says.hear(tx));
        enter();
        enter();
        assert!(!is_first());
        THIRD.with(|says| says.hear(tx));
    });
    let expected = ["third", "hook", "hook", "second", "hook", "first", "last"];
    assert_eq!(said, expected);
}

/// A hook that is registered while destructors run is called, too.
// Proves: F11-end.
#[test]
fn a_hook_comes_in_a_destructor() {
    struct Late;
    impl Drop for Late {
        fn drop(&mut self) {
            assert!(at_thread_end(hook) && is_first());
        }
    }
    std::thread_local! {
        static LATE: RefCell<Option<Late>> = const { RefCell::new(None) };
    }
    let said = order(|tx| {
        FIRST.with(|says| says.hear(tx));
        LATE.set(Some(Late));
    });
    assert_eq!(said, ["hook", "first", "last"]);
}
