/* vfork returns twice on one stack, and what it returns into must still be there the second time: its
 * caller's frame, but none of its own. So the return address waits in a register that the
 * system call leaves alone, and C is only called before and after. */
#if defined(__x86_64__)
        .text
        .globl  vfork
        .type   vfork, @function
vfork:
        .cfi_startproc
        endbr64
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    iot_vfork_before
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        .cfi_register %rip, %rdx
        movl    $58, %eax
        syscall
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rip, 0
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq    %rax, %rdi
        call    iot_vfork_after
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .size   vfork, .-vfork
#endif
        .section .note.GNU-stack,"",@progbits
