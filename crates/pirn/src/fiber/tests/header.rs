//! Tests the layout of a header. Not built under sanitizers, where a context is larger.

use crate::fiber::header::{Header, PAYLOAD_OFFSET};

#[test]
fn a_header_is_three_lines_and_its_least_payload_one() {
    assert_eq!((PAYLOAD_OFFSET, Header::payload_size(0)), (192, 64));
}
