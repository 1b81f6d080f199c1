/* Waits that nobody ends: 60 of 20 ms each, by the call that is named. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static sem_t slots;

static struct timespec soon(void)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += 20000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_nsec -= 1000000000;
        at.tv_sec++;
    }
    return at;
}

int main(int count, char **words)
{
    const char *how = count > 1 ? words[1] : "";
    int ends[2], set = epoll_create1(0);
    struct timespec after = {0, 20000000};
    struct epoll_event event = {.events = EPOLLIN};
    sigset_t signals;
    sem_init(&slots, 0, 0);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, 0);
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
    for (int i = 0; i < 60; i++) {
        struct timespec at = soon();
        struct timeval limit = {0, 20000};
        struct pollfd one = {ends[0], POLLIN, 0};
        char byte;
        if (!strcmp(how, "cond")) {
            pthread_mutex_lock(&gate);
            pthread_cond_timedwait(&news, &gate, &at);
            pthread_mutex_unlock(&gate);
        } else if (!strcmp(how, "sem")) {
            sem_timedwait(&slots, &at);
        } else if (!strcmp(how, "epoll")) {
            epoll_wait(set, &event, 1, 20);
        } else if (!strcmp(how, "poll")) {
            poll(&one, 1, 20);
        } else if (!strcmp(how, "ppoll")) {
            ppoll(&one, 1, &after, 0);
        } else if (!strcmp(how, "select")) {
            fd_set reads;
            FD_ZERO(&reads);
            FD_SET(ends[0], &reads);
            select(ends[0] + 1, &reads, 0, 0, &limit);
        } else if (!strcmp(how, "recv")) {
            setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
            recv(ends[0], &byte, 1, 0);
        } else {
            sigtimedwait(&signals, 0, &after);
        }
    }
    return 0;
}
