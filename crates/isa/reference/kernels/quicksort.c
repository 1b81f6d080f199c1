/* Quicksort (Hoare 1961) with insertion sort of short runs, of 1,500 numbers. */
#include "kernel.h"

static i32 all[1500];

static void insertion(i32 *from, i32 *to)
{
    for (i32 *at = from + 1; at <= to; at++) {
        i32 key = *at;
        i32 *hole = at;
        for (; hole > from && hole[-1] > key; hole--)
            *hole = hole[-1];
        *hole = key;
    }
}

static void sort(i32 *from, i32 *to)
{
    while (to - from > 8) {
        i32 pivot = from[(to - from) / 2];
        i32 *low = from, *high = to;
        while (low <= high) {
            while (*low < pivot)
                low++;
            while (*high > pivot)
                high--;
            if (low <= high) {
                i32 moved = *low;
                *low++ = *high;
                *high-- = moved;
            }
        }
        sort(from, high);
        from = low;
    }
    insertion(from, to);
}

int main(void)
{
    u32 sum = 0;
    for (int i = 0; i < 1500; i++)
        all[i] = (i32)(draw() & 0xffff);
    sort(all, all + 1499);
    for (int i = 0; i < 1500; i++) {
        if (i > 0 && all[i - 1] > all[i])
            return 1;
        sum = sum * 31 + (u32)all[i];
    }
    return check(sum, QUICKSORT);
}
