// What calls, creation, switches, wake-ups, faults and counters cost, each by its textbook definition.
// It shares no code with scruple. docs/calibration.md compares the two ("Against C programs of our own").
//
//   gcc -O2 -falign-loops=64 -pthread costs.c -o costs && sudo nice -n -20 ./costs [NAME...]
//
// Prints "NAME NANOSECONDS". Each cost is measured in 15 fresh processes: the median of their medians.
// All runs on the last CPU; where two CPUs are needed, the second is CPU 0. Run it in a folder on a disk.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 2048, SPAN = PAGES * PAGE, PROCESSES = 15, MAX = 300 };
static int one, two;   // the CPUs
static double values[MAX];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}
static int by_size(const void *a, const void *b) {
    return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}
static double median(double *v, int n) {
    qsort(v, n, sizeof *v, by_size);
    return v[n / 2];
}
static void must(int right) {
    if (!right) perror("costs"), exit(1);
}
static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    must(!sched_setaffinity(0, sizeof set, &set));
}
static void *shared(size_t bytes) {
    void *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(m != MAP_FAILED);
    return m;
}
// The median time of BODY: over REPS batches of COUNT, after a rehearsal; AROUND is not timed.
#define TIMED(reps, count, before, body, after) ({ \
    for (int r_ = -1; r_ < (reps); r_++) { before; double t_ = now(); \
        for (long i = 0; i < (count); i++) { body; } \
        double e_ = now() - t_; if (r_ >= 0) { values[r_] = e_ / (count); } after; } \
    median(values, (reps)); })
// The same by batches of 300 calls, and call by call.
#define CALLS(...) return TIMED(100, 300, , __VA_ARGS__, )
#define LIVES(...) return TIMED(100, 1, , __VA_ARGS__, )

// COST(id) { ... } defines a cost and lists it.
static struct { const char *name; double (*cost)(void); } costs[64];
static int known;
static void list(const char *name, double (*cost)(void)) { costs[known].name = name, costs[known++].cost = cost; }
#define COST(id) static double id(void); \
    __attribute__((constructor)) static void list_##id(void) { list(#id, id); } \
    static double id(void)

// ---- calls
static struct timespec reading;
COST(getppid_libc) { CALLS(getppid()); }
COST(getppid_bare) {
#if defined __x86_64__
    CALLS(long r = SYS_getppid; __asm__ volatile("syscall" : "+a"(r) : : "rcx", "r11", "memory"));
#else
    CALLS(syscall(SYS_getppid));
#endif
}
static uint64_t nanoseconds(clockid_t clock) {
    clock_gettime(clock, &reading);
    return reading.tv_sec * 1000000000ull + reading.tv_nsec;
}
#define KEPT(x) ({ uint64_t x_ = (x); __asm__ volatile("" : : "r"(x_)); })
COST(clock_vdso) { CALLS(KEPT(nanoseconds(CLOCK_MONOTONIC))); }
COST(clock_coarse) { CALLS(KEPT(nanoseconds(CLOCK_MONOTONIC_COARSE))); }
COST(clock_thread) { CALLS(KEPT(nanoseconds(CLOCK_THREAD_CPUTIME_ID))); }
COST(clock_syscall) { CALLS(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &reading)); }
COST(read_zero) {
    char byte;
    int f = open("/dev/zero", O_RDONLY);
    CALLS(must(read(f, &byte, 1) == 1));
}
// A pair of free and malloc: one of 256 blocks goes, and one of 16 to 1016 bytes comes, both drawn.
static double drawn_pairs(int used) {
    static void *blocks[256];
    uint64_t drawn = 1;
    memset(blocks, 0, sizeof blocks);
    CALLS(drawn = drawn * 6364136223846793005u + 1442695040888963407u;
        void **block = &blocks[drawn >> 56];
        size_t size = 16 + (((drawn >> 24 & 0xffffffff) * 1001) >> 32);
        if (used) { free(*block); *block = malloc(size); *(long *)*block = 1; } else *block = (void *)size);
}
COST(malloc_free) { double loop = drawn_pairs(0); return drawn_pairs(1) - loop; }

// ---- creation and end
static void *ends(void *x) { return x; }
static int child_ends(void *x) { (void)x, _exit(0); }
static void join(size_t stack) {
    pthread_t t;
    pthread_attr_t a;
    pthread_attr_init(&a);
    if (stack) pthread_attr_setstacksize(&a, stack);
    must(!pthread_create(&t, &a, ends, NULL) && !pthread_join(t, NULL));
}
static void reap(pid_t p) {
    int status;
    must(p > 0 && waitpid(p, &status, 0) == p && !status);
}
COST(thread) { LIVES(join(0)); }
COST(thread_stack) { LIVES(join(64 << 20)); }
COST(fork_exit) { LIVES(pid_t p = fork(); if (!p) _exit(0); reap(p)); }
COST(vfork_exit) { LIVES(pid_t p = vfork(); if (!p) _exit(0); reap(p)); }
COST(fork_64) {
    char *m = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(m, 64 << 20, MADV_NOHUGEPAGE), memset(m, 1, 64 << 20);
    return TIMED(10, 1, , pid_t p = fork(); if (!p) _exit(0); reap(p), );
}
COST(clone_vm) {
    static char stack[1 << 16] __attribute__((aligned(64)));
    LIVES(reap(clone(child_ends, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL)));
}
// A static program of one function, which ends: gcc -O2 -static -nostdlib.
static const char small[] = "./costs-small";
static char *const arguments[] = {"small", NULL}, *const nothing_set[] = {NULL};
static void make_small(void) {
    must(!system("echo 'void _start(void) {\n"
        "#if defined __x86_64__\n __asm__ volatile(\"mov $60, %eax; xor %edi, %edi; syscall\");\n"
        "#else\n __asm__ volatile(\"mov x8, 93; mov x0, 0; svc 0\");\n#endif\n}'"
        " | gcc -O2 -static -nostdlib -o costs-small -x c -"));
}
COST(spawn) { LIVES(pid_t p; must(!posix_spawn(&p, small, NULL, NULL, arguments, nothing_set)); reap(p)); }
COST(fork_exec) { LIVES(pid_t p = fork(); if (!p) { execve(small, arguments, nothing_set); _exit(1); } reap(p)); }

// ---- two tasks that pass a turn to and fro
enum { PIPE, EVENTFD, FUTEX, YIELD, CONDVAR, ROUNDS = 100, LAPS = 20 };
static struct turns { _Atomic int word; int way, cpu, to[2], from[2]; pthread_mutex_t m; pthread_cond_t c; } *t;
static void futex(_Atomic int *word, int operation, int value) { syscall(SYS_futex, word, operation, value, NULL); }
static void give(int turn, int f) {
    uint64_t token = 1;
    int bytes = t->way == PIPE ? 1 : 8;
    if (t->way <= EVENTFD) { must(write(f, &token, bytes) == bytes); return; }
    if (t->way == CONDVAR) pthread_mutex_lock(&t->m);
    t->word = turn;
    if (t->way == FUTEX) futex(&t->word, FUTEX_WAKE, 1);
    if (t->way == CONDVAR) pthread_cond_signal(&t->c), pthread_mutex_unlock(&t->m);
}
static void take(int turn, int f) {
    uint64_t token;
    int bytes = t->way == PIPE ? 1 : 8;
    if (t->way <= EVENTFD) { must(read(f, &token, bytes) == bytes); return; }
    if (t->way == CONDVAR) pthread_mutex_lock(&t->m);
    while (t->word != turn) {
        if (t->way == FUTEX) futex(&t->word, FUTEX_WAIT, !turn);
        else if (t->way == YIELD) sched_yield();
        else pthread_cond_wait(&t->c, &t->m);
    }
    if (t->way == CONDVAR) pthread_mutex_unlock(&t->m);
}
static void *answers(void *x) {
    pin(t->cpu);
    for (int i = 0; i < (ROUNDS + 1) * LAPS; i++) take(1, t->to[0]), give(0, t->from[1]);
    return x;
}
static double trip(int way, int processes, int cpu) {
    pthread_t thread;
    pid_t p = 0;
    t = shared(sizeof *t);
    t->way = way, t->cpu = cpu;
    pthread_mutex_init(&t->m, NULL), pthread_cond_init(&t->c, NULL);
    if (way == EVENTFD) t->to[0] = t->to[1] = eventfd(0, 0), t->from[0] = t->from[1] = eventfd(0, 0);
    else must(!pipe(t->to) && !pipe(t->from));
    if (!processes) must(!pthread_create(&thread, NULL, answers, NULL));
    else if (!(p = fork())) answers(NULL), _exit(0);
    double r = TIMED(ROUNDS, LAPS, , give(1, t->to[1]); take(0, t->from[0]), );
    if (processes) reap(p); else pthread_join(thread, NULL);
    return r;
}
COST(pool_futex) { return trip(FUTEX, 0, one); }
COST(pool_futex_two) { return trip(FUTEX, 0, two); }
COST(pool_condvar) { return trip(CONDVAR, 0, one); }
COST(hop_pipe) { return trip(PIPE, 1, one) / 2; }
COST(hop_pipe_threads) { return trip(PIPE, 0, one) / 2; }
COST(hop_eventfd) { return trip(EVENTFD, 1, one) / 2; }
COST(hop_futex) { return trip(FUTEX, 1, one) / 2; }
COST(hop_yield) { return trip(YIELD, 1, one) / 2; }
COST(trip_pipe_two) { return trip(PIPE, 1, two); }

// ---- a sleeper: from before the waking call to when the sleeper's call has returned
enum { SIGWAIT, SIGSUSPEND, SIGNALFD, BED, WAKES = 100 };
static struct bed { _Atomic int word; int way, cpu; _Atomic double at; double late[WAKES]; } *bed;
static sigset_t usr1, none;
static void handler(int s) { (void)s; }
static void *sleeps(void *x) {
    struct signalfd_siginfo info;
    int got, f = signalfd(-1, &usr1, 0);
    pin(bed->cpu);
    for (int i = 0; i < WAKES; i++) {
        if (bed->way == BED) while (bed->word != 2 * i + 1) futex(&bed->word, FUTEX_WAIT, 2 * i);
        else if (bed->way == SIGWAIT) sigwait(&usr1, &got);
        else if (bed->way == SIGSUSPEND) sigsuspend(&none);
        else must(read(f, &info, sizeof info) > 0);
        bed->late[i] = now() - bed->at;
        bed->word = 2 * i + 2;
    }
    return x;
}
static double wake(int way, int cpu) {
    pthread_t thread;
    pid_t p = 0;
    bed = shared(sizeof *bed);
    bed->way = way, bed->cpu = cpu;
    sigemptyset(&usr1), sigaddset(&usr1, SIGUSR1), sigemptyset(&none);
    sigprocmask(SIG_BLOCK, &usr1, NULL), signal(SIGUSR1, handler);
    if (way == BED) must(!pthread_create(&thread, NULL, sleeps, NULL));
    else if (!(p = fork())) sleeps(NULL), _exit(0);
    for (int i = 0; i < WAKES; i++) {
        if (way == BED) usleep(50);
        else for (double until = now() + 1e5; now() < until;) {}   // the sender of a signal is at work
        bed->at = now();
        if (way != BED) kill(p, SIGUSR1);
        else { bed->word = 2 * i + 1; futex(&bed->word, FUTEX_WAKE, 1); }
        while (bed->word != 2 * i + 2) if (way == BED) usleep(50);
    }
    if (p) reap(p); else pthread_join(thread, NULL);
    return median(bed->late, WAKES);
}
COST(wake_one) { return wake(BED, one); }
COST(wake_two) { return wake(BED, two); }
COST(sigwait_two) { return wake(SIGWAIT, two); }
COST(sigsuspend_two) { return wake(SIGSUSPEND, two); }
COST(signalfd_two) { return wake(SIGNALFD, two); }

// ---- page faults: the time per page of a walk over 8 MiB, less that of a walk over mapped pages
static char *map(size_t bytes, int f, int advice) {
    char *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | (f < 0 ? MAP_ANONYMOUS : 0), f, 0);
    must(m != MAP_FAILED);
    madvise(m, bytes, advice);
    return m;
}
static void touch(volatile char *m, int writes) {
    for (long p = 0; p < PAGES; p++) { if (writes) m[p * PAGE] = 1; else (void)m[p * PAGE]; }
}
#define WALKS(before, body, after) (TIMED(3, 1, before, body, after) / PAGES)
#define MANY_WALKS(before, body, after) (TIMED(50, 1, before, body, after) / PAGES)   // of those in the caches
static double resident(void) {
    char *m = map(SPAN, -1, MADV_NOHUGEPAGE);
    touch(m, 1);
    return WALKS(, touch(m, 0), );
}
static double anon(int writes) {
    return WALKS(char *m = map(SPAN, -1, MADV_NOHUGEPAGE), touch(m, writes), munmap(m, SPAN)) - resident();
}
COST(anon_write) { return anon(1); }
COST(anon_read) { return anon(0); }
COST(populate) {
    return WALKS(char *m = map(SPAN, -1, MADV_NOHUGEPAGE), madvise(m, SPAN, MADV_POPULATE_WRITE); touch(m, 1),
        munmap(m, SPAN)) - resident();
}
COST(huge) {
    enum { HUGE = 2 << 20 };
    return MANY_WALKS(char *raw = map(SPAN + HUGE, -1, MADV_HUGEPAGE); char *m = raw + (-(unsigned long)raw & (HUGE - 1)),
        touch(m, 1), munmap(raw, SPAN + HUGE)) - resident();
}
COST(cow_fork) {
    char *m = map(SPAN, -1, MADV_NOHUGEPAGE);
    touch(m, 1);
    return WALKS(pid_t p = fork(); if (!p) pause(); usleep(1000), touch(m, 1),
        kill(p, SIGKILL); waitpid(p, NULL, 0)) - resident();
}
COST(fill) {
    char *m = map(SPAN, -1, MADV_NOHUGEPAGE);
    return MANY_WALKS(, for (long p = 0; p < PAGES; p++) { memset(m + p * PAGE, 1, PAGE); __asm__ volatile("" ::: "memory"); }, );
}
// A file of which nothing is cached.
static int cold_file(void) {
    char name[] = "./costsXXXXXX", page[PAGE] = {1};
    int f = mkstemp(name);
    unlink(name);
    for (int i = 0; i < PAGES; i++) must(write(f, page, PAGE) == PAGE);
    must(!fsync(f) && !posix_fadvise(f, 0, 0, POSIX_FADV_DONTNEED));
    return f;
}
static double file_walk(int f, int writes) {   // the rehearsal brings the file into the cache
    return WALKS(char *m = map(SPAN, f, MADV_NORMAL), touch(m, writes), munmap(m, SPAN)) - resident();
}
COST(cow_file) { return file_walk(cold_file(), 1); }
COST(file_warm) { return file_walk(cold_file(), 0); }
COST(file_read) {   // the same after read(2) has brought the file into the cache
    char page[PAGE];
    int f = cold_file();
    for (long i = 0; i < PAGES; i++) must(pread(f, page, PAGE, i * PAGE) == PAGE);
    return file_walk(f, 0);
}
COST(file_apart) {   // one page in 16 is cached and touched: no fault maps a neighbour
    enum { SOME = PAGES / 16 };
    int f = cold_file(), order[SOME];
    for (int i = 0; i < SOME; i++) order[i] = i;
    for (int i = SOME - 1; i > 0; i--) { int j = rand() % (i + 1), x = order[i]; order[i] = order[j]; order[j] = x; }
    return 16 * WALKS(char *m = map(SPAN, f, MADV_RANDOM),
        for (int j = 0; j < SOME; j++) (void)((volatile char *)m)[order[j] * 16l * PAGE], munmap(m, SPAN)) - resident();
}

// ---- counters: the time of a round, divided by the increments of all threads
enum { GLOBAL, ATOMIC, MUTEX, TWO_LINES, LOCAL, DIRECT, SIDE_BY_SIDE, COUNT = 200000, TURNS = 15 };
static volatile long global;
static _Atomic long atomic;
static __thread volatile long local;
static struct { pthread_mutex_t m; volatile long n; } __attribute__((aligned(128))) locked = {PTHREAD_MUTEX_INITIALIZER, 0};
static pthread_mutex_t alone __attribute__((aligned(128))) = PTHREAD_MUTEX_INITIALIZER;
static long words[512] __attribute__((aligned(PAGE)));
static int kind, counters, distance;
static pthread_barrier_t gate;
static double began[2], ended[2];
#define COUNTED(body) for (long i = 0; i < COUNT; i++) { body; } break
#define UNOPTIMISED(at) static __attribute__((noinline, optimize("O0"))) void \
    unoptimised_##at(void) { for (long i = 0; i < COUNT; i++) words[at / 8]++; }
UNOPTIMISED(0) UNOPTIMISED(8) UNOPTIMISED(64)
static void count(int me) {
    volatile long *own = &local;
    __asm__("" : "+r"(own));
    switch (kind) {
    case GLOBAL: COUNTED(global++);
    case ATOMIC: COUNTED(atomic_fetch_add_explicit(&atomic, 1, memory_order_relaxed));
    case MUTEX: COUNTED(pthread_mutex_lock(&locked.m); locked.n++; pthread_mutex_unlock(&locked.m));
    case TWO_LINES: COUNTED(pthread_mutex_lock(&alone); locked.n++; pthread_mutex_unlock(&alone));
    case LOCAL: COUNTED((*own)++);      // through a pointer
    case DIRECT: COUNTED(local++);      // by name
    case SIDE_BY_SIDE: me && distance == 64 ? unoptimised_64() : me && distance ? unoptimised_8() : unoptimised_0();
    }
}
static void *counter(void *x) {
    long me = (long)x;
    pin(me ? two : one);
    for (int r = 0; r < TURNS; r++) {
        pthread_barrier_wait(&gate);
        began[me] = now(), count(me), ended[me] = now();
        pthread_barrier_wait(&gate);
        double from = began[0], to = ended[0];
        if (counters > 1 && began[1] < from) from = began[1];
        if (counters > 1 && ended[1] > to) to = ended[1];
        if (!me) values[r] = (to - from) / COUNT / counters;
        pthread_barrier_wait(&gate);
    }
    return x;
}
static double counted(int how, int threads, int bytes) {
    pthread_t ids[2];
    kind = how, counters = threads, distance = bytes;
    pthread_barrier_init(&gate, NULL, threads);
    for (long i = 0; i < threads; i++) must(!pthread_create(&ids[i], NULL, counter, (void *)i));
    for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
    return median(values, TURNS);
}
#define COUNTER(id, ...) COST(id) { return counted(__VA_ARGS__); }
COUNTER(volatile_1, GLOBAL, 1, 0) COUNTER(volatile_2, GLOBAL, 2, 0) COUNTER(atomic_1, ATOMIC, 1, 0)
COUNTER(atomic_2, ATOMIC, 2, 0) COUNTER(mutex_1, MUTEX, 1, 0) COUNTER(mutex_2, MUTEX, 2, 0)
COUNTER(mutex_2_lines, TWO_LINES, 2, 0) COUNTER(local_1, LOCAL, 1, 0) COUNTER(local_2, LOCAL, 2, 0)
COUNTER(local_2_named, DIRECT, 2, 0) COUNTER(words_0, SIDE_BY_SIDE, 2, 0) COUNTER(words_8, SIDE_BY_SIDE, 2, 8)
COUNTER(words_64, SIDE_BY_SIDE, 2, 64)

int main(int n, char **names) {
    one = sysconf(_SC_NPROCESSORS_ONLN) - 1, two = 0;
    pin(one);
    make_small();
    double *results = shared(PROCESSES * sizeof *results);
    for (int c = 0; c < known; c++) {
        int wanted = n < 2;
        for (int a = 1; a < n; a++) wanted |= !strcmp(names[a], costs[c].name);
        for (int p = 0; wanted && p < PROCESSES; p++) {
            pid_t child = fork();
            if (!child) results[p] = costs[c].cost(), _exit(0);
            reap(child);
        }
        if (wanted) printf("%-18s %.2f\n", costs[c].name, median(results, PROCESSES)), fflush(stdout);
    }
    unlink(small);
}
