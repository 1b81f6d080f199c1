# Sorts numbers by insertion and prints them.
        .globl main
        .data
numbers:
        .word 42, 7, 19, 3, 88, 61, 25, 14, 70, 1, 56, 33, 97, 12, 49, 8
        .word 64, 27, 5, 91, 38, 76, 22, 53, 11, 84, 30, 67, 2, 45, 79, 16
        .equ COUNT, 32
        .text
main:   la   s0, numbers
        li   s1, COUNT
        mv   a0, s0
        mv   a1, s1
        call sort
print:  lw   a0, 0(s0)
        li   a7, 1              # print a number
        ecall
        li   a0, ' '
        li   a7, 11             # print a character
        ecall
        addi s0, s0, 4
        addi s1, s1, -1
        bnez s1, print
        li   a7, 10             # exit
        ecall

# Sorts a1 words from a0 on.
sort:   li   a2, 1              # how many are in order
outer:  bge  a2, a1, done
        slli a3, a2, 2
        add  a3, a3, a0         # the next one
        lw   a4, 0(a3)
inner:  beq  a3, a0, place
        lw   a5, -4(a3)
        ble  a5, a4, place
        sw   a5, 0(a3)          # moves up
        addi a3, a3, -4
        j    inner
place:  sw   a4, 0(a3)
        addi a2, a2, 1
        j    outer
done:   ret
