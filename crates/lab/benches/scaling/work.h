/* What all planted programs share: calibrated work, a team of workers, and their self-check.
 * A program is called as MODE n MILLISECONDS; PLANTED_TURNS says how long a turn of its loop takes.
 * The work is the same whatever n is: what one worker does alone in about that time.
 * The last line is the self-check: the share of the workers' time spent waiting for what was planted. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct worker {
    long id;
    uint64_t seed;
    double waited_us, cpu_us;
    void (*body)(struct worker *);
    pthread_t thread;
};

/* In memory that forked workers share. */
static struct shared {
    atomic_long left;
    struct worker worker[256];
} *shared;

static long workers;
static double turns_per_us, work_us;
static volatile uint64_t sink;

static double clock_us(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return at.tv_sec * 1e6 + at.tv_nsec / 1e3;
}

/* Times what a worker waits for. */
#define WAIT(worker, call)                                        \
    do {                                                          \
        double from_us = clock_us(CLOCK_MONOTONIC);               \
        call;                                                     \
        (worker)->waited_us += clock_us(CLOCK_MONOTONIC) - from_us; \
    } while (0)

/* Turns of a loop that needs nothing but a CPU. */
static void compute(double us)
{
    uint64_t x = 1;
    for (long turn = (long)(us * turns_per_us); turn > 0; turn--)
        x = x * 6364136223846793005u + 1442695040888963407u;
    sink = x;
}

static uint64_t draw(struct worker *me)
{
    me->seed = me->seed * 6364136223846793005u + 1442695040888963407u;
    return me->seed >> 33;
}

/* From 0 to twice the length: sections of equal length would fall into step and never meet. */
__attribute__((unused)) static void about(struct worker *me, double us)
{
    compute(us * 2.0 * (double)draw(me) / (double)(1u << 31));
}

/* Whether the worker gets another operation. */
__attribute__((unused)) static int another(void)
{
    return atomic_fetch_sub(&shared->left, 1) > 0;
}

static void *run(void *argument)
{
    struct worker *me = argument;
    me->body(me);
    me->cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

static void prepare(struct worker *me, long id, void (*body)(struct worker *))
{
    *me = (struct worker){.id = id, .seed = 77 + 1000003 * (uint64_t)id, .body = body};
}

/* Divides the operations among threads. */
__attribute__((unused)) static void threads(long operations, void (*body)(struct worker *))
{
    atomic_store(&shared->left, operations);
    for (long id = 0; id < workers; id++) {
        prepare(&shared->worker[id], id, body);
        pthread_create(&shared->worker[id].thread, NULL, run, &shared->worker[id]);
    }
    for (long id = 0; id < workers; id++)
        pthread_join(shared->worker[id].thread, NULL);
}

/* Divides the operations among processes. */
__attribute__((unused)) static void processes(long operations, void (*body)(struct worker *))
{
    atomic_store(&shared->left, operations);
    for (long id = 0; id < workers; id++) {
        prepare(&shared->worker[id], id, body);
        if (fork() == 0) {
            run(&shared->worker[id]);
            _exit(0);
        }
    }
    while (wait(NULL) > 0)
        ;
}

/* A mode of a program. */
struct mode {
    const char *name;
    void (*plant)(void);
};

static double calibrated(void)
{
    /* The fastest of some: a neighbour makes a turn look slow. */
    turns_per_us = 200;
    double best = 1e18;
    for (int i = 0; i < 40; i++) {
        double from = clock_us(CLOCK_THREAD_CPUTIME_ID);
        compute(500);
        double took = clock_us(CLOCK_THREAD_CPUTIME_ID) - from;
        best = took < best ? took : best;
    }
    return turns_per_us * 500 / best;
}

static int planted(int count, char **words, const struct mode *modes)
{
    const char *turns = getenv("PLANTED_TURNS");
    turns_per_us = turns ? atof(turns) : calibrated();
    if (count == 2 && strcmp(words[1], "calibrate") == 0) {
        printf("%.1f\n", turns_per_us);
        return 0;
    }
    workers = count > 2 ? atol(words[2]) : 1;
    work_us = count > 3 ? atof(words[3]) * 1e3 : 0;
    while (count > 1 && modes->name && strcmp(modes->name, words[1]) != 0)
        modes++;
    if (count < 2 || workers < 1 || workers > 256 || !modes->name)
        return 2;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double began = clock_us(CLOCK_MONOTONIC);
    modes->plant();
    double took = clock_us(CLOCK_MONOTONIC) - began, waited = 0;
    for (long id = 0; id < workers; id++)
        waited += shared->worker[id].waited_us;
    printf("%.1f ms, %.1f %% of the workers' time waited; CPU ms:", took / 1e3,
           100 * waited / (took * (double)workers));
    for (long id = 0; id < workers; id++)
        printf(" %.1f", shared->worker[id].cpu_us / 1e3);
    printf("\n");
    return 0;
}
