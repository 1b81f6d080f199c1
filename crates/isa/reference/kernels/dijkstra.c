/* Shortest paths (Dijkstra 1959) from each of 24 nodes, with a list of what is open. */
#include "kernel.h"

#define N 24

static u16 weight[N][N];
static u32 far[N];
static u8 done[N];

static u32 from(int start)
{
    u32 sum = 0;
    for (int i = 0; i < N; i++) {
        far[i] = 1u << 30;
        done[i] = 0;
    }
    far[start] = 0;
    for (int step = 0; step < N; step++) {
        int near = -1;
        for (int i = 0; i < N; i++)
            if (!done[i] && (near < 0 || far[i] < far[near]))
                near = i;
        done[near] = 1;
        sum += far[near];
        for (int i = 0; i < N; i++)
            if (weight[near][i] && far[near] + weight[near][i] < far[i])
                far[i] = far[near] + weight[near][i];
    }
    return sum;
}

int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            weight[i][j] = draw() % 3 ? (u16)(1 + (draw() & 255)) : 0;
    u32 sum = 0;
    for (int i = 0; i < N; i++)
        sum = sum * 31 + from(i);
    return check(sum, DIJKSTRA);
}
