/* A third set of planted programs in C: MODE n MILLISECONDS, with the same total work whatever n is. */
#include "work.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define NOINLINE __attribute__((noinline))

/* From half the mean to one and a half of it, the same for an item in every run. */
static double uneven(long item, double mean)
{
    uint64_t x = ((uint64_t)item + 1) * 0x9E3779B97F4A7C15u;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9u;
    return mean * (0.5 + (double)(x >> 40) / (double)(1u << 24));
}

static void pause_cpu(void)
{
    __builtin_ia32_pause();
}

/* A spinner gives the CPU away only after long: two workers on two CPUs hardly ever do. */
static void spin(unsigned *tries)
{
    pause_cpu();
    if (++*tries % 4096 == 0)
        sched_yield();
}

/* requests: a server that starts a thread for each request, at most n at a time. */

static sem_t slots;

static void *request(void *argument)
{
    compute(uneven((long)(intptr_t)argument, 1500));
    sem_post(&slots);
    return NULL;
}

static void requests(void)
{
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    sem_init(&slots, 0, (unsigned)workers);
    for (long i = 0; i < (long)(work_us / 1500); i++) {
        pthread_t thread;
        sem_wait(&slots);
        pthread_create(&thread, &detached, request, (void *)(intptr_t)i);
    }
    for (long i = 0; i < workers; i++)
        sem_wait(&slots);
}

/* runner: forks a child for each job, like make -j n. */

static void job(long number)
{
    compute(uneven(number, 4000));
    _exit(0);
}

static void runner(void)
{
    long running = 0;
    for (long i = 0; i < (long)(work_us / 4000); i++) {
        if (running == workers) {
            wait(NULL);
            running--;
        }
        if (fork() == 0)
            job(i);
        running++;
    }
    while (wait(NULL) > 0)
        ;
}

/* resolver: queries read a zone under a reader-writer lock; a helper renews the zone now and then. */

static pthread_rwlock_t zone_lock = PTHREAD_RWLOCK_INITIALIZER;
static long zone[1024];

static void *renew(void *unused)
{
    (void)unused;
    for (;;) {
        usleep(25000);
        pthread_rwlock_wrlock(&zone_lock);
        zone[0]++;
        pthread_rwlock_unlock(&zone_lock);
    }
    return NULL;
}

static void resolve(struct worker *me)
{
    long found = 0;
    while (another()) {
        about(me, 200);
        WAIT(me, pthread_rwlock_rdlock(&zone_lock));
        found += zone[draw(me) % 1024];
        pthread_rwlock_unlock(&zone_lock);
    }
    sink = (uint64_t)found;
}

static void resolver(void)
{
    pthread_t helper;
    pthread_create(&helper, NULL, renew, NULL);
    threads((long)(work_us / 200), resolve);
    pthread_cancel(helper);
    pthread_join(helper, NULL);
}

/* orders: a matching engine, its book under a ticket lock. */

static struct {
    atomic_uint next, serving;
    long bids[256];
} book;

NOINLINE static void book_enter(void)
{
    unsigned mine = atomic_fetch_add(&book.next, 1), tries = 0;
    while (atomic_load_explicit(&book.serving, memory_order_acquire) != mine)
        spin(&tries);
}

static void book_leave(void)
{
    atomic_fetch_add_explicit(&book.serving, 1, memory_order_release);
}

static void trade(struct worker *me)
{
    while (another()) {
        about(me, 12);
        WAIT(me, book_enter());
        book.bids[draw(me) % 256]++;
        about(me, 40);
        book_leave();
    }
}

static void orders(void)
{
    threads((long)(work_us / 52), trade);
}

/* catalogue: renderers look up fonts; who finds the catalogue taken comes back a little later. */

static pthread_mutex_t catalogue_lock = PTHREAD_MUTEX_INITIALIZER;

NOINLINE static void catalogue_enter(void)
{
    while (pthread_mutex_trylock(&catalogue_lock) != 0)
        usleep(80);
}

static void render(struct worker *me)
{
    while (another()) {
        about(me, 25);
        WAIT(me, catalogue_enter());
        about(me, 75);
        pthread_mutex_unlock(&catalogue_lock);
    }
}

static void catalogue(void)
{
    threads((long)(work_us / 100), render);
}

/* quotes: a sequence lock that is mostly written; a reader tries again until it saw a whole quote. */

static struct {
    atomic_uint sequence;
    _Atomic double price[8];
} quote;

NOINLINE static void quote_begin(void)
{
    for (unsigned tries = 0;; spin(&tries)) {
        unsigned seen = atomic_load(&quote.sequence);
        if (seen % 2 == 0 && atomic_compare_exchange_weak(&quote.sequence, &seen, seen + 1))
            return;
    }
}

NOINLINE static double quote_read(void)
{
    double sum = 0;
    unsigned tries = 0, before;
    do {
        while ((before = atomic_load(&quote.sequence)) % 2 != 0)
            spin(&tries);
        sum = 0;
        for (int i = 0; i < 8; i++)
            sum += quote.price[i];
    } while (atomic_load(&quote.sequence) != before);
    return sum;
}

static void publish(struct worker *me)
{
    while (another()) {
        about(me, 12);
        WAIT(me, quote_begin());
        about(me, 45);
        quote.price[draw(me) % 8] = (double)draw(me);
        atomic_fetch_add(&quote.sequence, 1);
        about(me, 3);
        WAIT(me, sink = (uint64_t)quote_read());
    }
}

static void quotes(void)
{
    threads((long)(work_us / 60), publish);
}

/* lru: a cache of decoded blocks under a lock that spins shortly and then sleeps. A miss decodes in the lock. */

static atomic_int cache_lock;
static struct {
    uint64_t key, used;
} cache[64];
static uint64_t cache_clock;

NOINLINE static void cache_enter(void)
{
    for (int i = 0; i < 40; i++) {
        int open = 0;
        if (atomic_compare_exchange_strong(&cache_lock, &open, 1))
            return;
        pause_cpu();
    }
    while (atomic_exchange(&cache_lock, 2) != 0)
        syscall(SYS_futex, &cache_lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void cache_leave(void)
{
    if (atomic_exchange(&cache_lock, 0) == 2)
        syscall(SYS_futex, &cache_lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void cache_get(uint64_t key)
{
    int oldest = 0;
    for (int i = 0; i < 64; i++) {
        if (cache[i].key == key) {
            cache[i].used = ++cache_clock;
            return;
        }
        if (cache[i].used < cache[oldest].used)
            oldest = i;
    }
    compute(75);
    cache[oldest].key = key;
    cache[oldest].used = ++cache_clock;
}

static void serve_blocks(struct worker *me)
{
    while (another()) {
        about(me, 25);
        WAIT(me, cache_enter());
        cache_get(1 + draw(me) % 100000);
        cache_leave();
    }
}

static void lru(void)
{
    threads((long)(work_us / 100), serve_blocks);
}

/* ledger: forked tellers move money between accounts under one robust mutex in shared memory. */

static struct ledger {
    pthread_mutex_t lock;
    long account[512];
} *ledger;

static void ledger_open(void)
{
    pthread_mutexattr_t kind;
    ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&ledger->lock, &kind);
}

NOINLINE static void ledger_enter(void)
{
    if (pthread_mutex_lock(&ledger->lock) == EOWNERDEAD)
        pthread_mutex_consistent(&ledger->lock);
}

static void teller(struct worker *me)
{
    while (another()) {
        about(me, 22);
        WAIT(me, ledger_enter());
        long amount = (long)(draw(me) % 100);
        ledger->account[draw(me) % 512] -= amount;
        about(me, 78);
        ledger->account[draw(me) % 512] += amount;
        pthread_mutex_unlock(&ledger->lock);
    }
}

static void bank(void)
{
    ledger_open();
    processes((long)(work_us / 100), teller);
}

/* audit: forked workers append to one log. Each signs its record while it holds the file's lock. */

static char audit_path[64];

static void audit_append(struct worker *me, int file)
{
    char line[96];
    WAIT(me, flock(file, LOCK_EX));
    about(me, 110);
    int length = snprintf(line, sizeof line, "worker=%ld event=%llu\n", me->id, (unsigned long long)draw(me));
    if (write(file, line, (size_t)length) != length)
        perror("audit");
    flock(file, LOCK_UN);
}

static void audited(struct worker *me)
{
    int file = open(audit_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    while (another()) {
        about(me, 35);
        audit_append(me, file);
    }
    close(file);
}

static void audit(void)
{
    snprintf(audit_path, sizeof audit_path, "/tmp/third-audit-%d.log", (int)getpid());
    processes((long)(work_us / 150), audited);
    unlink(audit_path);
}

/* encoder: cameras hand each frame to the one encoder thread through an eventfd and wait for their own. */

static int frames_posted;
static atomic_int closing;
static struct {
    atomic_int pending;
    int encoded;
} camera[256];

static void ring(int event)
{
    uint64_t one = 1;
    if (write(event, &one, sizeof one) != sizeof one)
        perror("eventfd");
}

static uint64_t rung(int event)
{
    uint64_t count = 0;
    return read(event, &count, sizeof count) == sizeof count ? count : 0;
}

static void *encode(void *unused)
{
    (void)unused;
    while (rung(frames_posted) && !atomic_load(&closing))
        for (long id = 0; id < workers; id++)
            if (atomic_exchange(&camera[id].pending, 0)) {
                compute(120);
                ring(camera[id].encoded);
            }
    return NULL;
}

static void film(struct worker *me)
{
    while (another()) {
        about(me, 30);
        atomic_store(&camera[me->id].pending, 1);
        ring(frames_posted);
        WAIT(me, rung(camera[me->id].encoded));
    }
}

static void encoder(void)
{
    pthread_t thread;
    frames_posted = eventfd(0, EFD_CLOEXEC);
    for (long id = 0; id < workers; id++)
        camera[id].encoded = eventfd(0, EFD_CLOEXEC);
    pthread_create(&thread, NULL, encode, NULL);
    threads((long)(work_us / 150), film);
    atomic_store(&closing, 1);
    ring(frames_posted);
    pthread_join(thread, NULL);
}

/* crawler: each page comes from a site that answers one request after the other. */

static socklen_t site_address(struct sockaddr_un *address, const char *name)
{
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "%s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address->sun_path + 1));
}

static int site_listen(void)
{
    char name[64];
    struct sockaddr_un address;
    snprintf(name, sizeof name, "third-site-%d", (int)getpid());
    socklen_t length = site_address(&address, name);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, length) != 0 || listen(listener, 64) != 0)
        exit(1);
    printf("%s\n", name);
    fflush(stdout);
    return listener;
}

/* Whether the client is still there. */
static int site_answer(int client)
{
    char page[256] = {0};
    if (read(client, page, sizeof page) <= 0)
        return 0;
    usleep(850);
    return send(client, page, sizeof page, MSG_NOSIGNAL) > 0;
}

static void site(void)
{
    struct pollfd watched[300] = {{.fd = site_listen(), .events = POLLIN}};
    int count = 1;
    while (poll(watched, (nfds_t)count, -1) >= 0) {
        for (int i = count - 1; i > 0; i--)
            if (watched[i].revents && !site_answer(watched[i].fd)) {
                close(watched[i].fd);
                watched[i] = watched[--count];
            }
        if (watched[0].revents && count < 300)
            watched[count++] = (struct pollfd){.fd = accept(watched[0].fd, NULL, NULL), .events = POLLIN};
    }
}

static int site_connect(void)
{
    const char *name = getenv("PLANTED_BACKEND");
    struct sockaddr_un address;
    socklen_t length = site_address(&address, name ? name : "");
    int site = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!name || connect(site, (struct sockaddr *)&address, length) != 0)
        exit(2);
    return site;
}

static int fetch_page(int site)
{
    char page[256];
    return send(site, "GET", 3, MSG_NOSIGNAL) == 3 && recv(site, page, sizeof page, MSG_WAITALL) > 0;
}

static void crawl(struct worker *me)
{
    int site = site_connect(), ok = 1;
    while (ok && another()) {
        WAIT(me, ok = fetch_page(site));
        about(me, 150);
    }
    close(site);
}

static void crawler(void)
{
    threads((long)(work_us / 1080), crawl);
}

/* journal: a store that writes each commit through to the disk while it holds its lock. */

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static int journal_file;

NOINLINE static void journal_commit(struct worker *me)
{
    char record[512];
    memset(record, 'a' + (int)(me->id % 26), sizeof record);
    WAIT(me, pthread_mutex_lock(&journal_lock));
    WAIT(me, if (write(journal_file, record, sizeof record) < 0 || fdatasync(journal_file) != 0) perror("journal"));
    pthread_mutex_unlock(&journal_lock);
}

static void store(struct worker *me)
{
    while (another()) {
        about(me, 50);
        journal_commit(me);
    }
}

static void journal(void)
{
    char path[] = "/tmp/third-journal-XXXXXX";
    journal_file = mkostemp(path, O_APPEND | O_CLOEXEC);
    threads((long)(work_us / 550), store);
    unlink(path);
    close(journal_file);
}

/* pairs: distances of all pairs of points. Each thread gets as many rows, but the rows get shorter. */

#define POINTS 2000

static void distances(struct worker *me)
{
    double pair_us = work_us / (POINTS * (POINTS + 1.0) / 2);
    long from = me->id * POINTS / workers, to = (me->id + 1) * POINTS / workers;
    for (long row = from; row < to; row++)
        compute(pair_us * (double)(POINTS - row));
}

static void pairs(void)
{
    threads(0, distances);
}

/* tick: a game server. All move their part of the world, then worker 0 alone sends it to the players. */

#define TICK_US 3000

static pthread_mutex_t tick_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t tick_changed = PTHREAD_COND_INITIALIZER;
static long moved, tick_now;

static void wait_for_tick(long tick)
{
    pthread_mutex_lock(&tick_lock);
    moved++;
    pthread_cond_broadcast(&tick_changed);
    while (tick_now == tick)
        pthread_cond_wait(&tick_changed, &tick_lock);
    pthread_mutex_unlock(&tick_lock);
}

static void wait_for_moves(void)
{
    pthread_mutex_lock(&tick_lock);
    while (moved < workers - 1)
        pthread_cond_wait(&tick_changed, &tick_lock);
    moved = 0;
    pthread_mutex_unlock(&tick_lock);
}

static void next_tick(void)
{
    pthread_mutex_lock(&tick_lock);
    tick_now++;
    pthread_cond_broadcast(&tick_changed);
    pthread_mutex_unlock(&tick_lock);
}

static void play(struct worker *me)
{
    for (long tick = 0; tick < (long)(work_us / TICK_US); tick++) {
        compute(0.55 * TICK_US / (double)workers);
        if (me->id != 0) {
            WAIT(me, wait_for_tick(tick));
            continue;
        }
        WAIT(me, wait_for_moves());
        compute(0.45 * TICK_US);
        next_tick();
    }
}

static void ticks(void)
{
    threads(0, play);
}

/* refs: each lookup takes and drops a reference to the one configuration, and counts itself there. */

static struct {
    _Alignas(64) atomic_long references, lookups;
    uint64_t salt;
} config = {.salt = 1442695040888963407u};

#define LOOKUP_TURNS 30

NOINLINE static uint64_t config_lookup(uint64_t key)
{
    atomic_fetch_add(&config.references, 1);
    for (int i = 0; i < 12; i++)
        key = key * 6364136223846793005u + config.salt;
    atomic_fetch_add(&config.lookups, 1);
    atomic_fetch_sub(&config.references, 1);
    return key;
}

static void look_up(struct worker *me)
{
    long count = (long)(work_us * turns_per_us / LOOKUP_TURNS) / workers;
    uint64_t key = me->seed;
    while (count-- > 0)
        key = config_lookup(key);
    sink = key;
}

static void refs(void)
{
    threads(0, look_up);
}

/* protect: collectors write-protect their own heap while they mark it, and open it again. */

#define HEAP ((size_t)8 << 20)

static void collect(struct worker *me)
{
    char *heap = mmap(NULL, HEAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(heap, 1, HEAP);
    while (another()) {
        mprotect(heap, HEAP, PROT_READ);
        about(me, 8);
        mprotect(heap, HEAP, PROT_READ | PROT_WRITE);
        heap[draw(me) % HEAP]++;
    }
    munmap(heap, HEAP);
}

static void protect(void)
{
    threads((long)(work_us / 75), collect);
}

static const struct mode modes[] = {
    {"requests", requests}, {"runner", runner}, {"resolver", resolver}, {"orders", orders},
    {"catalogue", catalogue}, {"quotes", quotes}, {"lru", lru}, {"bank", bank},
    {"audit", audit}, {"encoder", encoder}, {"site", site}, {"crawler", crawler},
    {"journal", journal}, {"pairs", pairs}, {"ticks", ticks}, {"refs", refs},
    {"protect", protect}, {NULL, NULL},
};

int main(int count, char **words)
{
    return planted(count, words, modes);
}
