/* A second set: other shapes of the same limits. MODE n MILLISECONDS, as work.h has it. */
#include "work.h"
#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Each worker's part of some operations that are divided beforehand. */
static long part(const struct worker *me, long operations)
{
    return operations / workers + (me->id < operations % workers);
}

/* Transfers between accounts, each with its lock; all pay a fee into the first. */
static struct account {
    pthread_mutex_t lock;
    long balance;
} accounts[64];

static void transfer(struct worker *me)
{
    for (long left = part(me, (long)(work_us / 150)); left > 0; left--) {
        struct account *from = &accounts[1 + draw(me) % 63];
        pthread_mutex_lock(&from->lock);
        about(me, 20);
        from->balance--;
        pthread_mutex_unlock(&from->lock);
        about(me, 60);
        WAIT(me, pthread_mutex_lock(&accounts[0].lock));
        about(me, 70);
        accounts[0].balance++;
        pthread_mutex_unlock(&accounts[0].lock);
    }
}

static void bank(void)
{
    for (int i = 0; i < 64; i++)
        pthread_mutex_init(&accounts[i].lock, NULL);
    threads(0, transfer);
}

/* A cache on the heap with one lock in front of all of it. */
static struct lru {
    long hits, misses;
    void *entries[4096];
    pthread_mutex_t guard;
} *lru;

static void look_up(struct worker *me)
{
    for (long left = part(me, (long)(work_us / 120)); left > 0; left--) {
        about(me, 50);
        WAIT(me, pthread_mutex_lock(&lru->guard));
        lru->hits += lru->entries[draw(me) % 4096] != NULL;
        about(me, 70);
        pthread_mutex_unlock(&lru->guard);
    }
}

static void cache(void)
{
    lru = calloc(1, sizeof *lru);
    pthread_mutex_init(&lru->guard, NULL);
    threads(0, look_up);
}

/* A histogram that all workers add to. */
static atomic_long bins[4];

static void count(struct worker *me)
{
    long each = part(me, (long)(work_us * 200));
    for (long i = 0; i < each; i++)
        atomic_fetch_add(&bins[i & 3], 1);
}

static void histogram(void)
{
    threads(0, count);
}

/* First come, first served, and nobody sleeps. */
static atomic_ulong next_ticket, now_served;

static void serve(struct worker *me)
{
    for (long left = part(me, (long)(work_us / 60)); left > 0; left--) {
        about(me, 30);
        unsigned long own = atomic_fetch_add(&next_ticket, 1);
        while (atomic_load(&now_served) != own)
            __builtin_ia32_pause();
        about(me, 30);
        atomic_fetch_add(&now_served, 1);
    }
}

static void tickets(void)
{
    threads(0, serve);
}

/* Chunks are sorted by all, and merged by one: the last 30 %. */
static void sort_chunk(struct worker *me)
{
    (void)me;
    compute(0.7 * work_us / (double)workers);
}

static void merge_sort(void)
{
    threads(0, sort_chunk);
    compute(0.3 * work_us);
}

/* Row i of a triangle takes i; each worker gets as many rows as any other. */
static void rows(struct worker *me)
{
    double from = (double)me->id / (double)workers, to = (double)(me->id + 1) / (double)workers;
    compute(work_us * (to * to - from * from));
}

static void triangle(void)
{
    threads(0, rows);
}

/* A buffer of four places between a reader that takes 60 % of the time and workers. */
static pthread_mutex_t buffer_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int filled, closed;

static void consume(struct worker *me)
{
    for (;;) {
        pthread_mutex_lock(&buffer_lock);
        while (!filled && !closed)
            WAIT(me, pthread_cond_wait(&not_empty, &buffer_lock));
        if (!filled)
            break;
        filled--;
        pthread_cond_signal(&not_full);
        pthread_mutex_unlock(&buffer_lock);
        compute(400);
    }
    pthread_mutex_unlock(&buffer_lock);
}

static void *produce(void *unused)
{
    (void)unused;
    for (long left = (long)(work_us / 1000); left > 0; left--) {
        compute(600);
        pthread_mutex_lock(&buffer_lock);
        while (filled == 4)
            pthread_cond_wait(&not_full, &buffer_lock);
        filled++;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&buffer_lock);
    }
    pthread_mutex_lock(&buffer_lock);
    closed = 1;
    pthread_cond_broadcast(&not_empty);
    pthread_mutex_unlock(&buffer_lock);
    return NULL;
}

static void bounded(void)
{
    pthread_t reader;
    pthread_create(&reader, NULL, produce, NULL);
    threads(0, consume);
    pthread_join(reader, NULL);
}

/* One stream that is locked for a whole record. */
static FILE *record;

static void write_record(struct worker *me)
{
    for (long left = part(me, (long)(work_us / 100)); left > 0; left--) {
        about(me, 40);
        WAIT(me, flockfile(record));
        about(me, 60);
        putc_unlocked('\n', record);
        funlockfile(record);
    }
}

static void stream(void)
{
    record = fopen("/dev/null", "w");
    threads(0, write_record);
}

/* A pool of one connection. */
static sem_t connection;

static void query(struct worker *me)
{
    for (long left = part(me, (long)(work_us / 150)); left > 0; left--) {
        about(me, 50);
        WAIT(me, sem_wait(&connection));
        about(me, 100);
        sem_post(&connection);
    }
}

static void connections(void)
{
    sem_init(&connection, 0, 1);
    threads(0, query);
}

/* Eight threads, whatever was asked for. */
static void eighth(struct worker *me)
{
    (void)me;
    compute(work_us / 8);
}

static void always_eight(void)
{
    workers = 8;
    threads(0, eighth);
}

/* Each worker has a log of its own, written through to the disk. */
static void write_log(struct worker *me)
{
    char name[64], line[512] = "entry";
    snprintf(name, sizeof name, "worker-%ld.log", me->id);
    int log = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_DSYNC, 0600);
    for (long left = part(me, (long)(work_us / 400)); left > 0; left--) {
        compute(20);
        WAIT(me, if (write(log, line, sizeof line) < 0) exit(1));
    }
    close(log);
}

static void logs(void)
{
    threads(0, write_log);
}

/* The parent prepares each task for 30 % of its time and gives it to a child through a pipe. */
static int tasks[2];

static void take_tasks(struct worker *me)
{
    char task;
    close(tasks[1]);
    for (;;) {
        long got = 0;
        WAIT(me, got = read(tasks[0], &task, 1));
        if (got != 1)
            break;
        compute(500);
    }
}

static void dealt(void)
{
    if (pipe(tasks) != 0)
        exit(1);
    fcntl(tasks[1], F_SETPIPE_SZ, 4096);
    for (long id = 0; id < workers; id++) {
        prepare(&shared->worker[id], id, take_tasks);
        if (fork() == 0) {
            run(&shared->worker[id]);
            _exit(0);
        }
    }
    for (long left = (long)(work_us / 1000); left > 0; left--) {
        compute(500);
        if (write(tasks[1], "t", 1) != 1)
            exit(1);
    }
    close(tasks[1]);
    while (wait(NULL) > 0)
        ;
}

/* Memory that is given back and touched again. */
static void touch(struct worker *me)
{
    enum { BYTES = 1 << 20 };
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long left = part(me, (long)(work_us / 400)); left > 0; left--) {
        for (long at = 0; at < BYTES; at += 4096)
            memory[at] = 1;
        madvise(memory, BYTES, MADV_DONTNEED);
    }
}

static void pages(void)
{
    threads(0, touch);
}

/* A child for each task, n at a time. */
static void children(void)
{
    long left = (long)(work_us / 10000), running = 0;
    while (left > 0 || running > 0) {
        if (left > 0 && running < workers) {
            if (fork() == 0) {
                compute(10000);
                _exit(0);
            }
            left--;
            running++;
        } else if (wait(NULL) > 0) {
            running--;
        }
    }
}

/* A server on a socket of the file system: one request after the other, each takes 2 ms of sleep. */
static void server(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s/heldout.sock", getenv("PLANTED_FOLDER"));
    unlink(at.sun_path);
    int listening = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (bind(listening, (struct sockaddr *)&at, sizeof at) != 0 || listen(listening, 64) != 0)
        exit(1);
    printf("%s\n", at.sun_path);
    fflush(stdout);
    for (;;) {
        int line = accept(listening, NULL, NULL);
        char letter;
        while (recv(line, &letter, 1, 0) == 1) {
            usleep(2000);
            send(line, &letter, 1, MSG_NOSIGNAL);
        }
        close(line);
    }
}

static void request(struct worker *me)
{
    for (long left = part(me, (long)(work_us / 2500)); left > 0; left--) {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        snprintf(to.sun_path, sizeof to.sun_path, "%s", getenv("PLANTED_BACKEND"));
        int line = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        char letter = 'q';
        if (connect(line, (struct sockaddr *)&to, sizeof to) != 0)
            exit(1);
        send(line, &letter, 1, 0);
        WAIT(me, recv(line, &letter, 1, 0));
        close(line);
        compute(300);
    }
}

static void requests(void)
{
    threads(0, request);
}

/* Columns, divided evenly: nothing in the way. */
static double matrix[256][256];

static void multiply(struct worker *me)
{
    long times = part(me, (long)(work_us / 1000));
    for (long i = 0; i < times; i++) {
        compute(1000);
        matrix[me->id][i % 256] += (double)sink;
    }
}

static void columns(void)
{
    threads(0, multiply);
}

int main(int count, char **words)
{
    static const struct mode modes[] = {
        {"bank", bank},         {"cache", cache},         {"histogram", histogram},
        {"tickets", tickets},   {"merge-sort", merge_sort}, {"triangle", triangle},
        {"bounded", bounded},   {"stream", stream},       {"connections", connections},
        {"eight", always_eight}, {"logs", logs},          {"dealt", dealt},
        {"pages", pages},       {"children", children},   {"requests", requests},
        {"columns", columns},   {"server", server},       {NULL, NULL},
    };
    return planted(count, words, modes);
}
