/* Base64 (RFC 4648) of 3 KiB, and back. */
#include "kernel.h"

static const u8 letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static u8 text[3072], coded[4096], value[256];

int main(void)
{
    u32 sum = 0;
    fill(text, sizeof text);
    for (u32 i = 0; i < 64; i++)
        value[letters[i]] = (u8)i;
    for (u32 i = 0, out = 0; i < sizeof text; i += 3) {
        u32 bits = (u32)text[i] << 16 | (u32)text[i + 1] << 8 | text[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6)
            coded[out++] = letters[bits >> shift & 63];
    }
    for (u32 i = 0, at = 0; i < sizeof coded; i += 4, at += 3) {
        u32 bits = 0;
        for (u32 j = 0; j < 4; j++) {
            bits = bits << 6 | value[coded[i + j]];
            sum = sum * 31 + coded[i + j];
        }
        if (text[at] != bits >> 16 || text[at + 1] != (bits >> 8 & 255) || text[at + 2] != (bits & 255))
            return 1;
    }
    return check(sum, BASE64);
}
