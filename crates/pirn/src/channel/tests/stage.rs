//! Shared parts of the channel models: fibers that run on modelled threads.

use std::sync::Arc;

use crate::fiber::tests::stage::Block;
use crate::shim::thread::JoinHandle;

/// The fibers of one model. As headers do, they stay alive until all have ended, because wakers may
/// come late.
pub(super) struct Cast {
    blocks: Vec<Arc<Block>>,
    threads: Vec<JoinHandle<()>>,
}

impl Cast {
    pub(super) fn new() -> Self {
        Cast {
            blocks: Vec::new(),
            threads: Vec::new(),
        }
    }

    /// Starts a thread that runs a fiber.
    pub(super) fn start(&mut self, body: impl FnOnce() + Send + 'static) {
        let block = self.block();
        self.threads.push(block.start(body));
    }

    /// Runs a fiber on this thread.
    pub(super) fn play<R>(&mut self, body: impl FnOnce() -> R) -> R {
        self.block().play(body)
    }

    /// Joins the threads.
    pub(super) fn end(self) {
        for thread in self.threads {
            thread.join().expect("the thread passes");
        }
        drop(self.blocks);
    }

    fn block(&mut self) -> Arc<Block> {
        let block = Block::new();
        block.renew(1);
        let block = Arc::new(block);
        self.blocks.push(Arc::clone(&block));
        block
    }
}
