//! Recognizes the instructions of x86-64 that read, modify and write memory in one step: those with
//! a `lock` prefix, and `xchg` with memory, which needs none. Also those that read the clock.

/// Returns whether the instruction at the front of `code` is a read-modify-write.
pub(crate) fn is_read_modify_write(code: &[u8]) -> bool {
    const LOCK: u8 = 0xF0;
    let prefixes = [
        LOCK, 0xF2, 0xF3, 0x2E, 0x36, 0x3E, 0x26, 0x64, 0x65, 0x66, 0x67,
    ];
    let length = code
        .iter()
        .take_while(|byte| prefixes.contains(byte))
        .count();
    let (prefixes, rest) = code.split_at(length);
    let opcode = match rest {
        // REX, the last of the prefixes.
        [0x40..=0x4F, opcode @ ..] => opcode,
        opcode => opcode,
    };
    // The two upper bits of the second byte say whether both operands are registers.
    let exchanges = matches!(opcode, [0x86 | 0x87, operands, ..] if operands >> 6 != 3);
    prefixes.contains(&LOCK) || exchanges
}

/// Returns whether the instruction at the front of `code` reads the counter behind the clock.
pub(crate) fn reads_the_clock(code: &[u8]) -> bool {
    matches!(code, [0x0F, 0x31, ..] | [0x0F, 0x01, 0xF9, ..])
}

#[test]
fn locked_instructions_and_exchanges_are_found() {
    let found: [&[u8]; 6] = [
        &[0xF0, 0x48, 0x0F, 0xB1, 0x0F], // lock cmpxchg [rdi], rcx
        &[0xF0, 0xFF, 0x07],             // lock inc dword [rdi]
        &[0x66, 0xF0, 0x0F, 0xC1, 0x07], // lock xadd [rdi], ax
        &[0xF0, 0x83, 0x0C, 0x24, 0x00], // lock or dword [rsp], 0
        &[0x87, 0x07],                   // xchg [rdi], eax
        &[0x48, 0x87, 0x05, 0x01, 0, 0, 0], // xchg [rip + 1], rax
    ];
    assert!(found.iter().all(|code| is_read_modify_write(code)));
}

#[test]
fn others_are_not() {
    let others: [&[u8]; 5] = [
        &[0x87, 0xC8],       // xchg eax, ecx
        &[0x66, 0x90],       // xchg ax, ax, that is, a no-op
        &[0x48, 0x89, 0x07], // mov [rdi], rax
        &[0x0F, 0xAE, 0xF0], // mfence
        &[0x0F, 0xB1, 0x0F], // cmpxchg [rdi], ecx
    ];
    assert!(!others.iter().any(|code| is_read_modify_write(code)));
}

#[test]
fn reads_of_the_clock_are_found() {
    assert!(reads_the_clock(&[0x0F, 0x31, 0x48])); // rdtsc
    assert!(reads_the_clock(&[0x0F, 0x01, 0xF9])); // rdtscp
    assert!(!reads_the_clock(&[0x0F, 0x01, 0xD0])); // xgetbv
    assert!(!reads_the_clock(&[0x0F, 0xAE, 0xE8])); // lfence
}
