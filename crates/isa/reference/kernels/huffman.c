/* Huffman's code (1952) of 1 KiB: lengths by a heap, canonical codes, bits out and back. */
#include "kernel.h"

#define SYMBOLS 32

static u8 text[1024], bits[2048];
static u32 count[2 * SYMBOLS], heap[2 * SYMBOLS], size;
static u8 parent[2 * SYMBOLS], length[SYMBOLS];
static u32 code[SYMBOLS];

static void down(u32 at)
{
    for (;;) {
        u32 child = 2 * at + 1;
        if (child >= size)
            return;
        if (child + 1 < size && count[heap[child + 1]] < count[heap[child]])
            child++;
        if (count[heap[at]] <= count[heap[child]])
            return;
        u32 moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
        at = child;
    }
}

static u32 take(void)
{
    u32 least = heap[0];
    heap[0] = heap[--size];
    down(0);
    return least;
}

static void lengths(void)
{
    size = SYMBOLS;
    for (u32 i = 0; i < SYMBOLS; i++)
        heap[i] = i;
    for (u32 i = SYMBOLS; i-- > 0;)
        down(i);
    u32 made = SYMBOLS;
    while (size > 1) {
        u32 one = take(), two = take();
        count[made] = count[one] + count[two];
        parent[one] = parent[two] = (u8)made;
        heap[size++] = made++;
        for (u32 at = size - 1; at > 0 && count[heap[at]] < count[heap[(at - 1) / 2]]; at = (at - 1) / 2) {
            u32 moved = heap[at];
            heap[at] = heap[(at - 1) / 2];
            heap[(at - 1) / 2] = moved;
        }
    }
    for (u32 i = 0; i < SYMBOLS; i++)
        for (u32 at = i; at != made - 1; at = parent[at])
            length[i]++;
}

int main(void)
{
    for (u32 i = 0; i < sizeof text; i++) {
        u32 drawn = draw();
        text[i] = (u8)(drawn & drawn >> 8 & (SYMBOLS - 1));
    }
    for (u32 i = 0; i < SYMBOLS; i++)
        count[i] = 1;
    for (u32 i = 0; i < sizeof text; i++)
        count[text[i]]++;
    lengths();
    u32 next = 0;
    for (u32 of = 1; of < 32; of++) {
        for (u32 i = 0; i < SYMBOLS; i++)
            if (length[i] == of)
                code[i] = next++;
        next <<= 1;
    }
    u32 out = 0;
    for (u32 i = 0; i < sizeof text; i++)
        for (u32 bit = length[text[i]]; bit-- > 0; out++)
            bits[out / 8] |= (u8)((code[text[i]] >> bit & 1) << out % 8);
    u32 at = 0, sum = out;
    for (u32 i = 0; i < sizeof text; i++) {
        u32 read = 0, symbol = SYMBOLS;
        for (u32 of = 1; symbol == SYMBOLS; of++) {
            read = read << 1 | (bits[at / 8] >> at % 8 & 1);
            at++;
            for (u32 j = 0; j < SYMBOLS; j++)
                if (length[j] == of && code[j] == read)
                    symbol = j;
        }
        if (symbol != text[i])
            return 1;
        sum = sum * 31 + symbol;
    }
    return check(sum, HUFFMAN);
}
