/* The pointers to the real functions (struct iot_real), as they stand before anything of ours has
 * run: each leads to a lookup of all of them and then on to the function that was asked for. So a wrapper
 * works whoever calls it first: the constructor of another library, or the allocator that
 * the lookup itself uses. */
#if defined(__x86_64__)
#define EVERY(ret, sym, params, version) early sym

        .set    at, 0
        .macro  early sym
        .text
.Learly_\sym:
        endbr64
        movl    $at, %r11d
        jmp     find
        .data
        .quad   .Learly_\sym
        .set    at, at + 8
        .endm

        .data
        .balign 64
        .globl  iot_real
        .hidden iot_real
        .type   iot_real, @object
iot_real:
#include "preload/every.def"
        .size   iot_real, at

        /* All that a caller may have put arguments in stays as it is. */
        .text
        .type   find, @function
find:
        .cfi_startproc
        pushq   %r11
        .cfi_adjust_cfa_offset 8
        .irp    reg, rdi, rsi, rdx, rcx, r8, r9, rax
        pushq   %\reg
        .cfi_adjust_cfa_offset 8
        .endr
        subq    $136, %rsp
        .cfi_adjust_cfa_offset 136
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        movups  %xmm\n, 16*\n(%rsp)
        .endr
        call    iot_real_start
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        movups  16*\n(%rsp), %xmm\n
        .endr
        addq    $136, %rsp
        .cfi_adjust_cfa_offset -136
        .irp    reg, rax, r9, r8, rcx, rdx, rsi, rdi
        popq    %\reg
        .cfi_adjust_cfa_offset -8
        .endr
        popq    %r11
        .cfi_adjust_cfa_offset -8
        leaq    iot_real(%rip), %r10
        jmp     *(%r10, %r11)
        .cfi_endproc
        .size   find, .-find
#endif
        .section .note.GNU-stack,"",@progbits
