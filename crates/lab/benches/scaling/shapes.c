/* Limits without a lock: how the work is divided, and what the hardware shares. */
#include "work.h"
#include <sched.h>

enum { OPERATION_US = 60 };

static void operations(struct worker *me)
{
    (void)me;
    while (another())
        compute(OPERATION_US);
}

/* Nothing in the way. */
static void even(void)
{
    threads((long)(work_us / OPERATION_US), operations);
}

/* 30 % is done by main, before there are workers. */
static void serial(void)
{
    compute(0.15 * work_us);
    compute(0.15 * work_us);
    threads((long)(0.7 * work_us / OPERATION_US), operations);
}

static void share(struct worker *me)
{
    /* The first gets twice what each other gets. */
    double all = workers == 1 ? 1.0 : (me->id == 0 ? 2.0 : 1.0) / (double)(workers + 1);
    compute(all * work_us);
}

static void shares(void)
{
    threads(0, share);
}

enum { ROUNDS = 100 };
static pthread_barrier_t meeting;
static int rotating;

static void round_by_round(struct worker *me)
{
    for (long i = 0; i < ROUNDS; i++) {
        int slow = me->id == (rotating ? i % workers : 0);
        double all = workers == 1 ? 1.0 : (slow ? 2.0 : 1.0) / (double)(workers + 1);
        compute(all * work_us / ROUNDS);
        WAIT(me, pthread_barrier_wait(&meeting));
    }
}

static void rounds(void)
{
    pthread_barrier_init(&meeting, NULL, (unsigned)workers);
    threads(0, round_by_round);
}

static void rounds_in_turn(void)
{
    rotating = 1;
    rounds();
}

/* All threads on the first CPU that the program may use. */
static void pinned(void)
{
    cpu_set_t one;
    sched_getaffinity(0, sizeof one, &one);
    for (int cpu = 0, found = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &one) && found++)
            CPU_CLR(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    even();
}

/* Each counts in a number of its own; the numbers of eight workers lie in one cache line. */
static struct {
    volatile uint64_t seen[8];
} counted __attribute__((aligned(64)));

static void count(struct worker *me)
{
    uint64_t x = 1;
    while (another())
        for (int i = 0; i < 3000; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            counted.seen[me->id % 8] += x >> 63;
        }
    sink = x;
}

static void counters(void)
{
    threads((long)(work_us * turns_per_us / 3400), count);
}

enum { BUFFER = 48 << 20, PASSES = 24 };
static pthread_barrier_t filled;

/* Copies a share of a big buffer there and back. */
static void copy_share(struct worker *me)
{
    size_t size = (size_t)(BUFFER / workers) & ~(size_t)4095;
    char *from = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(from, 2 * size, MADV_HUGEPAGE);
    memset(from, 1, 2 * size);
    pthread_barrier_wait(&filled);
    for (int pass = 0; pass < PASSES; pass++)
        memcpy(pass % 2 ? from : from + size, pass % 2 ? from + size : from, size);
    sink = (uint64_t)from[me->id];
}

static void copies(void)
{
    pthread_barrier_init(&filled, NULL, (unsigned)workers);
    threads(0, copy_share);
}

int main(int count, char **words)
{
    static const struct mode modes[] = {
        {"even", even},         {"serial", serial},   {"shares", shares},
        {"rounds", rounds},     {"pinned", pinned},   {"rounds-in-turn", rounds_in_turn},
        {"counters", counters}, {"copies", copies},   {NULL, NULL},
    };
    return planted(count, words, modes);
}
