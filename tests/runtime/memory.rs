//! Allocation, pinned memory and registration (MUSA "memory", TOPS 7.1; behaviour.md 3.2 and 3.3).

use gridcl::testing::guard;
use std::ptr::null_mut;

both_dialects! {
    fn an_allocation_is_aligned_and_freed() {
        let _guard = guard();
        let mut pointer = null_mut();
        ok!(unsafe { malloc(&mut pointer, 1000) });
        assert!(pointer.addr().is_multiple_of(256));
        ok!(free(pointer));
        fails!(free(pointer), INVALID_DEVICE_POINTER, "free already");
    }
}
