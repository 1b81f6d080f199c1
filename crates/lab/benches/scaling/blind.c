/* Small concurrent programs. Called as MODE n MILLISECONDS: n workers share what takes one worker about that long.
 * PLANTED_TURNS: turns of the loop in a microsecond; without it they are measured. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 64

static long workers;
static double turns_per_us, work_us;
static __thread volatile uint64_t sink;
static atomic_long left;

static void must(int went_well, const char *what)
{
    if (!went_well) {
        perror(what);
        exit(1);
    }
}

static double clock_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void compute(double us)
{
    uint64_t x = 1;
    for (long turn = (long)(us * turns_per_us); turn > 0; turn--)
        x = x * 6364136223846793005u + 1442695040888963407u;
    sink = x;
}

static void nap(double us)
{
    struct timespec t = {(time_t)(us / 1e6), 0};
    t.tv_nsec = (long)((us - (double)t.tv_sec * 1e6) * 1e3);
    nanosleep(&t, NULL);
}

static void put(int fd, const void *from, size_t size)
{
    must(write(fd, from, size) == (ssize_t)size, "write");
}

static void start(pthread_t *thread, void *(*body)(void *), long me)
{
    must(pthread_create(thread, NULL, body, (void *)me) == 0, "pthread_create");
}

static void team(void *(*body)(void *))
{
    pthread_t t[MOST];
    for (long i = 0; i < workers; i++)
        start(&t[i], body, i);
    for (long i = 0; i < workers; i++)
        pthread_join(t[i], NULL);
}

/* Nothing is planted: the main thread is one of the workers; each 20 us item is drawn under a mutex held for nanoseconds. */
static pthread_mutex_t postings_lock = PTHREAD_MUTEX_INITIALIZER;
static long postings_next, postings_all;
static void *postings_worker(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&postings_lock);
        long mine = postings_next++;
        pthread_mutex_unlock(&postings_lock);
        if (mine >= postings_all)
            return NULL;
        compute(10 + (double)(mine * 2654435761u % 21));
    }
}

static void postings(void)
{
    pthread_t t[MOST];
    postings_all = (long)(work_us / 20);
    for (long i = 1; i < workers; i++)
        start(&t[i], postings_worker, i);
    postings_worker(NULL);
    for (long i = 1; i < workers; i++)
        pthread_join(t[i], NULL);
}

/* Nothing is planted: as make -j n, a forked process per target of 5 ms; the parent waits in wait(). */
static void make(void)
{
    long targets = (long)(work_us / 5000), running = 0;
    for (long i = 0; i < targets; i++) {
        for (; running == workers; running--)
            wait(NULL);
        pid_t child = fork();
        must(child >= 0, "fork");
        if (child == 0) {
            compute(5000);
            _exit(0);
        }
        running++;
    }
    for (; running > 0; running--)
        wait(NULL);
}

/* Nothing is planted: main waits in poll and keeps two requests of 1 ms at each worker; a rwlock with mostly readers. */
static int desk[MOST][2];
static pthread_rwlock_t quotes_rw = PTHREAD_RWLOCK_INITIALIZER;
static long latest[64];
static void *quotes_worker(void *argument)
{
    int fd = desk[(long)argument][1];
    long job, seen = 0;
    while (read(fd, &job, sizeof job) == (ssize_t)sizeof job && job >= 0) {
        for (int i = 0; i < 50; i++) {
            pthread_rwlock_rdlock(&quotes_rw);
            seen += latest[(job + i) % 64];
            compute(4);
            pthread_rwlock_unlock(&quotes_rw);
            compute(16);
        }
        if (job % 10 == 9) {
            pthread_rwlock_wrlock(&quotes_rw);
            latest[job % 64] = seen;
            compute(10);
            pthread_rwlock_unlock(&quotes_rw);
        }
        put(fd, &job, sizeof job);
    }
    return NULL;
}

static void quotes(void)
{
    long jobs = (long)(work_us / 1000), next = 0, done = 0;
    struct pollfd ready[MOST];
    pthread_t t[MOST];
    for (long i = 0; i < workers; i++) {
        must(socketpair(AF_UNIX, SOCK_STREAM, 0, desk[i]) == 0, "socketpair");
        ready[i] = (struct pollfd){.fd = desk[i][0], .events = POLLIN};
        start(&t[i], quotes_worker, i);
        for (int k = 0; k < 2 && next < jobs; k++, next++)
            put(desk[i][0], &next, sizeof next);
    }
    while (done < jobs) {
        must(poll(ready, (nfds_t)workers, -1) >= 0, "poll");
        for (long i = 0; i < workers; i++) {
            long job;
            if (!(ready[i].revents & POLLIN))
                continue;
            must(read(ready[i].fd, &job, sizeof job) == (ssize_t)sizeof job, "read");
            done++;
            job = next++;
            if (job < jobs)
                put(ready[i].fd, &job, sizeof job);
        }
    }
    long stop = -1;
    for (long i = 0; i < workers; i++) {
        put(desk[i][0], &stop, sizeof stop);
        pthread_join(t[i], NULL);
    }
}

/* Nothing is planted: new threads in each of 20 rounds, equal shares; a watchdog spins for 50 us every 2 ms. */
static atomic_int annealed;
static void *annealing_worker(void *unused)
{
    compute(work_us / 20 / (double)workers);
    return NULL;
}

static void *watchdog(void *unused)
{
    while (!atomic_load(&annealed)) {
        for (double from = clock_us(CLOCK_MONOTONIC); clock_us(CLOCK_MONOTONIC) < from + 50;)
            ;
        nap(2000);
    }
    return NULL;
}

static void annealing(void)
{
    pthread_t dog;
    start(&dog, watchdog, 0);
    for (int round = 0; round < 20; round++)
        team(annealing_worker);
    atomic_store(&annealed, 1);
    pthread_join(dog, NULL);
}

/* A mutex taken rarely and held long: 8 ms of each 10 ms; a serial load of a tenth of all comes first and matters less. */
static pthread_mutex_t snapshot_lock = PTHREAD_MUTEX_INITIALIZER;
static void *wiki_worker(void *unused)
{
    while (atomic_fetch_sub(&left, 1) > 0) {
        compute(2000);
        pthread_mutex_lock(&snapshot_lock);
        compute(8000);
        pthread_mutex_unlock(&snapshot_lock);
    }
    return NULL;
}

static void wiki(void)
{
    compute(0.1 * work_us);
    atomic_store(&left, (long)(0.9 * work_us / 10000));
    team(wiki_worker);
}

/* A token bucket, one token per 4 ms, whose nanosleep is under the mutex; a token is good for 0.3 ms of computing. */
static pthread_mutex_t bucket_lock = PTHREAD_MUTEX_INITIALIZER;
static double next_token_us;
static void *bucket_worker(void *unused)
{
    while (atomic_fetch_sub(&left, 1) > 0) {
        pthread_mutex_lock(&bucket_lock);
        double now = clock_us(CLOCK_MONOTONIC);
        if (now < next_token_us) {
            nap(next_token_us - now);
            now = next_token_us;
        }
        next_token_us = now + 4000;
        pthread_mutex_unlock(&bucket_lock);
        compute(300);
    }
    return NULL;
}

static void bucket(void)
{
    atomic_store(&left, (long)(work_us / 4000));
    team(bucket_worker);
}

/* Unequal shares: the first worker's uploads (it sleeps 5 ms each) are 0.7 of all, the others compute the 0.3. */
static void *backup_worker(void *argument)
{
    long me = (long)argument;
    if (me == 0)
        for (long i = (long)(0.7 * work_us / 5000); i > 0; i--)
            nap(5000);
    if (me > 0 || workers == 1)
        compute(0.3 * work_us / (double)(workers > 1 ? workers - 1 : 1));
    return NULL;
}

/* Three stages by socketpairs: a reader, n filters and, in the main thread, an encoder, which is the slow stage. */
struct block { long number; char payload[4096]; };
static int to_filter[2], to_encoder[2];
static atomic_long filters;
static void *transcoder_reader(void *unused)
{
    struct block b = {0};
    for (long blocks = (long)(work_us / 1000); b.number < blocks; b.number++) {
        compute(150);
        put(to_filter[0], &b, sizeof b);
    }
    shutdown(to_filter[0], SHUT_WR);
    return NULL;
}

static void *transcoder_filter(void *unused)
{
    struct block b;
    while (read(to_filter[1], &b, sizeof b) == (ssize_t)sizeof b) {
        compute(150);
        put(to_encoder[0], &b, sizeof b);
    }
    if (atomic_fetch_sub(&filters, 1) == 1)
        shutdown(to_encoder[0], SHUT_WR);
    return NULL;
}

static void transcoder(void)
{
    pthread_t reader, t[MOST];
    int room = 16384;
    struct block b;
    must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, to_filter) == 0, "socketpair");
    must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, to_encoder) == 0, "socketpair");
    setsockopt(to_filter[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    setsockopt(to_encoder[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    atomic_store(&filters, workers);
    start(&reader, transcoder_reader, 0);
    for (long i = 0; i < workers; i++)
        start(&t[i], transcoder_filter, i);
    while (read(to_encoder[1], &b, sizeof b) == (ssize_t)sizeof b)
        compute(1000);
    pthread_join(reader, NULL);
    for (long i = 0; i < workers; i++)
        pthread_join(t[i], NULL);
}

/* The main thread produces an item in 30 ms and tells all by broadcast; the n consumers need 10 ms for it and wait. */
static pthread_mutex_t tiles_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t tiles_changed = PTHREAD_COND_INITIALIZER;
static long tiles_queued;
static int tiles_over;
static void *tiles_consumer(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&tiles_lock);
        while (tiles_queued == 0 && !tiles_over)
            pthread_cond_wait(&tiles_changed, &tiles_lock);
        int over = tiles_queued == 0;
        tiles_queued -= !over;
        pthread_mutex_unlock(&tiles_lock);
        if (over)
            return NULL;
        compute(10000);
    }
}

static void tiles(void)
{
    pthread_t t[MOST];
    for (long i = 0; i < workers; i++)
        start(&t[i], tiles_consumer, i);
    for (long i = (long)(work_us / 30000); i >= 0; i--) {
        if (i > 0)
            compute(30000);
        pthread_mutex_lock(&tiles_lock);
        tiles_queued += i > 0;
        tiles_over = i == 0;
        pthread_cond_broadcast(&tiles_changed);
        pthread_mutex_unlock(&tiles_lock);
    }
    for (long i = 0; i < workers; i++)
        pthread_join(t[i], NULL);
}

/* A straggler (0.7 of each step) at a barrier where the others spin, with a yield now and then. */
static atomic_long arrived, phase;
static void spin_barrier(void)
{
    long seen = atomic_load(&phase);
    if (atomic_fetch_add(&arrived, 1) == workers - 1) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&phase, 1);
        return;
    }
    for (unsigned spins = 1; atomic_load(&phase) == seen; spins++)
        if (spins % 4096 == 0)
            sched_yield();
}

static void *weather_worker(void *argument)
{
    double share = workers == 1 ? 1 : (long)argument == 0 ? 0.7 : 0.3 / (double)(workers - 1);
    for (long step = (long)(work_us / 2000); step > 0; step--) {
        compute(2000 * share);
        spin_barrier();
    }
    return NULL;
}

/* Main pins itself to one CPU (steady timestamps) before it starts the workers: all inherit it and share that CPU. */
static void *packets_worker(void *unused)
{
    while (atomic_fetch_sub(&left, 1) > 0)
        compute(500);
    return NULL;
}

static void packets(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    must(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
    atomic_store(&left, (long)(work_us / 500));
    team(packets_worker);
}

/* pwrite() of 64 KiB to one file in memory, each worker at its own place: the kernel's lock of the inode. */
#define BLOCK 65536
static int telemetry_fd;
static void *telemetry_worker(void *argument)
{
    static __thread char block[BLOCK];
    off_t at = (off_t)(long)argument * BLOCK;
    memset(block, 'a' + (int)((long)argument % 26), sizeof block);
    while (atomic_fetch_sub(&left, 1) > 0) {
        compute(2);
        must(pwrite(telemetry_fd, block, sizeof block, at) == (ssize_t)sizeof block, "pwrite");
    }
    return NULL;
}

static void telemetry(void)
{
    telemetry_fd = memfd_create("telemetry", 0);
    must(telemetry_fd >= 0, "memfd_create");
    atomic_store(&left, (long)(work_us / 12));
    team(telemetry_worker);
}

static const struct { const char *name; void (*run)(void); void *(*body)(void *); } modes[] = {
    {"postings", postings, NULL}, {"make", make, NULL}, {"quotes", quotes, NULL}, {"annealing", annealing, NULL},
    {"wiki", wiki, NULL}, {"bucket", bucket, NULL}, {"backup", NULL, backup_worker}, {"transcoder", transcoder, NULL},
    {"tiles", tiles, NULL}, {"weather", NULL, weather_worker}, {"packets", packets, NULL}, {"telemetry", telemetry, NULL},
};

static double calibrated(void)
{
    double best = 1e18;
    turns_per_us = 200;
    for (int i = 0; i < 40; i++) {
        double from = clock_us(CLOCK_THREAD_CPUTIME_ID);
        compute(500);
        double took = clock_us(CLOCK_THREAD_CPUTIME_ID) - from;
        best = took < best ? took : best;
    }
    return 200 * 500 / best;
}

int main(int count, char **words)
{
    const char *turns = getenv("PLANTED_TURNS");
    turns_per_us = turns && atof(turns) > 0 ? atof(turns) : calibrated();
    if (count == 2 && strcmp(words[1], "calibrate") == 0)
        return printf("%.1f\n", turns_per_us) < 0;
    workers = count > 2 ? atol(words[2]) : 1;
    work_us = (count > 3 ? atof(words[3]) : 250) * 1e3;
    for (size_t i = 0; count > 1 && workers > 0 && workers <= MOST && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, words[1]) == 0) {
            double from = clock_us(CLOCK_MONOTONIC);
            modes[i].run ? modes[i].run() : team(modes[i].body);
            printf("%.1f ms\n", (clock_us(CLOCK_MONOTONIC) - from) / 1e3);
            return 0;
        }
    return 2;
}
