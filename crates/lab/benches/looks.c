/* Programs that looks may slow down: argv[1] is what they do. Each takes some tenths of a second. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t sink;

static void compute(long rounds)
{
    uint64_t x = 88172645463325252u;
    while (rounds-- > 0) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    sink = x;
}

static void *work(void *rounds)
{
    compute((long)rounds);
    return NULL;
}

static void together(int count, long rounds)
{
    pthread_t threads[count];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], &small, work, (void *)rounds))
            exit(1);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void *sleeper(void *nothing)
{
    (void)nothing;
    pause();
    return NULL;
}

/* Threads that sleep while two compute. */
static void crowd(int count)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, sleeper, NULL))
            exit(1);
    }
    together(2, 150000000);
}

/* Keeps the calling process to one CPU of those that it may use, counted from 0, if there are so many. */
static void keep_to(int which)
{
    cpu_set_t may, one;
    if (sched_getaffinity(0, sizeof may, &may))
        return;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &may) && which-- == 0)
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* The other process is kept to this CPU. */
static void ping_pong(int times, int other)
{
    int there[2], back[2];
    char byte = 1;
    if (pipe(there) || pipe(back))
        exit(1);
    if (fork() == 0) {
        keep_to(other);
        close(there[1]);
        while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1) {}
        _exit(0);
    }
    keep_to(0);
    for (int i = 0; i < times; i++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            exit(1);
    close(there[1]);
    wait(NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "two-threads"))
        together(2, 200000000);
    else if (!strcmp(what, "short-threads"))
        for (int i = 0; i < 300; i++)
            together(2, 600000);
    else if (!strcmp(what, "short-processes"))
        for (int i = 0; i < 300; i++) {
            if (fork() == 0) {
                compute(600000);
                _exit(0);
            }
            wait(NULL);
        }
    else if (!strcmp(what, "crowd"))
        crowd(2000);
    else if (!strcmp(what, "ping-pong-one-cpu"))
        ping_pong(60000, 0);
    else if (!strcmp(what, "ping-pong-two-cpus"))
        ping_pong(20000, 1);
    else
        return 2;
    return 0;
}
