/* Programs that nobody tuned the analysis to: processes, files, sockets, and the servers behind them. */
#include "work.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>

static void need(int held, const char *what)
{
    if (!held) {
        perror(what);
        exit(1);
    }
}

static long of(double us)
{
    return (long)(work_us / us);
}

/* Each record is on the disk when the write returns; each worker has a file of its own. */
static void audit_records(struct worker *me)
{
    static char record[4096];
    char name[32];
    snprintf(name, sizeof name, "audit-%ld.dat", me->id);
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_DSYNC, 0600);
    need(file >= 0, name);
    while (another()) {
        compute(20);
        need(write(file, record, sizeof record) == sizeof record, "write");
    }
    close(file);
    unlink(name);
}

static void audit(void)
{
    threads(of(150), audit_records);
}

/* A permit each 2 ms: all workers read the same timer. */
static int timer;
static atomic_long permits;

static void permitted(struct worker *me)
{
    (void)me;
    while (another()) {
        while (atomic_fetch_sub(&permits, 1) <= 0) {
            uint64_t expired;
            need(read(timer, &expired, sizeof expired) == sizeof expired, "timer");
            atomic_fetch_add(&permits, (long)expired + 1);
        }
        compute(200);
    }
}

static void limiter(void)
{
    struct itimerspec each = {.it_interval.tv_nsec = 2000000, .it_value.tv_nsec = 2000000};
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    need(timer >= 0 && timerfd_settime(timer, 0, &each, NULL) == 0, "timerfd");
    threads(of(2200), permitted);
}

/* A device that answers after 1 ms; whoever talks to it holds the lock. */
static pthread_mutex_t device = PTHREAD_MUTEX_INITIALIZER;

static void talk(struct worker *me)
{
    while (another()) {
        about(me, 400);
        pthread_mutex_lock(&device);
        usleep(1000);
        pthread_mutex_unlock(&device);
    }
}

static void devices(void)
{
    threads(of(1450), talk);
}

/* Asks the server whose socket the environment names. */
static void ask(struct worker *me)
{
    (void)me;
    const char *name = getenv("PLANTED_BACKEND");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path + 1, sizeof to.sun_path - 1, "%s", name ? name : "");
    int line = socket(AF_UNIX, SOCK_STREAM, 0);
    need(connect(line, (struct sockaddr *)&to, sizeof to) == 0, "connect");
    char answer = 0;
    while (another()) {
        compute(200);
        need(write(line, &answer, 1) == 1 && read(line, &answer, 1) == 1, "ask");
    }
    close(line);
}

static void client(void)
{
    threads(of(2300), ask);
}

/* A server with a thread for each connection; in the one mode they lock a table while they sleep. */
static int one_table;
static pthread_mutex_t backend_table = PTHREAD_MUTEX_INITIALIZER;

static void *answer_line(void *given)
{
    int line = (int)(intptr_t)given;
    char asked;
    while (read(line, &asked, 1) == 1) {
        if (one_table)
            pthread_mutex_lock(&backend_table);
        usleep(2000);
        if (one_table)
            pthread_mutex_unlock(&backend_table);
        if (write(line, &asked, 1) != 1)
            break;
    }
    close(line);
    return NULL;
}

static void serve(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "heldout-%d", (int)getpid());
    int door = socket(AF_UNIX, SOCK_STREAM, 0);
    need(bind(door, (struct sockaddr *)&at, sizeof at) == 0 && listen(door, 64) == 0, "listen");
    printf("%s\n", at.sun_path + 1);
    fflush(stdout);
    for (;;) {
        int line = accept(door, NULL, NULL);
        pthread_t thread;
        if (line >= 0 && pthread_create(&thread, NULL, answer_line, (void *)(intptr_t)line) == 0)
            pthread_detach(thread);
    }
}

static void serve_table(void)
{
    one_table = 1;
    serve();
}

/* Like make: keeps n processes running, one for each task. */
static void tasks(void)
{
    long left = of(4000), running = 0;
    while (left > 0 || running > 0) {
        if (left > 0 && running < workers) {
            if (fork() == 0) {
                compute(4000);
                _exit(0);
            }
            left--;
            running++;
        } else if (wait(NULL) > 0) {
            running--;
        }
    }
}

/* Processes that draw from one pipe, compute, and pass on through another; the last stage is the slow one. */
static int drawn[2], passed[2];

static void filter_items(struct worker *me)
{
    char item[64] = {0};
    close(drawn[1]);
    while (read(drawn[0], item, sizeof item) == sizeof item) {
        about(me, 60);
        need(write(passed[1], item, sizeof item) == sizeof item, "pass on");
    }
}

static void put_items(long count)
{
    char item[64] = {0};
    for (long i = 0; i < count; i++)
        need(write(drawn[1], item, sizeof item) == sizeof item, "put");
    _exit(0);
}

static void pipeline(void)
{
    struct worker last = {.seed = 3};
    long count = of(100);
    char item[64];
    need(pipe(drawn) == 0 && pipe(passed) == 0, "pipe");
    if (fork() == 0)
        put_items(count);
    for (long id = 0; id < workers; id++) {
        prepare(&shared->worker[id], id, filter_items);
        if (fork() == 0) {
            run(&shared->worker[id]);
            _exit(0);
        }
    }
    for (long i = 0; i < count; i++) {
        need(read(passed[0], item, sizeof item) == sizeof item, "last stage");
        about(&last, 100);
    }
    close(drawn[0]);
    close(drawn[1]);
    while (wait(NULL) > 0)
        ;
}

/* Worker processes, each of which binds itself to the first CPU. */
static void bound_work(struct worker *me)
{
    (void)me;
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    int first = 0;
    while (!CPU_ISSET(first, &mask))
        first++;
    CPU_ZERO(&mask);
    CPU_SET(first, &mask);
    sched_setaffinity(0, sizeof mask, &mask);
    while (another())
        compute(100);
}

static void bound(void)
{
    processes(of(100), bound_work);
}

/* Worker processes with a table in shared memory, and a mutex in it. */
struct table {
    pthread_mutex_t guard;
    long rows;
};
static struct table *buffers;

static void change_rows(struct worker *me)
{
    while (another()) {
        about(me, 40);
        pthread_mutex_lock(&buffers->guard);
        about(me, 80);
        buffers->rows++;
        pthread_mutex_unlock(&buffers->guard);
    }
}

static void rows(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    buffers = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutex_init(&buffers->guard, &kind);
    processes(of(120), change_rows);
}

int main(int count, char **words)
{
    static const struct mode modes[] = {
        {"audit", audit}, {"limiter", limiter}, {"devices", devices}, {"client", client}, {"roomy", serve},
        {"one-table", serve_table}, {"tasks", tasks}, {"pipeline", pipeline}, {"bound", bound}, {"rows", rows},
        {NULL, NULL},
    };
    return planted(count, words, modes);
}
