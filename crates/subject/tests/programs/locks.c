/* Three threads that hold one static object in turn, between arrays that they write to. */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

static long array_before[3000];
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t book = PTHREAD_RWLOCK_INITIALIZER;
static sem_t slots;
static struct { long titles[10]; pthread_rwlock_t inner; pthread_rwlock_t other; } shelf = {
    { 0 }, PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER,
};
static struct { char name[100]; pthread_mutex_t inner; } table[4] = {
    { "", PTHREAD_MUTEX_INITIALIZER }, { "", PTHREAD_MUTEX_INITIALIZER },
    { "", PTHREAD_MUTEX_INITIALIZER }, { "", PTHREAD_MUTEX_INITIALIZER },
};
static long array_after[3000];
static const char *mode;

static int is(const char *name) { return strcmp(mode, name) == 0; }

static void *drain(void *unused)
{
    for (int i = 0; i < 25; i++) {
        is("gate") ? (void)pthread_mutex_lock(&gate)
        : is("book") ? (void)pthread_rwlock_wrlock(&book)
        : is("slots") ? (void)sem_wait(&slots)
        : is("shelf") ? (void)pthread_rwlock_wrlock(&shelf.inner)
                      : (void)pthread_mutex_lock(&table[2].inner);
        struct timespec ten_ms = {0, 10000000};
        nanosleep(&ten_ms, 0);
        array_before[i]++;
        array_after[i]++;
        is("gate") ? (void)pthread_mutex_unlock(&gate)
        : is("book") ? (void)pthread_rwlock_unlock(&book)
        : is("slots") ? (void)sem_post(&slots)
        : is("shelf") ? (void)pthread_rwlock_unlock(&shelf.inner)
                      : (void)pthread_mutex_unlock(&table[2].inner);
    }
    return unused;
}

int main(int count, char **words)
{
    mode = count > 1 ? words[1] : "gate";
    sem_init(&slots, 0, 1);
    pthread_t all[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&all[i], 0, drain, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(all[i], 0);
    return 0;
}
