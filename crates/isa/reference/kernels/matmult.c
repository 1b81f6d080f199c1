/* The product of two matrices of 24 x 24 whole numbers. */
#include "kernel.h"

#define N 24

static i32 a[N][N], b[N][N], c[N][N];

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (i32)(draw() & 1023) - 512;
            b[i][j] = (i32)(draw() & 1023) - 512;
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            i32 sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    u32 sum = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum = sum * 31 + (u32)c[i][j];
    return check(sum, MATMULT);
}
