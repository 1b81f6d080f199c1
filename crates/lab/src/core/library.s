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
    la t1, scruple_pushed
    lw a0, (t1)
    sw zero, (t1)
    addi a0, a0, -256
    bgez a0, 1f
    mv t0, a7
    li a7, 12
    ecall
    mv a7, t0
1:  ret
#: scruple_pushed
# The character that scanf has read and not used, with 256 added; 0 where there is none.
.globl scruple_pushed
.data
scruple_pushed: .word 0
#: scruple_refuses
# Ends the program with a line: a0 is the name of a function, a1 the conversion that it does not answer.
.globl scruple_refuses
scruple_refuses:
    li a7, 4
    ecall
    la a0, .does
    ecall
    li a7, 11
    mv a0, a1
    ecall
    la a0, .end
    li a7, 4
    ecall
    li a0, 127
    li a7, 93
    ecall
.data
.does: .asciz " of scruple does not answer %"
.end: .asciz ", as docs/core.md says\n"
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
1:  lbu t1, (a0)
    addi a0, a0, 1
    addi t3, t1, -' '
    beqz t3, 1b
    addi t3, t1, -9
    sltiu t3, t3, 5
    bnez t3, 1b
    addi t3, t1, -'-'
    beqz t3, 2f
    addi t4, t1, -'+'
    beqz t4, 2f
    addi a0, a0, -1
2:  lbu t1, (a0)
    addi t1, t1, -'0'
    bgeu t1, t2, 3f
    mul t0, t0, t2
    add t0, t0, t1
    addi a0, a0, 1
    j 2b
3:  mv a0, t0
    bnez t3, 4f
    neg a0, a0
4:  ret
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
# s0: the format, s1: the next argument, s2: characters written, s3: the width, s4: the precision or -1, s5: flags
# (1 -, 2 0, 4 +, 8 space, 16 #), s6: the length (-2 hh, -1 h, 1 l, 2 ll), s7: the base, s8: the sign or 0, s9: the
# letter behind a 0 or 0. All of C but %n, wide characters and floating point.
printf:
    addi sp, sp, -160
    sw a1, 132(sp)
    sw a2, 136(sp)
    sw a3, 140(sp)
    sw a4, 144(sp)
    sw a5, 148(sp)
    sw a6, 152(sp)
    sw a7, 156(sp)
    sw s0, 128(sp)
    sw s1, 124(sp)
    sw s2, 120(sp)
    sw s3, 116(sp)
    sw s4, 112(sp)
    sw s5, 108(sp)
    sw s6, 104(sp)
    sw s7, 100(sp)
    sw s8, 96(sp)
    sw s9, 92(sp)
    mv s0, a0
    addi s1, sp, 132
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
    li s4, -1
    li s5, 0
    li s6, 0
    li s8, 0
    li s9, 0
.flag:
    lbu t1, (s0)
    li t0, 1
    addi t2, t1, -'-'
    beqz t2, .set
    li t0, 2
    addi t2, t1, -'0'
    beqz t2, .set
    li t0, 4
    addi t2, t1, -'+'
    beqz t2, .set
    li t0, 8
    addi t2, t1, -' '
    beqz t2, .set
    li t0, 16
    addi t2, t1, -'#'
    bnez t2, .width
.set:
    or s5, s5, t0
    addi s0, s0, 1
    j .flag
.width:
    jal t5, .number
    mv s3, t0
    bgez s3, .dot
    neg s3, s3
    ori s5, s5, 1
.dot:
    lbu t1, (s0)
    addi t1, t1, -'.'
    bnez t1, .length
    addi s0, s0, 1
    jal t5, .number
    mv s4, t0
.length:
    lbu t1, (s0)
    beqz t1, .done
    addi s0, s0, 1
    li t0, 1
    addi t2, t1, -'l'
    beqz t2, .long
    li t0, -1
    addi t2, t1, -'h'
    beqz t2, .long
    li t0, 0
    addi t2, t1, -'z'
    beqz t2, .long
    addi t2, t1, -'t'
    beqz t2, .long
    li t0, 2
    addi t2, t1, -'j'
    bnez t2, .kind
.long:
    add s6, s6, t0
    j .length
.kind:
    li s7, 10
    li t6, 'a' - 10
    li t4, 0
    addi t2, t1, -'%'
    beqz t2, .itself
    addi t2, t1, -'u'
    beqz t2, .integer
    addi t2, t1, -'c'
    beqz t2, .character
    addi t2, t1, -'s'
    beqz t2, .string
    li s7, 8
    addi t2, t1, -'o'
    beqz t2, .integer
    li s7, 16
    addi t2, t1, -'x'
    beqz t2, .integer
    addi t2, t1, -'p'
    beqz t2, .pointer
    li t4, 1
    addi t2, t1, -'d'
    beqz t2, .decimal
    addi t2, t1, -'i'
    beqz t2, .decimal
    li t4, 0
    li t6, 'A' - 10
    addi t2, t1, -'X'
    beqz t2, .integer
    mv a1, t1
    la a0, .name
    tail scruple_refuses
.decimal:
    li s7, 10
    j .integer
.pointer:
    li s9, 'x'
# t4: whether it has a sign. t1 and t0: the number.
.integer:
    li t2, 2
    beq s6, t2, .pair
    lw t0, (s1)
    addi s1, s1, 4
    # h and hh leave 16 and 8 bits.
    bgez s6, 1f
    slli t2, s6, 3
    neg t2, t2
    addi t2, t2, 8
    sll t0, t0, t2
    beqz t4, 2f
    sra t0, t0, t2
    j 1f
2:  srl t0, t0, t2
1:  li t1, 0
    beqz t4, .digits
    srai t1, t0, 31
    j .sign
.pair:
    # Two words, the first of which has an even place.
    sub t0, s1, sp
    addi t0, t0, 7
    andi t0, t0, -8
    add s1, sp, t0
    lw t0, (s1)
    lw t1, 4(s1)
    addi s1, s1, 8
    beqz t4, .digits
.sign:
    bgez t1, 1f
    snez t2, t0
    neg t0, t0
    neg t1, t1
    sub t1, t1, t2
    li s8, '-'
    j .digits
1:  andi t2, s5, 8
    beqz t2, 2f
    li s8, ' '
2:  andi t2, s5, 4
    beqz t2, .digits
    li s8, '+'
.digits:
    addi a1, sp, 88
    li a2, 0
    # A letter stands before what is not 0.
    andi t2, s5, 16
    beqz t2, .digit
    addi t2, s7, -16
    bnez t2, .digit
    or t2, t0, t1
    beqz t2, .digit
    addi s9, t6, 'x' - 'a' + 10
.digit:
    or t2, t0, t1
    beqz t2, .zeros
    bnez t1, 1f
    remu t2, t0, s7
    divu t0, t0, s7
    j 3f
1:  li t2, 0
    li t3, 64
2:  slli t2, t2, 1
    srli a4, t1, 31
    or t2, t2, a4
    slli t1, t1, 1
    srli a4, t0, 31
    or t1, t1, a4
    slli t0, t0, 1
    addi t3, t3, -1
    bltu t2, s7, 4f
    sub t2, t2, s7
    ori t0, t0, 1
4:  bnez t3, 2b
3:  addi a4, t2, '0'
    sltiu t3, t2, 10
    bnez t3, 5f
    add a4, t2, t6
5:  addi a1, a1, -1
    sb a4, (a1)
    addi a2, a2, 1
    j .digit
.zeros:
    # As many as the precision wants; without one, there is a digit.
    mv t0, s4
    bgez t0, 1f
    li t0, 1
1:  sub a5, t0, a2
    bgtz a5, 2f
    li a5, 0
    addi t0, s7, -8
    bnez t0, 2f
    andi t0, s5, 16
    snez a5, t0
2:  bgez s4, 3f
    andi t0, s5, 3
    addi t0, t0, -2
    beqz t0, .fill
3:  andi s5, s5, ~2
    j .fill
.itself:
    mv t0, t1
    j 1f
.character:
    lw t0, (s1)
    addi s1, s1, 4
1:  addi a1, sp, 87
    sb t0, (a1)
    li a2, 1
    j .plain
.string:
    lw a1, (s1)
    addi s1, s1, 4
    bnez a1, 1f
    la a1, .null
1:  li a2, 0
2:  beq a2, s4, .plain
    add t1, a1, a2
    lbu t1, (t1)
    beqz t1, .plain
    addi a2, a2, 1
    j 2b
.plain:
    li a5, 0
    andi s5, s5, 1
# a1: digits or characters, a2: how many, a5: zeros before them.
.fill:
    add t0, a2, a5
    sub s3, s3, t0
    snez t0, s8
    sub s3, s3, t0
    snez t0, s9
    slli t0, t0, 1
    sub s3, s3, t0
    bgtz s3, 1f
    li s3, 0
1:  andi t0, s5, 2
    beqz t0, 2f
    add a5, a5, s3
    li s3, 0
2:  andi t0, s5, 1
    bnez t0, 3f
    mv t0, s3
    li s3, 0
    li a0, ' '
    jal t5, .repeat
3:  beqz s8, 4f
    mv a0, s8
    li t0, 1
    jal t5, .repeat
4:  beqz s9, 5f
    li a0, '0'
    li t0, 1
    jal t5, .repeat
    mv a0, s9
    li t0, 1
    jal t5, .repeat
5:  mv t0, a5
    li a0, '0'
    jal t5, .repeat
    add s2, s2, a2
6:  beqz a2, 7f
    lbu a0, (a1)
    ecall
    addi a1, a1, 1
    addi a2, a2, -1
    j 6b
7:  mv t0, s3
    li a0, ' '
    jal t5, .repeat
    j .next
# Writes a0 t0 times.
.repeat:
    mv t1, a0
1:  blez t0, 2f
    mv a0, t1
    ecall
    addi s2, s2, 1
    addi t0, t0, -1
    j 1b
2:  jr t5
# Reads a number of the format, or an argument for a star, into t0.
.number:
    li t0, 0
    lbu t1, (s0)
    addi t1, t1, -'*'
    bnez t1, 1f
    addi s0, s0, 1
    lw t0, (s1)
    addi s1, s1, 4
    jr t5
1:  lbu t1, (s0)
    addi t1, t1, -'0'
    li t2, 10
    bgeu t1, t2, 2f
    mul t0, t0, t2
    add t0, t0, t1
    addi s0, s0, 1
    j 1b
2:  jr t5
.done:
    mv a0, s2
    lw s0, 128(sp)
    lw s1, 124(sp)
    lw s2, 120(sp)
    lw s3, 116(sp)
    lw s4, 112(sp)
    lw s5, 108(sp)
    lw s6, 104(sp)
    lw s7, 100(sp)
    lw s8, 96(sp)
    lw s9, 92(sp)
    lw a7, 156(sp)
    addi sp, sp, 160
    ret
.data
.null: .asciz "(null)"
.name: .asciz "\nprintf"
#: scanf
.globl scanf
# s0: the format, s1: the next argument, s2: values stored, s3: the next character of the input, -1 at its end, -2
# where it is not read yet, s4: the width, s5: whether nothing is stored, s6: the length. %d %i %u %x %o %p %s %c %%
# with a star, a width, hh, h, l, z and t.
scanf:
    addi sp, sp, -64
    sw a1, 36(sp)
    sw a2, 40(sp)
    sw a3, 44(sp)
    sw a4, 48(sp)
    sw a5, 52(sp)
    sw a6, 56(sp)
    sw a7, 60(sp)
    sw s0, 32(sp)
    sw s1, 28(sp)
    sw s2, 24(sp)
    sw s3, 20(sp)
    sw s4, 16(sp)
    sw s5, 12(sp)
    sw s6, 8(sp)
    mv s0, a0
    addi s1, sp, 36
    li s2, 0
    li a7, 12
    la t0, scruple_pushed
    lw s3, (t0)
    sw zero, (t0)
    addi s3, s3, -256
    bgez s3, .next
    li s3, -2
.next:
    lbu t4, (s0)
    addi s0, s0, 1
    beqz t4, .done
    addi t0, t4, -'%'
    beqz t0, .format
    li t0, ' '
    bgtu t4, t0, .literal
    jal t6, .skip
    j .next
.literal:
    jal t5, .peek
    bltz s3, .end
    bne s3, t4, .done
    li s3, -2
    j .next
.format:
    li s4, 0
    li s5, 0
    li s6, 0
    lbu t4, (s0)
    addi t0, t4, -'*'
    bnez t0, .width
    li s5, 1
    addi s0, s0, 1
.width:
    lbu t4, (s0)
    addi s0, s0, 1
    addi t0, t4, -'0'
    li t1, 10
    bgeu t0, t1, .length
    mul s4, s4, t1
    add s4, s4, t0
    j .width
.longer:
    add s6, s6, t0
    lbu t4, (s0)
    addi s0, s0, 1
.length:
    li t0, 1
    addi t1, t4, -'l'
    beqz t1, .longer
    li t0, -1
    addi t1, t4, -'h'
    beqz t1, .longer
    li t0, 0
    addi t1, t4, -'z'
    beqz t1, .longer
    addi t1, t4, -'t'
    beqz t1, .longer
    addi t0, t4, -'c'
    beqz t0, .character
    bnez s4, 1f
    li s4, -1
1:  addi t0, t4, -'%'
    beqz t0, .percent
    addi t0, t4, -'s'
    beqz t0, .string
    li t0, 2
    beq s6, t0, .refuse
    li a2, 10
    addi t0, t4, -'d'
    beqz t0, .integer
    addi t0, t4, -'u'
    beqz t0, .integer
    li a2, 0
    addi t0, t4, -'i'
    beqz t0, .integer
    li a2, 8
    addi t0, t4, -'o'
    beqz t0, .integer
    li a2, 16
    addi t0, t4, -'x'
    beqz t0, .integer
    addi t0, t4, -'X'
    beqz t0, .integer
    addi t0, t4, -'p'
    beqz t0, .integer
.refuse:
    mv a1, t4
    la a0, .name
    tail scruple_refuses
.percent:
    jal t6, .skip
    j .literal
# a2: the base, 0 where the digits say it, a3: the number, a4: whether it is negative, a5: whether it has a digit.
.integer:
    jal t6, .skip
    bltz s3, .end
    li a3, 0
    li a5, 0
    addi t0, s3, -'-'
    seqz a4, t0
    beqz t0, 1f
    addi t0, s3, -'+'
    bnez t0, 2f
1:  jal t6, .use
2:  andi t0, a2, 15
    bnez t0, 4f
    beqz s4, 4f
    jal t5, .peek
    addi t0, s3, -'0'
    bnez t0, 3f
    jal t6, .use
    li a5, 1
    jal t5, .peek
    ori t0, s3, 32
    addi t0, t0, -'x'
    seqz t1, s4
    or t0, t0, t1
    bnez t0, 5f
    jal t6, .use
    li a5, 0
    li a2, 16
5:  bnez a2, 4f
    li a2, 8
3:  bnez a2, 4f
    li a2, 10
4:  beqz s4, .number
    jal t5, .peek
    addi t0, s3, -'0'
    li t1, 10
    bltu t0, t1, 6f
    ori t0, s3, 32
    addi t0, t0, -'a'
    li t1, 26
    bgeu t0, t1, .number
    addi t0, t0, 10
6:  bgeu t0, a2, .number
    mul a3, a3, a2
    add a3, a3, t0
    li a5, 1
    jal t6, .use
    j 4b
.number:
    beqz a5, .done
    beqz a4, 1f
    neg a3, a3
1:  bnez s5, .next
    lw a1, (s1)
    addi s1, s1, 4
    addi s2, s2, 1
    li t0, -1
    beq s6, t0, 2f
    bltz s6, 3f
    sw a3, (a1)
    j .next
2:  sh a3, (a1)
    j .next
3:  sb a3, (a1)
    j .next
.string:
    jal t6, .skip
    bltz s3, .end
    jal t6, .target
1:  beqz s4, 2f
    jal t5, .peek
    bltz s3, 2f
    addi t0, s3, -' '
    beqz t0, 2f
    addi t0, s3, -9
    sltiu t0, t0, 5
    bnez t0, 2f
    jal t4, .store
    j 1b
2:  bnez s5, .next
    sb zero, (a1)
    addi s2, s2, 1
    j .next
.character:
    bnez s4, 1f
    li s4, 1
1:  jal t5, .peek
    bltz s3, .end
    jal t6, .target
2:  jal t4, .store
    beqz s4, 3f
    jal t5, .peek
    bgez s3, 2b
3:  bnez s5, .next
    addi s2, s2, 1
    j .next
# Takes the address of an argument into a1.
.target:
    bnez s5, 1f
    lw a1, (s1)
    addi s1, s1, 4
1:  jr t6
# Stores the next character.
.store:
    bnez s5, 1f
    sb s3, (a1)
    addi a1, a1, 1
1:  jal t6, .use
    jr t4
.use:
    li s3, -2
    addi s4, s4, -1
    jr t6
.skip:
    jal t5, .peek
    addi t0, s3, -' '
    beqz t0, 1f
    addi t0, s3, -9
    sltiu t0, t0, 5
    bnez t0, 1f
    jr t6
1:  li s3, -2
    j .skip
.peek:
    addi t0, s3, 2
    bnez t0, 1f
    ecall
    mv s3, a0
1:  jr t5
.end:
    bnez s2, .done
    li s2, -1
.done:
    bltz s3, 1f
    addi s3, s3, 256
    la t0, scruple_pushed
    sw s3, (t0)
1:  mv a0, s2
    lw s0, 32(sp)
    lw s1, 28(sp)
    lw s2, 24(sp)
    lw s3, 20(sp)
    lw s4, 16(sp)
    lw s5, 12(sp)
    lw s6, 8(sp)
    lw a7, 60(sp)
    addi sp, sp, 64
    ret
.data
.name: .asciz "\nscanf"
