/* Programs whose limit is known: planted MODE n MILLISECONDS. The work is the same whatever n is:
 * what one worker does alone in about so many milliseconds. The last line tells the operations. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPERATION_US = 60, LINES = 1 << 20, MIX = 4096 };

static atomic_long left;
static atomic_int spinning;
static pthread_mutex_t sleeping = PTHREAD_MUTEX_INITIALIZER;
static double turns_per_us;
static volatile uint64_t sink;
static char mode;
static pthread_barrier_t filled;
static unsigned char *memory;
static long workers;

static double now_us(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return at.tv_sec * 1e6 + at.tv_nsec / 1e3;
}

/* Turns of a loop that needs nothing but a CPU. */
static void compute(double us)
{
    uint64_t x = 1;
    for (long turn = (long)(us * turns_per_us); turn > 0; turn--)
        x = x * 6364136223846793005u + 1442695040888963407u;
    sink = x;
}

/* From 0 to twice the length: sections of equal length would fall into step and never meet. */
static double about(double us, uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return us * 2.0 * (double)(*seed >> 40) / (double)(1 << 24);
}

static void lock_spinning(void)
{
    while (atomic_exchange_explicit(&spinning, 1, memory_order_acquire))
        while (atomic_load_explicit(&spinning, memory_order_relaxed))
#if defined(__x86_64__)
            __builtin_ia32_pause();
#else
            ;
#endif
}

static void *work(void *argument)
{
    long id = (long)argument;
    uint64_t seed = 77 + (uint64_t)id;
    if (mode == 'b') {
        /* Each fills its share, so that no part is done alone, and n workers fill as much as one. */
        long from = LINES / workers * id;
        memset(memory + 64 * from, 1, 64 * (size_t)(LINES / workers));
        pthread_barrier_wait(&filled);
    }
    if (mode == 'o') {
        cpu_set_t one;
        CPU_ZERO(&one);
        sched_getaffinity(0, sizeof one, &one);
        for (int cpu = 0, found = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &one) && found++)
                CPU_CLR(cpu, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    }
    while (atomic_fetch_sub(&left, 1) > 0) {
        double half = OPERATION_US / 2.0;
        switch (mode) {
        case 'm': /* a mutex for half of the work */
            compute(about(half, &seed));
            pthread_mutex_lock(&sleeping);
            compute(about(half, &seed));
            pthread_mutex_unlock(&sleeping);
            break;
        case 's': /* a spinning lock for half of the work */
            compute(about(half, &seed));
            lock_spinning();
            compute(about(half, &seed));
            atomic_store_explicit(&spinning, 0, memory_order_release);
            break;
        case 'b': { /* lines of memory, read in no order: nothing else */
            uint64_t sum = 0;
            for (int i = 0; i < MIX; i++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                sum += memory[64 * (seed >> 44)];
            }
            sink = sum;
            break;
        }
        default: /* nothing but a CPU */
            compute(OPERATION_US);
        }
    }
    return NULL;
}

static void calibrate(void)
{
    /* The fastest of some: a neighbour makes a turn look slow. */
    turns_per_us = 200;
    double best = 1e18;
    for (int i = 0; i < 8; i++) {
        double from = now_us();
        compute(500);
        double took = now_us() - from;
        if (took < best)
            best = took;
    }
    turns_per_us *= 500 / best;
}

int main(int count, char **words)
{
    if (count < 4)
        return 2;
    long n = atol(words[2]);
    double us = atof(words[3]) * 1e3;
    pthread_t threads[256];
    mode = words[1][0];
    if (n < 1 || n > 256)
        return 2;
    /* The same number of turns in each trial: what a turn takes is told from outside. */
    const char *turns = getenv("PLANTED_TURNS");
    if (turns)
        turns_per_us = atof(turns);
    else
        calibrate();
    if (mode == 'c') {
        printf("%.1f\n", turns_per_us);
        return 0;
    }
    workers = n;
    if (mode == 'b') {
        memory = malloc((size_t)LINES * 64);
        pthread_barrier_init(&filled, NULL, (unsigned)n);
    }
    long operations = (long)(us / OPERATION_US);
    if (mode == 'a') /* Amdahl: a tenth is done by main alone */
        for (long i = 0; i < operations / 10; i++)
            compute(OPERATION_US);
    atomic_store(&left, mode == 'a' ? operations - operations / 10 : operations);
    for (long id = 0; id < n; id++)
        pthread_create(&threads[id], NULL, work, (void *)id);
    for (long id = 0; id < n; id++)
        pthread_join(threads[id], NULL);
    printf("operations: %ld\n", operations);
    return 0;
}
