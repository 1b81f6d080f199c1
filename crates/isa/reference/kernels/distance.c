/* The edit distance of two words (Wagner and Fischer 1974), 120 by 120 letters. */
#include "kernel.h"

static u8 one[120], other[120];
static u16 row[121];

int main(void)
{
    for (int i = 0; i < 120; i++) {
        one[i] = (u8)(draw() & 7);
        other[i] = (u8)(draw() & 7);
    }
    for (int j = 0; j <= 120; j++)
        row[j] = (u16)j;
    for (int i = 0; i < 120; i++) {
        u16 before = row[0];
        row[0] = (u16)(i + 1);
        for (int j = 0; j < 120; j++) {
            u16 least = (u16)(before + (one[i] != other[j]));
            before = row[j + 1];
            if (before + 1 < least)
                least = (u16)(before + 1);
            if (row[j] + 1 < least)
                least = (u16)(row[j] + 1);
            row[j + 1] = least;
        }
    }
    return check(row[120], DISTANCE);
}
