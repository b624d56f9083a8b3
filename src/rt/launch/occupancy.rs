//! What a kernel takes of a device, and how many of its blocks fit at once: pure.
//!
//! OpenCL tells neither registers nor how many blocks a compute unit keeps, so the answer is reckoned from what it does
//! tell, as the least of
//!
//! * threads: the device's largest block, taken as a compute unit's threads, over the block rounded up to whole warps;
//! * shared memory: the device's per block, taken as the compute unit's, over what a block takes;
//!
//! and at least 1 for a block that can be launched at all.

/// What is known of a kernel on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Work items of the largest block that can be launched.
    pub(crate) max_block: usize,
    /// Work items that run in step.
    pub(crate) warp: usize,
    /// Work items of the device's largest block.
    pub(crate) device_block: usize,
    /// Bytes of shared memory that a block takes by itself.
    pub(crate) shared_static: u64,
    /// Bytes of shared memory that a block may have.
    pub(crate) shared_most: u64,
    /// Bytes of private memory that a work item takes.
    pub(crate) private: u64,
    /// The block that the source demands; 0 where it demands none.
    pub(crate) required: usize,
}

impl Needs {
    /// Bytes of shared memory that are left to launches.
    pub(crate) fn shared_dynamic(&self) -> u64 {
        self.shared_most.saturating_sub(self.shared_static)
    }

    /// How many blocks of so many work items and so many bytes of dynamic shared memory a compute unit runs at once; 0
    /// for blocks that cannot be launched.
    pub(crate) fn active_blocks(&self, block: usize, shared: usize) -> usize {
        let wrong_size = self.required != 0 && self.required != block;
        if block == 0 || block > self.max_block || wrong_size || shared as u64 > self.shared_dynamic() {
            return 0;
        }
        let threads = self.device_block / block.next_multiple_of(self.warp.max(1));
        let bytes = self.shared_static + shared as u64;
        let memory = self.shared_most.checked_div(bytes).map_or(usize::MAX, |blocks| blocks as usize);
        threads.min(memory).max(1)
    }

    /// The block that keeps most work items on a compute unit, of whole warps and at most `limit` (0: no limit) where
    /// that is possible, the larger of equal ones. `shared` tells the dynamic shared memory of a block.
    pub(crate) fn best_block(&self, shared: impl Fn(usize) -> usize, limit: usize) -> Option<usize> {
        let most = if limit == 0 { self.max_block } else { self.max_block.min(limit) };
        let step = self.warp.max(1);
        let mut sizes: Vec<usize> =
            if self.required != 0 { vec![self.required] } else { (step..=most).step_by(step).collect() };
        if sizes.is_empty() && most > 0 {
            sizes.push(most);
        }
        let busy = |block: usize| self.active_blocks(block, shared(block)) * block;
        sizes.into_iter().filter(|&block| busy(block) > 0).max_by_key(|&block| (busy(block), block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: Needs = Needs {
        max_block: 1024,
        warp: 32,
        device_block: 1024,
        shared_static: 1000,
        shared_most: 48_000,
        private: 0,
        required: 0,
    };

    #[test]
    fn the_scarcer_of_threads_and_shared_memory_counts() {
        assert_eq!(NEEDS.active_blocks(256, 0), 4);
        assert_eq!(NEEDS.active_blocks(250, 0), 4, "whole warps");
        assert_eq!(NEEDS.active_blocks(256, 15_000), 3);
        assert_eq!(NEEDS.active_blocks(1024, 47_000), 1);
        assert_eq!(NEEDS.active_blocks(700, 0), 1);
    }

    #[test]
    fn what_cannot_be_launched_is_never_active() {
        assert_eq!(NEEDS.active_blocks(0, 0), 0);
        assert_eq!(NEEDS.active_blocks(1025, 0), 0);
        assert_eq!(NEEDS.active_blocks(32, 47_001), 0);
        assert_eq!(Needs { required: 64, ..NEEDS }.active_blocks(32, 0), 0);
        assert_eq!(Needs { required: 64, ..NEEDS }.active_blocks(64, 0), 16);
    }

    #[test]
    fn the_best_block_keeps_most_threads_busy() {
        assert_eq!(NEEDS.best_block(|_| 0, 0), Some(1024));
        assert_eq!(NEEDS.best_block(|_| 0, 300), Some(256), "4 of 256 are more than 3 of 288");
        assert_eq!(NEEDS.best_block(|_| 0, 20), Some(20), "less than a warp");
        assert_eq!(NEEDS.best_block(|block| block * 100, 0), Some(448), "shared memory for each thread");
        assert_eq!(NEEDS.best_block(|_| 50_000, 0), None);
        assert_eq!(Needs { required: 64, ..NEEDS }.best_block(|_| 0, 0), Some(64));
    }
}
