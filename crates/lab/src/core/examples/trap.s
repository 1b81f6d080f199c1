# A program that makes a system call, and the handler that answers it.
        .globl main
        .text
main:   la   t0, handler
        csrw mtvec, t0          # where traps go
        li   a0, 20
        li   a1, 22
        ecall                   # traps: fetch has gone on for four cycles
        mv   s0, a0
        li   t0, 0
        csrw mtvec, t0
        mv   a0, s0
        li   a7, 1              # print a0
        ecall
        li   a7, 10             # exit
        ecall
handler:
        add  a0, a0, a1
        csrr t0, mepc
        addi t0, t0, 4          # behind the ecall
        csrw mepc, t0
        mret
