/* Workers that wait for one another. */
#include "work.h"
#include <malloc.h>

enum { OUT_US = 34, IN_US = 51 };

/* A third is done before the lock, 60 % under it. */
#define UNDER(me, lock, unlock)  \
    do {                         \
        about(me, OUT_US);       \
        WAIT(me, lock);          \
        about(me, IN_US);        \
        unlock;                  \
    } while (0)

static long of(double us)
{
    return (long)(work_us / us);
}

static pthread_mutex_t table_guard = PTHREAD_MUTEX_INITIALIZER;

static void into_table(struct worker *me)
{
    while (another())
        UNDER(me, pthread_mutex_lock(&table_guard), pthread_mutex_unlock(&table_guard));
}

static void table(void)
{
    threads(of(OUT_US + IN_US), into_table);
}

struct store {
    long entries;
    pthread_mutex_t guard;
};
static struct store *catalogue;

static void into_store(struct worker *me)
{
    while (another())
        UNDER(me, pthread_mutex_lock(&catalogue->guard), pthread_mutex_unlock(&catalogue->guard));
}

static void store(void)
{
    catalogue = calloc(1, sizeof *catalogue);
    pthread_mutex_init(&catalogue->guard, NULL);
    threads(of(OUT_US + IN_US), into_store);
}

static pthread_rwlock_t index_guard = PTHREAD_RWLOCK_INITIALIZER;

/* Of three, two write. */
static void into_index(struct worker *me)
{
    while (another()) {
        if (draw(me) % 3)
            UNDER(me, pthread_rwlock_wrlock(&index_guard), pthread_rwlock_unlock(&index_guard));
        else
            UNDER(me, pthread_rwlock_rdlock(&index_guard), pthread_rwlock_unlock(&index_guard));
    }
}

static void readers_and_writers(void)
{
    threads(of(OUT_US + IN_US), into_index);
}

static atomic_int taken;

static void enter(void)
{
    while (atomic_exchange_explicit(&taken, 1, memory_order_acquire))
        while (atomic_load_explicit(&taken, memory_order_relaxed))
#if defined(__x86_64__)
            __builtin_ia32_pause();
#else
            ;
#endif
}

static void into_place(struct worker *me)
{
    while (another())
        UNDER(me, enter(), atomic_store_explicit(&taken, 0, memory_order_release));
}

static void place(void)
{
    threads(of(OUT_US + IN_US), into_place);
}

static pthread_mutex_t desk = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static long next, goods;

static void my_turn(struct worker *me)
{
    pthread_mutex_lock(&desk);
    while (next % workers != me->id)
        pthread_cond_wait(&arrived, &desk);
    pthread_mutex_unlock(&desk);
}

static void passed_on(void)
{
    pthread_mutex_lock(&desk);
    next++;
    pthread_cond_broadcast(&arrived);
    pthread_mutex_unlock(&desk);
}

/* A quarter is done at once, the rest in order: all wait for the turn, and all are woken. */
static void in_order(struct worker *me)
{
    for (long i = shared->left; i > 0; i -= workers) {
        about(me, 25);
        WAIT(me, my_turn(me));
        about(me, 75);
        passed_on();
    }
}

static void turns(void)
{
    threads(of(100), in_order);
}

static void put(void)
{
    pthread_mutex_lock(&desk);
    while (goods == 8)
        pthread_cond_wait(&room, &desk);
    goods++;
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&desk);
}

static void get(void)
{
    pthread_mutex_lock(&desk);
    while (goods == 0)
        pthread_cond_wait(&arrived, &desk);
    goods--;
    pthread_cond_signal(&room);
    pthread_mutex_unlock(&desk);
}

/* The first of n workers is one stage, the others are the other; the first is the slow one. */
static long pieces;
static int first_makes;

static void stage(struct worker *me)
{
    if (workers == 1)
        while (another())
            about(me, 100);
    else if (me->id == 0)
        for (long i = 0; i < pieces; i++) {
            if (!first_makes)
                WAIT(me, get());
            about(me, 70);
            if (first_makes)
                WAIT(me, put());
        }
    else
        while (another()) {
            if (first_makes)
                WAIT(me, get());
            about(me, 30);
            if (!first_makes)
                WAIT(me, put());
        }
}

static void last_stage(void)
{
    pieces = of(100);
    threads(pieces, stage);
}

static void first_stage(void)
{
    first_makes = 1;
    last_stage();
}

/* Grows two columns in turns, as a reader of lines does: neither can grow in its place. */
static void grow(struct worker *me)
{
    while (another()) {
        char *column[2] = {NULL, NULL};
        about(me, 20);
        for (size_t size = 4096; size <= 512 << 10; size *= 2)
            for (int i = 0; i < 2; i++) {
                WAIT(me, column[i] = realloc(column[i], size));
                column[i][0] = 1;
            }
        for (int i = 0; i < 2; i++)
            WAIT(me, free(column[i]));
    }
}

static void allocations(void)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    threads(of(60), grow);
}

enum { MAPPED = 16 * 4096 };

static void views(struct worker *me)
{
    while (another()) {
        char *view;
        WAIT(me, view = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        for (int i = 0; i < MAPPED; i += 4096)
            view[i] = 1;
        WAIT(me, munmap(view, MAPPED));
    }
}

static void mappings(void)
{
    threads(of(30), views);
}

int main(int count, char **words)
{
    static const struct mode modes[] = {
        {"table", table},           {"store", store},
        {"index", readers_and_writers}, {"place", place},
        {"turns", turns},           {"first-stage", first_stage},
        {"last-stage", last_stage}, {"allocations", allocations},
        {"mappings", mappings},     {NULL, NULL},
    };
    return planted(count, words, modes);
}
