/* All ways to place eight queens, by backtracking with three sets of bits. */
#include "kernel.h"

static u32 place(u32 columns, u32 left, u32 right)
{
    if (columns == 255)
        return 1;
    u32 found = 0;
    u32 open = ~(columns | left | right) & 255;
    while (open) {
        u32 bit = open & -open;
        open ^= bit;
        found += place(columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return found;
}

int main(void)
{
    return check(place(0, 0, 0), 92);
}
