//! What the models of channels share: fibers that modelled threads play.

use std::sync::Arc;

use crate::fiber::tests::stage::Block;
use crate::shim::thread::JoinHandle;

/// The fibers of one model. They stay alive until all have ended, as headers do: wakers may
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

    /// Has a thread of its own play a fiber.
    pub(super) fn start(&mut self, body: impl FnOnce() + Send + 'static) {
        let block = self.block();
        self.threads.push(block.start(body));
    }

    /// Plays a fiber on this thread.
    pub(super) fn play<R>(&mut self, body: impl FnOnce() -> R) -> R {
        self.block().play(body)
    }

    /// Waits for the threads.
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
