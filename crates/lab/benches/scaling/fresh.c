/* A box of small concurrent programs. Called as MODE n MILLISECONDS: n workers share work that takes one worker
 * about that long. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define MOST 64
#define USUAL_TURNS 760.0

static int nworkers;
static double amount_ms = 250, cpu_speed = 1;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* So many of something that takes 250 ms per `in_250_ms`. */
static long amount(double in_250_ms)
{
    return (long)(in_250_ms * amount_ms / 250 * cpu_speed);
}

/* For what waits, where the CPU's speed does not matter. */
static long amount_waiting(double in_250_ms)
{
    return (long)(in_250_ms * amount_ms / 250);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    x ^= x >> 33;
    return x;
}

static void start_and_join(void *(*body)(void *))
{
    pthread_t t[MOST];
    for (long i = 0; i < nworkers; i++)
        if (pthread_create(&t[i], NULL, body, (void *)i) != 0)
            die("pthread_create");
    for (int i = 0; i < nworkers; i++)
        pthread_join(t[i], NULL);
}

static void folder_path(char *out, size_t size, const char *file)
{
    const char *folder = getenv("PLANTED_FOLDER");
    snprintf(out, size, "%s/%s", folder ? folder : "/tmp", file);
}

/* ---------------------------------------------------------------- ray tracer */

struct vec { double x, y, z; };
struct sphere { struct vec at; double radius, shade; };

static struct sphere scene[14];
static unsigned char *frame;
static long frame_rows, rows_done;
static atomic_long next_row;
static pthread_mutex_t progress_lock = PTHREAD_MUTEX_INITIALIZER;

static double root(double v)
{
    if (v <= 0)
        return 0;
    union { double d; uint64_t u; } g = {.d = v};
    g.u = (g.u >> 1) + 0x1ff8000000000000ULL;
    for (int i = 0; i < 4; i++)
        g.d = 0.5 * (g.d + v / g.d);
    return g.d;
}

static double dot(struct vec a, struct vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static double trace(struct vec from, struct vec dir, int depth)
{
    double nearest = 1e30;
    const struct sphere *hit = NULL;
    for (size_t i = 0; i < sizeof scene / sizeof *scene; i++) {
        struct vec oc = {from.x - scene[i].at.x, from.y - scene[i].at.y, from.z - scene[i].at.z};
        double b = dot(oc, dir), c = dot(oc, oc) - scene[i].radius * scene[i].radius, d = b * b - c;
        if (d <= 0)
            continue;
        double t = -b - root(d);
        if (t > 1e-4 && t < nearest) {
            nearest = t;
            hit = &scene[i];
        }
    }
    if (!hit)
        return 0.2 + 0.2 * dir.y;
    if (depth == 0)
        return hit->shade;
    struct vec p = {from.x + nearest * dir.x, from.y + nearest * dir.y, from.z + nearest * dir.z};
    struct vec nrm = {(p.x - hit->at.x) / hit->radius, (p.y - hit->at.y) / hit->radius,
                      (p.z - hit->at.z) / hit->radius};
    double k = 2 * dot(dir, nrm);
    struct vec out = {dir.x - k * nrm.x, dir.y - k * nrm.y, dir.z - k * nrm.z};
    return 0.6 * hit->shade + 0.4 * trace(p, out, depth - 1);
}

static void *render(void *unused)
{
    (void)unused;
    for (;;) {
        long y = atomic_fetch_add(&next_row, 1);
        if (y >= frame_rows)
            return NULL;
        for (int x = 0; x < 320; x++) {
            struct vec d = {(x - 160) / 200.0, ((y % 240) - 120) / 200.0, 1};
            double len = root(dot(d, d));
            d = (struct vec){d.x / len, d.y / len, d.z / len};
            frame[y * 320 + x] = (unsigned char)(255 * trace((struct vec){0, 0, -4}, d, 3) / 2);
        }
        pthread_mutex_lock(&progress_lock);
        rows_done++;
        pthread_mutex_unlock(&progress_lock);
    }
}

static void raytrace(void)
{
    for (int i = 0; i < 14; i++)
        scene[i] = (struct sphere){{(i % 5) - 2.0, (i / 5) - 1.0, 2 + i % 3}, 0.55, 0.3 + 0.05 * i};
    frame_rows = amount(5600);
    frame = malloc((size_t)frame_rows * 320);
    start_and_join(render);
    uint64_t sum = 0;
    for (long i = 0; i < frame_rows * 320; i += 97)
        sum += frame[i];
    printf("%ld rows, checksum %llu\n", rows_done, (unsigned long long)sum);
}

/* ---------------------------------------------------------------- matrix product with OpenMP */

#define SIDE 256

static void matmul(void)
{
    static float b[SIDE][SIDE];
    long rows = amount(9800);
    double diagonal = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            b[i][j] = (float)((i * 7 + j * 3) % 11) / 11;
#pragma omp parallel for num_threads(nworkers) schedule(static) reduction(+ : diagonal)
    for (long i = 0; i < rows; i++) {
        float c[SIDE] = {0};
        for (int k = 0; k < SIDE; k++) {
            float f = (float)(mix((uint64_t)(i * SIDE + k)) & 1023) / 1024;
            for (int j = 0; j < SIDE; j++)
                c[j] += f * b[k][j];
        }
        diagonal += c[i % SIDE];
    }
    printf("sum of the diagonals %.2f\n", diagonal);
}

/* ---------------------------------------------------------------- option prices by Monte Carlo, in processes */

static double price_paths(uint64_t seed, long paths)
{
    double total = 0;
    uint64_t s = mix(seed + 1);
    for (long p = 0; p < paths; p++) {
        double price = 100;
        for (int step = 0; step < 50; step++) {
            double gauss = -6;
            for (int i = 0; i < 12; i++) {
                s ^= s << 13;
                s ^= s >> 7;
                s ^= s << 17;
                gauss += (double)(s >> 11) * 0x1p-53;
            }
            price *= 1.0002 + 0.01 * gauss;
        }
        total += price > 100 ? price - 100 : 0;
    }
    return total;
}

static void options(void)
{
    long paths = amount(180000);
    struct { double sum; char gap[120]; } *part =
        mmap(NULL, sizeof *part * MOST, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < nworkers; i++)
        if (fork() == 0) {
            part[i].sum = price_paths((uint64_t)i, paths * (i + 1) / nworkers - paths * i / nworkers);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    double sum = 0;
    for (int i = 0; i < nworkers; i++)
        sum += part[i].sum;
    printf("call at 100: %.4f\n", sum / (double)paths);
}

/* ---------------------------------------------------------------- log analyser (C11 threads) */

#define LINES 2048
#define HITS 4096

static char log_line[LINES][96];
static struct hit { uint64_t key; long count, bytes; double heat; } hits[HITS];
static mtx_t hits_lock;
static atomic_long next_batch;
static long batches;

static uint64_t field_hash(const char *line, int field)
{
    uint64_t h = 14695981039346656037u;
    for (; *line && field > 0; line++)
        field -= *line == ' ';
    for (; *line && *line != ' '; line++)
        h = (h ^ (unsigned char)*line) * 1099511628211u;
    return h | 1;
}

static void count_hit(uint64_t key, long bytes)
{
    size_t at = mix(key) % HITS;
    while (hits[at].key != key && hits[at].key != 0)
        at = (at + 1) % HITS;
    hits[at].key = key;
    hits[at].count++;
    hits[at].bytes += bytes;
    /* neighbours cool down */
    for (size_t i = 0; i < 112; i++)
        hits[(at + i) % HITS].heat *= 0.999;
    hits[at].heat += 1;
}

static int analyse(void *unused)
{
    (void)unused;
    uint64_t keys[64];
    for (long b; (b = atomic_fetch_add(&next_batch, 1)) < batches;) {
        for (int i = 0; i < 64; i++)
            keys[i] = field_hash(log_line[(b * 64 + i) % LINES], 2);
        mtx_lock(&hits_lock);
        for (int i = 0; i < 64; i++)
            count_hit(keys[i], (long)(keys[i] & 4095));
        mtx_unlock(&hits_lock);
    }
    return 0;
}

static void logs(void)
{
    for (int i = 0; i < LINES; i++)
        snprintf(log_line[i], sizeof log_line[i], "10.0.%d.%d GET /shop/item/%d/index.html 200 %d", i % 7, i % 251,
                 (i * 31) % 900, i * 17 % 5000);
    batches = amount(22000);
    mtx_init(&hits_lock, mtx_plain);
    thrd_t t[MOST];
    for (int i = 0; i < nworkers; i++)
        thrd_create(&t[i], analyse, NULL);
    for (int i = 0; i < nworkers; i++)
        thrd_join(t[i], NULL);
    long most = 0;
    for (int i = 0; i < HITS; i++)
        most = hits[i].count > most ? hits[i].count : most;
    printf("most popular page: %ld hits\n", most);
}

/* ---------------------------------------------------------------- bank */

#define ACCOUNTS 128

static long balance[ACCOUNTS];
static uint64_t ledger_seal;
static pthread_spinlock_t ledger_spin;
static atomic_long next_transfer;
static long transfers;

static void transfer(int from, int to, long sum)
{
    pthread_spin_lock(&ledger_spin);
    balance[from] -= sum;
    balance[to] += sum;
    uint64_t seal = ledger_seal;
    for (int i = 0; i < ACCOUNTS; i++)
        seal = mix(seal ^ (uint64_t)balance[i]);
    ledger_seal = seal;
    pthread_spin_unlock(&ledger_spin);
}

static void *teller(void *unused)
{
    (void)unused;
    for (long i; (i = atomic_fetch_add(&next_transfer, 1)) < transfers;) {
        uint64_t order = (uint64_t)i;
        for (int check = 0; check < 50; check++)
            order = mix(order + 7);
        transfer((int)(order % ACCOUNTS), (int)(order / ACCOUNTS % ACCOUNTS), (long)(order % 1000));
    }
    return NULL;
}

static void bank(void)
{
    pthread_spin_init(&ledger_spin, PTHREAD_PROCESS_PRIVATE);
    transfers = amount(300000);
    start_and_join(teller);
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        sum += balance[i];
    printf("the balances sum up to %ld, seal %llx\n", sum, (unsigned long long)ledger_seal);
}

/* ---------------------------------------------------------------- memoising cache */

#define SLOTS 1024

static struct { uint64_t key, value; } memo[SLOTS];
static pthread_rwlock_t memo_rw = PTHREAD_RWLOCK_INITIALIZER;
static atomic_long next_query;
static long queries;

static uint64_t collatz(uint64_t from)
{
    uint64_t longest = 0;
    for (uint64_t s = from; s < from + 40; s++) {
        uint64_t steps = 0;
        for (uint64_t v = s; v > 1; steps++)
            v = v & 1 ? 3 * v + 1 : v / 2;
        longest = steps > longest ? steps : longest;
    }
    return longest;
}

static uint64_t memoised(uint64_t key)
{
    size_t slot = mix(key) % SLOTS;
    uint64_t value = 0;
    pthread_rwlock_rdlock(&memo_rw);
    if (memo[slot].key == key)
        value = memo[slot].value;
    pthread_rwlock_unlock(&memo_rw);
    if (value)
        return value;
    pthread_rwlock_wrlock(&memo_rw);
    if (memo[slot].key != key) {
        memo[slot].key = key;
        memo[slot].value = collatz(key * 1000);
    }
    value = memo[slot].value;
    pthread_rwlock_unlock(&memo_rw);
    return value;
}

static void *asker(void *unused)
{
    (void)unused;
    uint64_t sum = 0;
    for (long i; (i = atomic_fetch_add(&next_query, 1)) < queries;) {
        uint64_t answer = memoised((uint64_t)i + 1);
        for (int round = 0; round < 700; round++)
            answer = mix(answer);
        sum += answer;
    }
    return (void *)(uintptr_t)sum;
}

static void memoise(void)
{
    queries = amount(17500);
    start_and_join(asker);
    printf("%ld answers\n", queries);
}

/* ---------------------------------------------------------------- compressor: one reader, many packers */

#define BLOCK 4096
#define QUEUED 8

struct block { unsigned char byte[BLOCK]; };

static struct block ring[QUEUED];
static int ring_head, ring_count, ring_closed;
static pthread_mutex_t ring_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t blocks_ready = PTHREAD_COND_INITIALIZER, blocks_wanted = PTHREAD_COND_INITIALIZER;
static atomic_long packed_bytes;
static long file_blocks;
static int read_rounds = 10;

/* Stands for a codec that decodes the input, which only goes in order. */
static void read_block(struct block *to, uint64_t *state)
{
    uint64_t s = *state;
    for (int round = 0; round < read_rounds; round++)
        for (int i = 0; i < BLOCK; i++) {
            s = s * 6364136223846793005u + 1442695040888963407u;
            to->byte[i] = (unsigned char)((s >> 60) ^ (round ? to->byte[i] : 0));
        }
    *state = s;
}

static long pack_block(const struct block *block)
{
    short last[256];
    memset(last, -1, sizeof last);
    long out = 0;
    for (int i = 0; i < BLOCK - 4; i++) {
        unsigned h = (block->byte[i] * 33u + block->byte[i + 1] * 7u + block->byte[i + 2]) & 255;
        int at = last[h], run = 0;
        last[h] = (short)i;
        if (at >= 0)
            while (run < 4 && block->byte[at + run] == block->byte[i + run])
                run++;
        out += run >= 3 ? 1 : 2;
    }
    return out;
}

static void *packer(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&ring_lock);
        while (ring_count == 0 && !ring_closed)
            pthread_cond_wait(&blocks_ready, &ring_lock);
        if (ring_count == 0) {
            pthread_mutex_unlock(&ring_lock);
            return NULL;
        }
        struct block mine = ring[ring_head];
        ring_head = (ring_head + 1) % QUEUED;
        ring_count--;
        pthread_cond_signal(&blocks_wanted);
        pthread_mutex_unlock(&ring_lock);
        atomic_fetch_add(&packed_bytes, pack_block(&mine));
    }
}

static void compress(void)
{
    pthread_t t[MOST];
    uint64_t state = 1;
    struct block next;
    file_blocks = amount(3300);
    for (int i = 1; i < nworkers; i++)
        pthread_create(&t[i], NULL, packer, NULL);
    for (long b = 0; b < file_blocks; b++) {
        read_block(&next, &state);
        if (nworkers == 1) {
            packed_bytes += pack_block(&next);
            continue;
        }
        pthread_mutex_lock(&ring_lock);
        while (ring_count == QUEUED)
            pthread_cond_wait(&blocks_wanted, &ring_lock);
        ring[(ring_head + ring_count) % QUEUED] = next;
        ring_count++;
        pthread_cond_signal(&blocks_ready);
        pthread_mutex_unlock(&ring_lock);
    }
    pthread_mutex_lock(&ring_lock);
    ring_closed = 1;
    pthread_cond_broadcast(&blocks_ready);
    pthread_mutex_unlock(&ring_lock);
    for (int i = 1; i < nworkers; i++)
        pthread_join(t[i], NULL);
    printf("%ld blocks to %ld bytes\n", file_blocks, (long)packed_bytes);
}

/* ---------------------------------------------------------------- brightness classes of an image */

static struct tally { long dark, middle, bright; } __attribute__((aligned(8))) tally[MOST]
    __attribute__((aligned(64)));
static unsigned char image[1 << 16];
static long pixels;

static void *classify(void *argument)
{
    long id = (long)argument, from = pixels * id / nworkers, to = pixels * (id + 1) / nworkers;
    struct tally *mine = &tally[id];
    for (long i = from; i < to; i++) {
        unsigned char p = image[i & 0xffff];
        if (p < 80)
            mine->dark++;
        else if (p < 176)
            mine->middle++;
        else
            mine->bright++;
        __asm__ volatile("" ::: "memory");
    }
    return NULL;
}

static void brightness(void)
{
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (unsigned char)((i >> 5) * 13 + i % 3);
    pixels = amount(340e6);
    start_and_join(classify);
    long sum[3] = {0};
    for (int i = 0; i < nworkers; i++) {
        sum[0] += tally[i].dark;
        sum[1] += tally[i].middle;
        sum[2] += tally[i].bright;
    }
    printf("%ld dark, %ld middle, %ld bright\n", sum[0], sum[1], sum[2]);
}

/* ---------------------------------------------------------------- request handlers with statistics */

static struct {
    atomic_long requests, bytes_in, bytes_out, status[6];
} stats;
static long requests_in_all;

static void *handler(void *argument)
{
    long id = (long)argument, from = requests_in_all * id / nworkers, to = requests_in_all * (id + 1) / nworkers;
    for (long r = from; r < to; r++) {
        uint64_t session = mix((uint64_t)r);
        atomic_fetch_add(&stats.requests, 1);
        atomic_fetch_add(&stats.bytes_in, (long)(session & 511));
        session = mix(session + 3);
        atomic_fetch_add(&stats.status[session % 6], 1);
        atomic_fetch_add(&stats.bytes_out, (long)(session & 8191));
    }
    return NULL;
}

static void requests(void)
{
    requests_in_all = amount(22e6);
    start_and_join(handler);
    printf("%ld requests, %ld bytes out\n", (long)stats.requests, (long)stats.bytes_out);
}

/* ---------------------------------------------------------------- audit trail */

static int audit_fd;
static atomic_long audit_left;

static void *auditor(void *argument)
{
    char record[256];
    for (long i; (i = atomic_fetch_sub(&audit_left, 1)) > 0;) {
        uint64_t sign = (uint64_t)i;
        for (int k = 0; k < 2000; k++)
            sign = mix(sign);
        int size = snprintf(record, sizeof record, "%ld user=%ld action=login sign=%016llx\n", i, (long)argument,
                            (unsigned long long)sign);
        if (write(audit_fd, record, (size_t)size) != size)
            die("write");
    }
    return NULL;
}

static void audit(void)
{
    char path[512];
    folder_path(path, sizeof path, "audit.log");
    audit_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_DSYNC, 0644);
    if (audit_fd < 0)
        die(path);
    audit_left = amount_waiting(80);
    start_and_join(auditor);
    close(audit_fd);
}

/* ---------------------------------------------------------------- print spool: processes and flock */

static uint64_t layout(uint64_t x, int rounds)
{
    for (int i = 0; i < rounds; i++)
        x = mix(x + (uint64_t)i);
    return x;
}

static void spooler(void)
{
    char path[512];
    folder_path(path, sizeof path, "spool.lock");
    atomic_long *left = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *left = amount(375);
    for (int i = 0; i < nworkers; i++)
        if (fork() == 0) {
            int fd = open(path, O_RDWR | O_CREAT, 0644);
            if (fd < 0)
                die(path);
            uint64_t page = 0;
            while (atomic_fetch_sub(left, 1) > 0) {
                page = layout(page, 45000);
                flock(fd, LOCK_EX);
                page = layout(page, 105000);
                if (pwrite(fd, &page, sizeof page, 0) != sizeof page)
                    die("pwrite");
                flock(fd, LOCK_UN);
            }
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}

/* ---------------------------------------------------------------- polite crawler */

static pthread_mutex_t host_gate = PTHREAD_MUTEX_INITIALIZER;
static struct timespec next_visit;
static long pages_left;

static int book_visit(struct timespec *when)
{
    pthread_mutex_lock(&host_gate);
    int any = pages_left-- > 0;
    *when = next_visit;
    next_visit.tv_nsec += 5000000;
    if (next_visit.tv_nsec >= 1000000000) {
        next_visit.tv_nsec -= 1000000000;
        next_visit.tv_sec++;
    }
    pthread_mutex_unlock(&host_gate);
    return any;
}

static void *crawler(void *unused)
{
    (void)unused;
    struct timespec when;
    uint64_t links = 0;
    while (book_visit(&when)) {
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
            ;
        links += layout(links, 60000);
    }
    return (void *)(uintptr_t)links;
}

static void crawl(void)
{
    pages_left = amount_waiting(50);
    clock_gettime(CLOCK_MONOTONIC, &next_visit);
    start_and_join(crawler);
}

/* ---------------------------------------------------------------- risk desk: asks a pricing process */

static int desk_socket[MOST];
static atomic_long positions_left;

static void serve_prices(int *socket, int sockets)
{
    struct pollfd p[MOST];
    prctl(PR_SET_NAME, "pricer");
    for (int i = 0; i < sockets; i++)
        p[i] = (struct pollfd){.fd = socket[i], .events = POLLIN};
    for (int open = sockets; open > 0;) {
        if (poll(p, (nfds_t)sockets, -1) < 0)
            die("poll");
        for (int i = 0; i < sockets; i++) {
            uint64_t question;
            if (!p[i].revents)
                continue;
            if (read(p[i].fd, &question, sizeof question) != sizeof question) {
                p[i].fd = -1;
                open--;
                continue;
            }
            question = layout(question, 150000);
            if (write(p[i].fd, &question, sizeof question) != sizeof question)
                die("write");
        }
    }
    _exit(0);
}

static void *desk(void *argument)
{
    long id = (long)argument;
    struct pollfd reply = {.fd = desk_socket[id], .events = POLLIN};
    uint64_t position = (uint64_t)id;
    while (atomic_fetch_sub(&positions_left, 1) > 0) {
        position = layout(position, 45000);
        if (write(reply.fd, &position, sizeof position) != sizeof position)
            die("write");
        while (poll(&reply, 1, 1000) == 0)
            ;
        if (read(reply.fd, &position, sizeof position) != sizeof position)
            die("read");
    }
    close(desk_socket[id]);
    return NULL;
}

static void risk(void)
{
    int theirs[MOST];
    for (int i = 0; i < nworkers; i++) {
        int both[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) < 0)
            die("socketpair");
        desk_socket[i] = both[0];
        theirs[i] = both[1];
    }
    pid_t pricer = fork();
    if (pricer == 0) {
        for (int i = 0; i < nworkers; i++)
            close(desk_socket[i]);
        serve_prices(theirs, nworkers);
    }
    for (int i = 0; i < nworkers; i++)
        close(theirs[i]);
    positions_left = amount(285);
    start_and_join(desk);
    waitpid(pricer, NULL, 0);
}

/* ---------------------------------------------------------------- weather: asks a slow server, over TCP */

static struct sockaddr_in weather_address;
static atomic_long cities_left;

/* One request after the other, 2.5 ms each, as if it asked a disk. */
static void weather_server(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr *)&a, size) < 0 || listen(listening, 64) < 0)
        die("bind");
    getsockname(listening, (struct sockaddr *)&a, &size);
    printf("%d\n", ntohs(a.sin_port));
    fflush(stdout);
    pid_t parent = getppid();
    struct pollfd p[MOST + 1] = {{.fd = listening, .events = POLLIN}};
    int used = 1;
    while (getppid() == parent) {
        if (poll(p, (nfds_t)used, 500) <= 0)
            continue;
        if (p[0].revents && used <= MOST) {
            int fd = accept(listening, NULL, NULL), yes = 1;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            p[used++] = (struct pollfd){.fd = fd, .events = POLLIN};
        }
        for (int i = 1; i < used; i++) {
            char question[8];
            if (!p[i].revents)
                continue;
            if (read(p[i].fd, question, sizeof question) <= 0) {
                close(p[i].fd);
                p[i--] = p[--used];
                continue;
            }
            struct timespec seek = {0, 2500000};
            nanosleep(&seek, NULL);
            if (write(p[i].fd, question, sizeof question) < 0)
                continue;
        }
    }
}

static void *forecaster(void *unused)
{
    (void)unused;
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(fd, (struct sockaddr *)&weather_address, sizeof weather_address) < 0)
        die("connect");
    for (long city; (city = atomic_fetch_sub(&cities_left, 1)) > 0;) {
        if (send(fd, &city, sizeof city, 0) != sizeof city || recv(fd, &city, sizeof city, MSG_WAITALL) != sizeof city)
            die("weather server");
        layout((uint64_t)city, 30000);
    }
    close(fd);
    return NULL;
}

static void weather(void)
{
    const char *port = getenv("PLANTED_BACKEND");
    if (!port) {
        fprintf(stderr, "weather needs a server\n");
        exit(2);
    }
    weather_address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                           .sin_port = htons((uint16_t)atoi(port))};
    cities_left = amount_waiting(90);
    start_and_join(forecaster);
}

/* ---------------------------------------------------------------- thumbnails */

static atomic_long pictures_left;
static atomic_ulong thumbs_sum;

static void *thumbnailer(void *unused)
{
    (void)unused;
    size_t size = 64 * 1024;
    for (long p; (p = atomic_fetch_sub(&pictures_left, 1)) > 0;) {
        unsigned char *raw = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (raw == MAP_FAILED)
            die("mmap");
        unsigned long sum = 0;
        for (size_t i = 0; i < size; i += 4096)
            raw[i] = (unsigned char)(p + (long)i);
        for (size_t i = 0; i < size; i += 4096)
            sum += raw[i];
        munmap(raw, size);
        atomic_fetch_add(&thumbs_sum, sum);
    }
    return NULL;
}

static void thumbs(void)
{
    pictures_left = amount(4500);
    start_and_join(thumbnailer);
    printf("%lu\n", (unsigned long)thumbs_sum);
}

/* ---------------------------------------------------------------- elimination, by blocks of rows */

static double *matrix;
static long order_of;
static pthread_barrier_t step_barrier;

static long systems;

static void *eliminate(void *argument)
{
    long id = (long)argument, n = order_of, from = n * id / nworkers, to = n * (id + 1) / nworkers;
    for (long s = 0; s < systems; s++) {
        for (long i = from; i < to; i++)
            for (long j = 0; j < n; j++)
                matrix[i * n + j] = (i == j ? 1000 : 1) + (double)((i * 31 + j * 17 + s) & 255) / 256;
        pthread_barrier_wait(&step_barrier);
        for (long k = 0; k < n - 1; k++) {
            const double *pivot = matrix + k * n;
            for (long i = from > k + 1 ? from : k + 1; i < to; i++) {
                double *row = matrix + i * n, f = row[k] / pivot[k];
                row[k] = f;
                for (long j = k + 1; j < n; j++)
                    row[j] -= f * pivot[j];
            }
            pthread_barrier_wait(&step_barrier);
        }
    }
    return NULL;
}

static void lu(void)
{
    order_of = 600;
    systems = amount(4);
    matrix = malloc(sizeof(double) * (size_t)(order_of * order_of));
    pthread_barrier_init(&step_barrier, NULL, (unsigned)nworkers);
    start_and_join(eliminate);
    printf("last pivot %f\n", matrix[order_of * order_of - 1]);
}

/* ---------------------------------------------------------------- pair distances with OpenMP */

static void pairs(void)
{
    long bodies = 4000, rounds = amount(23);
    float *x = malloc(sizeof(float) * (size_t)bodies), *y = malloc(sizeof(float) * (size_t)bodies);
    double near = 0;
    for (long i = 0; i < bodies; i++) {
        x[i] = (float)(mix((uint64_t)i) % 1000) / 1000;
        y[i] = (float)(mix((uint64_t)i + 99) % 1000) / 1000;
    }
#pragma omp parallel for num_threads(nworkers) schedule(static) reduction(+ : near)
    for (long i = 0; i < bodies; i++)
        for (long round = 1; round <= rounds; round++)
            for (long j = i + 1; j < bodies; j++) {
                float dx = x[i] - x[j], dy = y[i] - y[j];
                near += dx * dx + dy * dy < 0.01f / (float)round;
            }
    printf("%.0f close pairs\n", near);
    free(x);
    free(y);
}

/* ---------------------------------------------------------------- sorted index: load, sort runs, merge */

#define RUNS 16

static uint32_t *record_key;
static long records;
static atomic_int next_run;

static int by_key(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void *sort_runs(void *unused)
{
    (void)unused;
    for (int r; (r = atomic_fetch_add(&next_run, 1)) < RUNS;) {
        long from = records * r / RUNS, to = records * (r + 1) / RUNS;
        qsort(record_key + from, (size_t)(to - from), sizeof *record_key, by_key);
    }
    return NULL;
}

static void sorted_index(void)
{
    records = amount(740000);
    record_key = malloc(sizeof *record_key * (size_t)records);
    /* parse the input */
    for (long i = 0; i < records; i++) {
        char text[24];
        int size = snprintf(text, sizeof text, "%u", (unsigned)(mix((uint64_t)i) >> 32));
        uint32_t v = 0;
        for (int k = 0; k < size; k++)
            v = v * 10 + (uint32_t)(text[k] - '0');
        record_key[i] = v;
    }
    start_and_join(sort_runs);
    /* merge */
    long at[RUNS], seen = 0;
    uint64_t sum = 0;
    for (int r = 0; r < RUNS; r++)
        at[r] = records * r / RUNS;
    for (; seen < records; seen++) {
        int least = -1;
        for (int r = 0; r < RUNS; r++)
            if (at[r] < records * (r + 1) / RUNS && (least < 0 || record_key[at[r]] < record_key[at[least]]))
                least = r;
        sum = sum * 31 + record_key[at[least]++];
    }
    printf("index of %ld, %llx\n", records, (unsigned long long)sum);
}

/* ---------------------------------------------------------------- chained cipher: the chaining value goes by pipes */

static int chain_pipe[MOST][2];
static long cipher_blocks;

static void *encipher(void *argument)
{
    long id = (long)argument;
    for (long b = id; b < cipher_blocks; b += nworkers) {
        uint64_t chained, plain = layout((uint64_t)b, 30000);
        if (read(chain_pipe[id][0], &chained, sizeof chained) != sizeof chained)
            die("read");
        chained = layout(chained ^ plain, 120000);
        if (write(chain_pipe[(id + 1) % nworkers][1], &chained, sizeof chained) != sizeof chained)
            die("write");
    }
    return NULL;
}

static void cipher(void)
{
    uint64_t first = 42;
    cipher_blocks = amount(360);
    for (int i = 0; i < nworkers; i++)
        if (pipe(chain_pipe[i]) < 0)
            die("pipe");
    if (write(chain_pipe[0][1], &first, sizeof first) != sizeof first)
        die("write");
    start_and_join(encipher);
}

/* ---------------------------------------------------------------- reports that share a database connection */

static sem_t db_connections;
static atomic_long reports_left;

static void *reporter(void *unused)
{
    (void)unused;
    uint64_t page = 0;
    while (atomic_fetch_sub(&reports_left, 1) > 0) {
        while (sem_wait(&db_connections) < 0 && errno == EINTR)
            ;
        usleep(3000);
        sem_post(&db_connections);
        page = layout(page, 120000);
    }
    return NULL;
}

static void reports(void)
{
    sem_init(&db_connections, 0, 1);
    reports_left = amount_waiting(72);
    start_and_join(reporter);
}

/* ---------------------------------------------------------------- */

static double turns_per_us(void)
{
    double best = 1;
    for (int i = 0; i < 40; i++) {
        struct timespec from, to;
        volatile uint64_t keep;
        uint64_t x = 1;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        for (long turn = 0; turn < 100000; turn++)
            x = x * 6364136223846793005u + 1442695040888963407u;
        keep = x;
        (void)keep;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        double took = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
        best = took < best ? took : best;
    }
    return 100000 / (best * 1e6);
}

static const struct {
    const char *name;
    void (*main)(void);
} modes[] = {
    {"raytrace", raytrace}, {"matmul", matmul}, {"options", options}, {"logs", logs}, {"bank", bank},
    {"memoise", memoise}, {"compress", compress}, {"brightness", brightness}, {"requests", requests},
    {"audit", audit}, {"spooler", spooler}, {"crawl", crawl}, {"risk", risk}, {"weather", weather},
    {"thumbs", thumbs}, {"lu", lu}, {"pairs", pairs}, {"index", sorted_index}, {"cipher", cipher},
    {"reports", reports}, {"weather-server", weather_server},
};

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "calibrate") == 0) {
        printf("%.1f\n", turns_per_us());
        return 0;
    }
    const char *turns = getenv("PLANTED_TURNS");
    if (turns && atof(turns) > 0)
        cpu_speed = atof(turns) / USUAL_TURNS;
    nworkers = argc > 2 ? atoi(argv[2]) : 1;
    amount_ms = argc > 3 ? atof(argv[3]) : 250;
    if (argc > 1 && nworkers > 0 && nworkers <= MOST)
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
            if (strcmp(argv[1], modes[i].name) == 0) {
                double from = seconds();
                modes[i].main();
                printf("%.1f ms\n", 1e3 * (seconds() - from));
                return 0;
            }
    fprintf(stderr, "usage: fresh MODE n MS\n");
    return 2;
}
