//! A fiber for tests: a closure on a stack, resumed by hand.

use std::cell::UnsafeCell;

use crate::context::{Context, Stack, StackConfig, StackPool, exit, switch};

/// A closure on a stack of its own, and the context of the thread that drives it.
pub(super) struct Ride {
    stack: Option<Stack>,
    sides: Box<Sides>,
}

/// Both contexts and the closure; stays where it is while the fiber lives.
pub(super) struct Sides {
    fiber: UnsafeCell<Context>,
    driver: UnsafeCell<Context>,
    body: Option<Body>,
    done: bool,
}

type Body = Box<dyn FnOnce(&Sides) + Send>;

// SAFETY: one side runs at a time; the tests send a ride to another thread as a whole.
unsafe impl Send for Ride {}

/// Returns a pool for tests: stacks of 256 KiB, 16 of them cached.
pub(super) fn pool(max_stacks: usize) -> StackPool {
    StackPool::new(StackConfig {
        size: 256 * 1024,
        max_stacks,
        cache: 16,
    })
    .expect("a pool of default stacks")
}

impl Ride {
    pub(super) fn new(stack: Stack, body: impl FnOnce(&Sides) + Send + 'static) -> Ride {
        let mut sides = Box::new(Sides {
            fiber: UnsafeCell::new(Context::empty()),
            driver: UnsafeCell::new(Context::empty()),
            body: Some(Box::new(body)),
            done: false,
        });
        let arg = (&raw mut *sides).cast();
        // SAFETY: the stack and the box live in the ride until the fiber is done.
        unsafe { sides.fiber.get_mut().prepare(&stack, start, arg) };
        Ride {
            stack: Some(stack),
            sides,
        }
    }

    /// Lets the fiber run until it pauses or ends; true if it has not ended.
    pub(super) fn resume(&mut self) -> bool {
        assert!(!self.sides.done, "the fiber has ended");
        // SAFETY: the fiber is suspended; `&mut self` makes this its only driver.
        unsafe { switch(self.sides.driver.get(), self.sides.fiber.get()) };
        !self.sides.done
    }

    pub(super) fn done(&self) -> bool {
        self.sides.done
    }

    pub(super) fn context(&self) -> &Context {
        // SAFETY: the fiber is suspended while other code can call this.
        unsafe { &*self.sides.fiber.get() }
    }

    pub(super) fn stack(&self) -> &Stack {
        self.stack.as_ref().expect("taken only by `finish`")
    }

    /// Lets the fiber end and returns its stack.
    pub(super) fn finish(mut self) -> Stack {
        while !self.done() {
            self.resume();
        }
        self.stack.take().expect("taken only here")
    }
}

impl Sides {
    /// Suspends the fiber.
    #[inline(always)]
    pub(super) fn pause(&self) {
        // SAFETY: called on the fiber, which the driver waits for.
        unsafe { switch(self.fiber.get(), self.driver.get()) };
    }
}

unsafe extern "C" fn start(arg: *mut ()) -> ! {
    let sides = arg.cast::<Sides>();
    // SAFETY: the ride keeps the box; only this side touches the closure.
    let body = unsafe { (*sides).body.take() }.expect("a fiber starts once");
    // SAFETY: as above.
    body(unsafe { &*sides });
    // SAFETY: as above.
    unsafe { (*sides).done = true };
    // SAFETY: as above.
    let fiber = unsafe { (*sides).fiber.get() };
    // SAFETY: as above.
    let driver = unsafe { (*sides).driver.get() };
    // SAFETY: nothing is left on this stack, and the driver waits.
    unsafe { exit(fiber, driver) }
}

/// A context that is prepared and run to its end repeatedly.
pub(super) struct Once {
    stack: Stack,
    fiber: UnsafeCell<Context>,
    driver: UnsafeCell<Context>,
}

impl Once {
    pub(super) fn new(stack: Stack) -> Once {
        let (fiber, driver) = (Context::empty(), Context::empty());
        Once {
            stack,
            fiber: UnsafeCell::new(fiber),
            driver: UnsafeCell::new(driver),
        }
    }

    pub(super) fn run(&mut self) {
        unsafe extern "C" fn leave(once: *mut ()) -> ! {
            // SAFETY: `run` waits and keeps everything in place.
            let once = unsafe { &*once.cast::<Once>() };
            // SAFETY: as above.
            unsafe { exit(once.fiber.get(), once.driver.get()) }
        }
        let arg = (&raw mut *self).cast();
        // SAFETY: the previous fiber on the stack has left it.
        unsafe { self.fiber.get_mut().prepare(&self.stack, leave, arg) };
        // SAFETY: just prepared.
        unsafe { switch(self.driver.get(), self.fiber.get()) };
    }
}
