/* N threads do the same work each: cc -O2 -pthread threads.c -o threads; ./threads cpu 4 */
#include "work.h"
#include <pthread.h>

static const char *kind;
static unsigned long sums[1024];

static void *one(void *number) {
    int n = (int)(long)number;
    sums[n] = work(kind, n);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[1024];
    int n = workers(argc, argv);
    unsigned long sum = 0;
    if (n > 1024) n = 1024;
    kind = argv[1];
    for (long i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, one, (void *)i) != 0) abort();
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    printf("%lu\n", sum);
    return 0;
}
