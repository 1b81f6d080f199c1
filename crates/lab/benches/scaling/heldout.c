/* Programs that nobody tuned the analysis to: threads that share memory. */
#include "work.h"
#include <sched.h>
#include <semaphore.h>

#define APART __attribute__((noinline))

static long of(double us)
{
    return (long)(work_us / us);
}

/* Matrix product, in OpenMP. Nothing in the way. */
enum { SIDE = 256 };
static double left_matrix[SIDE][SIDE], right_matrix[SIDE][SIDE], product[SIDE][SIDE];

static void product_row(int row)
{
    for (int column = 0; column < SIDE; column++)
        product[row][column] = 0;
    for (int k = 0; k < SIDE; k++)
        for (int column = 0; column < SIDE; column++)
            product[row][column] += left_matrix[row][k] * right_matrix[k][column];
}

static void matrix(void)
{
    for (int i = 0; i < SIDE * SIDE; i++)
        left_matrix[i / SIDE][i % SIDE] = right_matrix[i / SIDE][i % SIDE] = i % 17;
    long times = of(2.8e3);
#pragma omp parallel for num_threads((int)workers) schedule(dynamic, 8)
    for (long row = 0; row < times * SIDE; row++)
        product_row((int)(row % SIDE));
    sink = (uint64_t)product[3][5];
}

/* Correlation of all pairs of rows: half a matrix, split by rows without regard to their length. */
static void correlation(void)
{
    enum { ROWS = 1000 };
    double each = 2.0 * work_us / ROWS / ROWS;
#pragma omp parallel for num_threads((int)workers) schedule(static)
    for (int row = 0; row < ROWS; row++)
        compute(each * row);
}

/* Heat in a plate whose upper half melts: each of its cells costs three times as much. */
static void heat(void)
{
    enum { STEPS = 80, ROWS = 64 };
    double each = work_us / STEPS / ROWS;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel for num_threads((int)workers) schedule(static)
        for (int row = 0; row < ROWS; row++)
            compute(row < ROWS / 2 ? 1.5 * each : 0.5 * each);
    }
}

/* Counts words in 16 shelves with a lock each; nearly all words of this text are in the first. */
enum { SHELVES = 16, PER_SHELF = 2000 };
struct word {
    struct word *next;
    long seen;
    char text[16];
};
struct shelf {
    pthread_mutex_t guard;
    struct word *first;
};
static struct shelf *dictionary;

static uint64_t hash_page(uint64_t page)
{
    uint64_t hash = 14695981039346656037u;
    for (int letter = 0; letter < 6000; letter++)
        hash = (hash ^ ((page + (uint64_t)letter) & 255)) * 1099511628211u;
    return hash;
}

static APART void count_word(struct shelf *shelf, const char *text)
{
    pthread_mutex_lock(&shelf->guard);
    for (struct word *word = shelf->first; word; word = word->next)
        if (strcmp(word->text, text) == 0) {
            word->seen++;
            break;
        }
    pthread_mutex_unlock(&shelf->guard);
}

static void read_pages(struct worker *me)
{
    while (another()) {
        sink = hash_page(draw(me));
        char text[16];
        snprintf(text, sizeof text, "w%d", (int)(draw(me) % 500));
        count_word(&dictionary[draw(me) % 10 ? 0 : draw(me) % SHELVES], text);
    }
}

static void words(void)
{
    dictionary = calloc(SHELVES, sizeof *dictionary);
    for (int i = 0; i < SHELVES; i++) {
        pthread_mutex_init(&dictionary[i].guard, NULL);
        for (int k = 0; k < PER_SHELF; k++) {
            struct word *word = calloc(1, sizeof *word);
            snprintf(word->text, sizeof word->text, "w%d", k);
            word->next = dictionary[i].first;
            dictionary[i].first = word;
        }
    }
    threads(of(10), read_pages);
}

/* A bank: each transfer sums up all accounts, under the one lock. */
enum { ACCOUNTS = 20000 };
static pthread_mutex_t vault = PTHREAD_MUTEX_INITIALIZER;
static volatile long balance[ACCOUNTS];

static APART void transfer(long from, long to)
{
    pthread_mutex_lock(&vault);
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        sum += balance[i];
    balance[from] -= sum % 7 + 1;
    balance[to] += sum % 7 + 1;
    pthread_mutex_unlock(&vault);
}

static void customers(struct worker *me)
{
    while (another())
        transfer((long)(draw(me) % ACCOUNTS), (long)(draw(me) % ACCOUNTS));
}

static void bank(void)
{
    threads(of(5), customers);
}

/* Lines of measured values, formatted into one FILE. */
static FILE *protocol;

static void write_lines(struct worker *me)
{
    while (another()) {
        double x = (double)draw(me) / 3e3;
        fprintf(protocol, "%ld %.17g %.17g %.17g %.17g\n", me->id, x, x / 3, x / 7, x / 11);
    }
}

static void lines(void)
{
    protocol = fopen("/dev/null", "w");
    threads(of(1.2), write_lines);
    fclose(protocol);
}

/* A resolver that keeps names: one of four is unknown, and is computed while all others wait. */
static pthread_rwlock_t names_known = PTHREAD_RWLOCK_INITIALIZER;

static void resolve(struct worker *me)
{
    while (another()) {
        about(me, 15);
        pthread_rwlock_rdlock(&names_known);
        about(me, 4);
        pthread_rwlock_unlock(&names_known);
        if (draw(me) % 4 == 0) {
            pthread_rwlock_wrlock(&names_known);
            about(me, 180);
            pthread_rwlock_unlock(&names_known);
        }
    }
}

static void resolver(void)
{
    threads(of(64), resolve);
}

/* A pool with one connection; all who wait for it are woken when it comes back. */
static pthread_mutex_t pool_guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came_back = PTHREAD_COND_INITIALIZER;
static int idle = 1;

static void with_connection(struct worker *me)
{
    while (another()) {
        about(me, 60);
        pthread_mutex_lock(&pool_guard);
        while (idle == 0)
            pthread_cond_wait(&came_back, &pool_guard);
        idle--;
        pthread_mutex_unlock(&pool_guard);
        about(me, 140);
        pthread_mutex_lock(&pool_guard);
        idle++;
        pthread_cond_broadcast(&came_back);
        pthread_mutex_unlock(&pool_guard);
    }
}

static void connections(void)
{
    threads(of(200), with_connection);
}

/* A reader puts blocks into a buffer of 16; the workers compress them faster than it reads. */
static sem_t full, empty;

static void compress(struct worker *me)
{
    while (another()) {
        while (sem_wait(&full))
            ;
        sem_post(&empty);
        about(me, 60);
    }
}

static void *read_blocks(void *count)
{
    struct worker reader = {.seed = 5};
    for (long i = *(long *)count; i > 0; i--) {
        about(&reader, 90);
        while (sem_wait(&empty))
            ;
        sem_post(&full);
    }
    return NULL;
}

static void blocks(void)
{
    long count = of(90);
    pthread_t reader;
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 16);
    pthread_create(&reader, NULL, read_blocks, &count);
    threads(count, compress);
    pthread_join(reader, NULL);
}

/* Pi by throwing darts, with the library's rand(). */
static void throw_darts(struct worker *me)
{
    (void)me;
    long hits = 0;
    while (another())
        for (int i = 0; i < 1000; i++) {
            double x = rand() / (double)RAND_MAX, y = rand() / (double)RAND_MAX;
            hits += x * x + y * y < 1;
        }
    sink = (uint64_t)hits;
}

static void darts(void)
{
    threads(of(25), throw_darts);
}

/* A runtime that makes a page of code writable, changes it, and makes it executable again. */
static void patch_code(struct worker *me)
{
    enum { PAGES = 8, SIZE = PAGES * 4096 };
    char *code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    while (another()) {
        mprotect(code, SIZE, PROT_READ | PROT_WRITE);
        for (int i = 0; i < SIZE; i += 4096)
            code[i] = (char)me->id;
        mprotect(code, SIZE, PROT_READ);
    }
}

static void patches(void)
{
    threads(of(3), patch_code);
}

/* A ticket lock around a cache; who has waited for long gives the CPU away. */
static atomic_uint ticket, serving;

static void look_up(struct worker *me)
{
    while (another()) {
        about(me, 8);
        unsigned mine = atomic_fetch_add(&ticket, 1);
        for (int turn = 0; atomic_load(&serving) != mine;)
            if (++turn % 2000 == 0)
                sched_yield();
        about(me, 12);
        atomic_fetch_add(&serving, 1);
    }
}

static void cache(void)
{
    threads(of(20), look_up);
}

/* A memory pool behind a flag that is tested and set. */
static atomic_flag pool_taken = ATOMIC_FLAG_INIT;

static void use_pool(struct worker *me)
{
    while (another()) {
        about(me, 3);
        while (atomic_flag_test_and_set_explicit(&pool_taken, memory_order_acquire))
#if defined(__x86_64__)
            __builtin_ia32_pause();
#else
            ;
#endif
        about(me, 4);
        atomic_flag_clear_explicit(&pool_taken, memory_order_release);
    }
}

static void pool(void)
{
    threads(of(7), use_pool);
}

/* The histogram of a picture that is nearly all sky: one bin. */
static atomic_ulong bins[256];

static void count_colours(struct worker *me)
{
    while (another())
        for (int pixel = 0; pixel < 4000; pixel++)
            atomic_fetch_add_explicit(&bins[pixel % 50 ? 200 : draw(me) % 256], 1, memory_order_relaxed);
}

static void histogram(void)
{
    threads(of(28), count_colours);
}

/* Lines, words and bytes of each worker, one after the other in one array. */
struct tally {
    volatile long lines, words, bytes;
};
static struct tally *tallies;

static void count_text(struct worker *me)
{
    struct tally *tally = &tallies[me->id];
    while (another())
        for (long letter = 0; letter < 10000; letter++) {
            tally->bytes++;
            tally->words += letter % 6 == 0;
            tally->lines += letter % 70 == 0;
        }
}

static void text(void)
{
    tallies = calloc((size_t)workers, sizeof *tallies);
    threads(of(8), count_text);
}

/* A picture's rows are filtered in parallel, and then encoded by main: 40 % of the work. */
enum { WIDTH = 4096 };
static void filter_row(struct worker *me)
{
    (void)me;
    static _Thread_local volatile int row[WIDTH + 2];
    while (another())
        for (int x = 1; x <= WIDTH; x++)
            row[x] = (row[x - 1] + 2 * row[x] + row[x + 1] + 1) / 4;
}

static void picture(void)
{
    long rows = of(5);
    threads(rows * 6 / 10, filter_row);
    atomic_store(&shared->left, rows * 4 / 10);
    struct worker encoder = {.id = 0};
    filter_row(&encoder);
}

/* Bodies that attract each other: forces in new threads, then main moves all: a quarter of each step. */
static void forces(struct worker *me)
{
    (void)me;
    while (another())
        compute(100);
}

static void bodies(void)
{
    enum { STEPS = 40 };
    for (int step = 0; step < STEPS; step++) {
        threads((long)(0.75 * work_us / STEPS / 100), forces);
        compute(0.25 * work_us / STEPS);
    }
}

/* A pool of eight threads, whatever n is. */
static void eight(void)
{
    long asked = workers;
    workers = 8;
    threads(of(100), forces);
    workers = asked;
}

/* Each worker has tasks and a lock of its own; whoever has none left steals one. All tasks start at one. */
static struct deque {
    _Alignas(128) pthread_mutex_t guard;
    long tasks;
} deques[256];

static int take_from(struct deque *deque, long most)
{
    pthread_mutex_lock(&deque->guard);
    long taken = deque->tasks < most ? deque->tasks : most;
    deque->tasks -= taken;
    pthread_mutex_unlock(&deque->guard);
    return (int)taken;
}

static void steal(struct worker *me)
{
    for (;;) {
        int taken = take_from(&deques[me->id], 1);
        for (long other = 1; taken == 0 && other < workers; other++)
            taken = take_from(&deques[(me->id + other) % workers], 5);
        if (taken == 0)
            return;
        for (; taken > 0; taken--)
            compute(200);
    }
}

static void stealing(void)
{
    for (long i = 0; i < workers; i++)
        pthread_mutex_init(&deques[i].guard, NULL);
    deques[0].tasks = of(200);
    threads(0, steal);
}

int main(int count, char **given)
{
    static const struct mode modes[] = {
        {"matrix", matrix}, {"correlation", correlation}, {"heat", heat}, {"words", words}, {"bank", bank},
        {"lines", lines}, {"resolver", resolver}, {"connections", connections}, {"blocks", blocks},
        {"darts", darts}, {"patches", patches}, {"cache", cache}, {"pool", pool}, {"histogram", histogram},
        {"text", text}, {"picture", picture}, {"bodies", bodies}, {"eight", eight}, {"stealing", stealing},
        {NULL, NULL},
    };
    return planted(count, given, modes);
}
