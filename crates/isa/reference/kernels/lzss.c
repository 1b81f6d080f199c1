/* LZSS (Storer and Szymanski 1982): 640 bytes compressed with a window of 256 bytes, and back. */
#include "kernel.h"

static u8 text[640], packed[1280], back[640];

static u32 pack(void)
{
    u32 out = 0, at = 0;
    while (at < sizeof text) {
        u32 best = 0, where = 0;
        for (u32 start = at > 255 ? at - 255 : 0; start < at; start++) {
            u32 long_ = 0;
            while (long_ < 17 && at + long_ < sizeof text && text[start + long_] == text[at + long_])
                long_++;
            if (long_ > best) {
                best = long_;
                where = at - start;
            }
        }
        if (best > 2) {
            packed[out++] = (u8)(0x80 | best);
            packed[out++] = (u8)where;
            at += best;
        } else {
            packed[out++] = text[at++];
        }
    }
    return out;
}

int main(void)
{
    for (u32 i = 0; i < sizeof text; i++) {
        u32 drawn = draw();
        text[i] = i > 64 && drawn % 8 ? text[i - 1 - drawn / 8 % 3] : (u8)('a' + drawn % 26);
    }
    u32 size = pack(), at = 0;
    for (u32 i = 0; i < size;) {
        if (packed[i] & 0x80) {
            for (u32 left = packed[i] & 0x7f; left > 0; left--, at++)
                back[at] = back[at - packed[i + 1]];
            i += 2;
        } else {
            back[at++] = packed[i++];
        }
    }
    for (u32 i = 0; i < sizeof text; i++)
        if (back[i] != text[i])
            return 1;
    return check(size, LZSS);
}
