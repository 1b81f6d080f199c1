/* Powers modulo a 256-bit number by Montgomery's product (1985), eight words of 32 bits. */
#include "kernel.h"

#define WORDS 8

static u32 modulus[WORDS], base[WORDS], result[WORDS];
static u32 inverse;

static void product(u32 *out, const u32 *a, const u32 *b)
{
    u32 t[WORDS + 2] = { 0 };
    for (int i = 0; i < WORDS; i++) {
        u64 carry = 0;
        for (int j = 0; j < WORDS; j++) {
            carry += (u64)a[j] * b[i] + t[j];
            t[j] = (u32)carry;
            carry >>= 32;
        }
        carry += t[WORDS];
        t[WORDS] = (u32)carry;
        t[WORDS + 1] = (u32)(carry >> 32);
        u32 m = t[0] * inverse;
        carry = (u64)m * modulus[0] + t[0];
        carry >>= 32;
        for (int j = 1; j < WORDS; j++) {
            carry += (u64)m * modulus[j] + t[j];
            t[j - 1] = (u32)carry;
            carry >>= 32;
        }
        carry += t[WORDS];
        t[WORDS - 1] = (u32)carry;
        t[WORDS] = t[WORDS + 1] + (u32)(carry >> 32);
    }
    u64 borrow = 0;
    u32 less[WORDS];
    for (int i = 0; i < WORDS; i++) {
        borrow = (u64)t[i] - modulus[i] - borrow;
        less[i] = (u32)borrow;
        borrow = borrow >> 32 & 1;
    }
    for (int i = 0; i < WORDS; i++)
        out[i] = t[WORDS] >= borrow ? less[i] : t[i];
}

int main(void)
{
    u32 sum = 0;
    for (int i = 0; i < WORDS; i++) {
        modulus[i] = draw() | 1;
        base[i] = draw();
    }
    modulus[WORDS - 1] |= 0x80000000u;
    base[WORDS - 1] &= 0x7fffffffu;
    inverse = 1;
    for (int i = 0; i < 5; i++)
        inverse *= 2 - modulus[0] * inverse;
    inverse = -inverse;
    for (int i = 0; i < WORDS; i++)
        result[i] = base[i];
    for (int bit = 0; bit < 64; bit++) {
        product(result, result, result);
        if (bit % 3)
            product(result, result, base);
    }
    for (int i = 0; i < WORDS; i++)
        sum = sum * 31 + result[i];
    return check(sum, MONTGOMERY);
}
