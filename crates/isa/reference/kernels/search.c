/* Boyer-Moore-Horspool (1980): a word in 8 KiB of text, for several words. */
#include "kernel.h"

static u8 text[8192];

static u32 find(const u8 *word, u32 length)
{
    u8 skip[256];
    u32 found = 0;
    for (int i = 0; i < 256; i++)
        skip[i] = (u8)length;
    for (u32 i = 0; i + 1 < length; i++)
        skip[word[i]] = (u8)(length - 1 - i);
    for (u32 at = 0; at + length <= sizeof text; at += skip[text[at + length - 1]]) {
        u32 i = length;
        while (i > 0 && text[at + i - 1] == word[i - 1])
            i--;
        found += i == 0;
    }
    return found;
}

int main(void)
{
    u32 sum = 0;
    for (u32 i = 0; i < sizeof text; i++)
        text[i] = (u8)('a' + (draw() & 3));
    for (u32 length = 2; length < 10; length++)
        sum = sum * 31 + find(text + 100 * length, length);
    return check(sum, SEARCH);
}
