/* Workers that wait for what is not in the program; the servers that they ask; the neighbour. */
#include "work.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

static void need(int held, const char *what)
{
    if (!held) {
        perror(what);
        exit(1);
    }
}

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int one_by_one;

/* Each unit is on the disk before the next. */
static void entries(struct worker *me)
{
    static char entry[4096];
    int file = open("entries.dat", O_RDWR | O_CREAT, 0600);
    need(file >= 0, "entries.dat");
    for (long at; (at = atomic_fetch_sub(&shared->left, 1)) > 0;) {
        compute(20);
        if (one_by_one)
            WAIT(me, pthread_mutex_lock(&order));
        need(pwrite(file, entry, sizeof entry, at * (long)sizeof entry) > 0, "pwrite");
        WAIT(me, need(fsync(file) == 0, "fsync"));
        if (one_by_one)
            pthread_mutex_unlock(&order);
    }
}

static void journal(void)
{
    threads((long)(work_us / 300), entries);
}

static void ordered_journal(void)
{
    one_by_one = 1;
    journal();
}

/* One token each 2 ms, for all workers together. */
static double began_us;
static atomic_long token;

static void take(struct worker *me)
{
    while (another()) {
        double at = began_us + 2000.0 * (double)atomic_fetch_add(&token, 1);
        struct timespec until = {(time_t)(at / 1e6), (long)(at * 1e3) % 1000000000L};
        WAIT(me, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
        compute(300);
    }
}

static void tokens(void)
{
    began_us = clock_us(CLOCK_MONOTONIC);
    threads((long)(work_us / 2300), take);
}

/* Asks the server whose port the environment names. */
static void ask(struct worker *me)
{
    const char *port = getenv("PLANTED_BACKEND");
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port ? port : "0")),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int line = socket(AF_INET, SOCK_STREAM, 0);
    need(connect(line, (struct sockaddr *)&to, sizeof to) == 0, "connect");
    char answer = 0;
    while (another()) {
        compute(300);
        WAIT(me, need(write(line, &answer, 1) == 1 && read(line, &answer, 1) == 1, "ask"));
    }
    close(line);
}

static void client(void)
{
    threads((long)(work_us / 1500), ask);
}

/* Answers all, one after the other; prints its port first. */
static void serve(void (*answer)(void))
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct pollfd from[300] = {{.fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLIN}};
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    need(bind(from[0].fd, (struct sockaddr *)&at, size) == 0 && listen(from[0].fd, 64) == 0 &&
             getsockname(from[0].fd, (struct sockaddr *)&at, &size) == 0, "listen");
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    for (nfds_t count = 1;;) {
        poll(from, count, -1);
        for (nfds_t i = count; i-- > 1;) {
            char asked;
            if (!from[i].revents)
                continue;
            if (read(from[i].fd, &asked, 1) == 1) {
                answer();
                need(write(from[i].fd, &asked, 1) == 1, "answer");
            } else {
                close(from[i].fd);
                from[i] = from[--count];
            }
        }
        if (from[0].revents && count < 300)
            from[count++] = (struct pollfd){.fd = accept(from[0].fd, NULL, NULL), .events = POLLIN};
    }
}

static void sleep_2ms(void)
{
    usleep(2000);
}

static void compute_1ms(void)
{
    compute(1000);
}

static void patient(void)
{
    serve(sleep_2ms);
}

static void busy(void)
{
    serve(compute_1ms);
}

/* Processes that lock a file for 60 % of the work. */
static void with_file(struct worker *me)
{
    int file = open("ledger.dat", O_RDWR | O_CREAT, 0600);
    need(file >= 0, "ledger.dat");
    while (another()) {
        about(me, 120);
        WAIT(me, flock(file, LOCK_EX));
        about(me, 180);
        flock(file, LOCK_UN);
    }
}

static void ledger(void)
{
    processes((long)(work_us / 300), with_file);
}

/* Burns one CPU until its parent ends. */
static void neighbour(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    puts("an ordinary neighbour");
    fflush(stdout);
    for (;;)
        compute(1000);
}

/* The same, before all other programs as far as the rights suffice. */
static void neighbour_above(void)
{
    struct sched_param first = {.sched_priority = 1};
    int nice_held = setpriority(PRIO_PROCESS, 0, -20) == 0;
    int real_time = sched_setscheduler(0, SCHED_RR, &first) == 0;
    printf("a neighbour above: nice -20 %s, SCHED_RR %s; ", nice_held ? "granted" : "refused",
           real_time ? "granted" : "refused");
    neighbour();
}

int main(int count, char **words)
{
    static const struct mode modes[] = {
        {"journal", journal}, {"ordered-journal", ordered_journal}, {"tokens", tokens}, {"client", client},       {"patient", patient},
        {"busy", busy},       {"ledger", ledger}, {"neighbour", neighbour}, {"above", neighbour_above},
        {NULL, NULL},
    };
    return planted(count, words, modes);
}
