#!/bin/sh
# Builds every kernel into elf/, by riscv64-unknown-elf-gcc 12.2 (Debian 12).
set -e
for source in *.c; do
    for march in rv32im rv32imc; do
        made=elf/${source%.c}-$march
        riscv64-unknown-elf-gcc -O2 -march=$march -mabi=ilp32 -ffreestanding \
            -fno-tree-loop-distribute-patterns -fno-unwind-tables -fno-asynchronous-unwind-tables \
            -nostdlib -Wl,-e,main -Wl,--build-id=none -o "$made" "$source" -lgcc
        riscv64-unknown-elf-strip -K main -K '__global_pointer$' "$made"
    done
done
