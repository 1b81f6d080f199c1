volatile unsigned sink;

__attribute__((noinline)) unsigned kernel(unsigned x) {
    unsigned s = 0;
    for (int i = 0; i < 1024; i++) {
        s += (x & 1) ? 3 : 7;
        s ^= x << 1;
        s += 5;
        s ^= x >> 2;
        s += 9;
        x += s;
    }
    return s;
}

int main(void) {
    unsigned sum = 0;
    for (unsigned x = 0; x < 10; x++)
        sum += kernel(x);
    sink = sum;
    return 0;
}
