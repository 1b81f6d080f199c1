/* A finite impulse response filter of 32 taps over 1,024 samples, in fixed point. */
#include "kernel.h"

static i32 taps[32], samples[1024 + 32], out[1024];

int main(void)
{
    for (int i = 0; i < 32; i++)
        taps[i] = (i32)(draw() & 0xfff) - 2048;
    for (int i = 0; i < 1024 + 32; i++)
        samples[i] = (i32)(draw() & 0xfff) - 2048;
    for (int i = 0; i < 1024; i++) {
        i32 sum = 1 << 11;
        for (int tap = 0; tap < 32; tap++)
            sum += taps[tap] * samples[i + tap];
        out[i] = sum >> 12;
    }
    u32 sum = 0;
    for (int i = 0; i < 1024; i++)
        sum = sum * 31 + (u32)out[i];
    return check(sum, FIR);
}
