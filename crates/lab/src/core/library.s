# Functions of C for programs that call them without having them. Each part begins with a line of its names; only the
# parts that are called are assembled. All keep a7, by which programs for Venus and RARS choose calls.
#: exit _exit
.globl exit, _exit
exit:
_exit:
    li a7, 93
    ecall
#: putchar
.globl putchar
putchar:
    mv t0, a7
    li a7, 11
    ecall
    mv a7, t0
    ret
#: getchar
.globl getchar
getchar:
    mv t0, a7
    li a7, 12
    ecall
    mv a7, t0
    ret
#: puts
.globl puts
puts:
    mv t0, a7
    li a7, 4
    ecall
    li a0, '\n'
    li a7, 11
    ecall
    mv a7, t0
    ret
#: malloc
.globl malloc
malloc:
    mv t0, a7
    addi a0, a0, 15
    andi a0, a0, -16
    li a7, 9
    ecall
    mv a7, t0
    li t0, -1
    bne a0, t0, 1f
    li a0, 0
1:  ret
#: calloc
.globl calloc
calloc:
    mul a0, a0, a1
    tail malloc
#: free
.globl free
free:
    ret
#: strlen
.globl strlen
strlen:
    mv t0, a0
1:  lbu t1, (t0)
    addi t0, t0, 1
    bnez t1, 1b
    sub a0, t0, a0
    addi a0, a0, -1
    ret
#: strcpy
.globl strcpy
strcpy:
    mv t0, a0
1:  lbu t1, (a1)
    sb t1, (t0)
    addi a1, a1, 1
    addi t0, t0, 1
    bnez t1, 1b
    ret
#: strncpy
.globl strncpy
strncpy:
    mv t0, a0
1:  beqz a2, 2f
    lbu t1, (a1)
    sb t1, (t0)
    addi t0, t0, 1
    addi a2, a2, -1
    beqz t1, 1b
    addi a1, a1, 1
    j 1b
2:  ret
#: strcat
.globl strcat
strcat:
    mv t0, a0
1:  lbu t1, (t0)
    beqz t1, 2f
    addi t0, t0, 1
    j 1b
2:  lbu t1, (a1)
    sb t1, (t0)
    addi a1, a1, 1
    addi t0, t0, 1
    bnez t1, 2b
    ret
#: strcmp
.globl strcmp
strcmp:
    lbu t0, (a0)
    lbu t1, (a1)
    bne t0, t1, 1f
    addi a0, a0, 1
    addi a1, a1, 1
    bnez t0, strcmp
1:  sub a0, t0, t1
    ret
#: memcpy
.globl memcpy
memcpy:
    mv t0, a0
1:  beqz a2, 2f
    lbu t1, (a1)
    sb t1, (t0)
    addi a1, a1, 1
    addi t0, t0, 1
    addi a2, a2, -1
    j 1b
2:  ret
#: memset
.globl memset
memset:
    mv t0, a0
1:  beqz a2, 2f
    sb a1, (t0)
    addi t0, t0, 1
    addi a2, a2, -1
    j 1b
2:  ret
#: atoi
.globl atoi
atoi:
    li t0, 0
    li t2, 10
    lbu t1, (a0)
    addi t3, t1, -'-'
    bnez t3, 1f
    addi a0, a0, 1
1:  lbu t1, (a0)
    addi t1, t1, -'0'
    bgeu t1, t2, 2f
    mul t0, t0, t2
    add t0, t0, t1
    addi a0, a0, 1
    j 1b
2:  mv a0, t0
    bnez t3, 3f
    neg a0, a0
3:  ret
#: abs
.globl abs
abs:
    bgez a0, 1f
    neg a0, a0
1:  ret
#: rand
.globl rand
rand:
    mv t0, a7
    li a7, 41
    ecall
    mv a7, t0
    slli a0, a0, 1
    srli a0, a0, 1
    ret
#: srand
.globl srand
srand:
    mv t0, a7
    mv a1, a0
    li a7, 40
    ecall
    mv a7, t0
    ret
#: printf
.globl printf
# s0: the format, s1: the next argument, s2: characters written, s3: the width, s4: what fills it, s5: whether the
# filling stands behind. %d %i %u %x %X %p %c %s %% with a width, - and 0.
printf:
    addi sp, sp, -96
    sw a1, 68(sp)
    sw a2, 72(sp)
    sw a3, 76(sp)
    sw a4, 80(sp)
    sw a5, 84(sp)
    sw a6, 88(sp)
    sw a7, 92(sp)
    sw s0, 60(sp)
    sw s1, 56(sp)
    sw s2, 52(sp)
    sw s3, 48(sp)
    sw s4, 44(sp)
    sw s5, 40(sp)
    mv s0, a0
    addi s1, sp, 68
    li s2, 0
    li a7, 11
.next:
    lbu a0, (s0)
    addi s0, s0, 1
    beqz a0, .done
    li t0, '%'
    beq a0, t0, .format
    ecall
    addi s2, s2, 1
    j .next
.format:
    li s3, 0
    li s4, ' '
    li s5, 0
.option:
    lbu t1, (s0)
    beqz t1, .done
    addi s0, s0, 1
    addi t2, t1, -'-'
    beqz t2, .behind
    addi t2, t1, -'l'
    beqz t2, .option
    addi t2, t1, -'h'
    beqz t2, .option
    addi t2, t1, -'z'
    beqz t2, .option
    addi t2, t1, -'0'
    li t3, 10
    bgeu t2, t3, .kind
    or t4, t2, s3
    beqz t4, .zeros
    mul s3, s3, t3
    add s3, s3, t2
    j .option
.behind:
    li s5, 1
    j .option
.zeros:
    li s4, '0'
    j .option
.kind:
    addi a1, sp, 32
    li a2, 0
    li t5, 0
    li t6, 'a' - 10
    addi t2, t1, -'%'
    beqz t2, .itself
    lw t0, (s1)
    addi s1, s1, 4
    addi t2, t1, -'c'
    beqz t2, .character
    addi t2, t1, -'s'
    beqz t2, .string
    li t3, 10
    addi t2, t1, -'u'
    beqz t2, .digits
    addi t2, t1, -'d'
    beqz t2, .signed
    addi t2, t1, -'i'
    beqz t2, .signed
    li t3, 16
    addi t2, t1, -'x'
    beqz t2, .digits
    addi t2, t1, -'p'
    beqz t2, .digits
    li t6, 'A' - 10
    addi t2, t1, -'X'
    beqz t2, .digits
    addi s1, s1, -4
.itself:
    mv t0, t1
.character:
    addi a1, a1, -1
    sb t0, (a1)
    li a2, 1
    j .fill
.string:
    mv a1, t0
1:  add t1, a1, a2
    lbu t1, (t1)
    beqz t1, .fill
    addi a2, a2, 1
    j 1b
.signed:
    bgez t0, .digits
    neg t0, t0
    li t5, '-'
.digits:
    remu t1, t0, t3
    divu t0, t0, t3
    li t2, 10
    addi t4, t1, '0'
    bltu t1, t2, 1f
    add t4, t1, t6
1:  addi a1, a1, -1
    addi a2, a2, 1
    sb t4, (a1)
    bnez t0, .digits
    beqz t5, .fill
    # The sign stands before zeros, and behind spaces.
    addi t1, s4, -'0'
    bnez t1, 2f
    bnez s5, 2f
    mv a0, t5
    ecall
    addi s2, s2, 1
    addi s3, s3, -1
    j .fill
2:  addi a1, a1, -1
    addi a2, a2, 1
    sb t5, (a1)
.fill:
    sub t0, s3, a2
    bnez s5, .write
1:  blez t0, .write
    mv a0, s4
    ecall
    addi s2, s2, 1
    addi t0, t0, -1
    j 1b
.write:
    add s2, s2, a2
1:  blez a2, 2f
    lbu a0, (a1)
    ecall
    addi a1, a1, 1
    addi a2, a2, -1
    j 1b
2:  beqz s5, .next
3:  blez t0, .next
    li a0, ' '
    ecall
    addi s2, s2, 1
    addi t0, t0, -1
    j 3b
.done:
    mv a0, s2
    lw s0, 60(sp)
    lw s1, 56(sp)
    lw s2, 52(sp)
    lw s3, 48(sp)
    lw s4, 44(sp)
    lw s5, 40(sp)
    lw a7, 92(sp)
    addi sp, sp, 96
    ret
#: scanf
.globl scanf
# t0: the format, t1: the next argument, t2: values read, t3: the character that was read and not used. %d %i %u %c %s.
.data
.unused: .word 0
.text
scanf:
    addi sp, sp, -32
    sw a1, 4(sp)
    sw a2, 8(sp)
    sw a3, 12(sp)
    sw a4, 16(sp)
    sw a5, 20(sp)
    sw a6, 24(sp)
    sw a7, 28(sp)
    mv t0, a0
    addi t1, sp, 4
    li t2, 0
    la t6, .unused
    lw t3, (t6)
    li a7, 12
    # 0 is no character; they are kept with 256 added.
    bnez t3, .next
    ecall
    addi t3, a0, 256
.next:
    lbu t4, (t0)
    addi t0, t0, 1
    beqz t4, .done
    li t5, '%'
    beq t4, t5, .kind
    li t5, ' '
    bleu t4, t5, .spaces
    addi t5, t4, 256
    bne t3, t5, .done
    ecall
    addi t3, a0, 256
    j .next
.spaces:
    addi t5, t3, -256
    bltz t5, .next
    li t4, ' '
    bgtu t5, t4, .next
    ecall
    addi t3, a0, 256
    j .spaces
.kind:
    lbu t4, (t0)
    addi t0, t0, 1
    lw a1, (t1)
    addi t1, t1, 4
    li a2, 'c'
    beq t4, a2, .character
1:  addi t5, t3, -256
    bltz t5, .end
    li a3, ' '
    bgtu t5, a3, 2f
    ecall
    addi t3, a0, 256
    j 1b
2:  li a2, 's'
    beq t4, a2, .string
    li a4, 0
    li a5, 0
    li a6, 10
    addi t5, t3, -256 - '-'
    seqz a4, t5
    beqz a4, 3f
    ecall
    addi t3, a0, 256
3:  addi t5, t3, -256 - '0'
    bgeu t5, a6, 4f
    mul a5, a5, a6
    add a5, a5, t5
    li a2, 1
    ecall
    addi t3, a0, 256
    j 3b
4:  li t5, 1
    bne a2, t5, .done
    beqz a4, 5f
    neg a5, a5
5:  sw a5, (a1)
    addi t2, t2, 1
    j .next
.string:
    addi t5, t3, -256
    li a3, ' '
    bltz t5, 6f
    bleu t5, a3, 6f
    sb t5, (a1)
    addi a1, a1, 1
    ecall
    addi t3, a0, 256
    j .string
6:  sb zero, (a1)
    addi t2, t2, 1
    j .next
.character:
    addi t5, t3, -256
    bltz t5, .end
    sb t5, (a1)
    addi t2, t2, 1
    ecall
    addi t3, a0, 256
    j .next
.end:
    bnez t2, .done
    li t2, -1
.done:
    sw t3, (t6)
    mv a0, t2
    lw a7, 28(sp)
    addi sp, sp, 32
    ret
