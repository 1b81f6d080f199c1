/* Programs whose limit is known: the first argument names one, the second a file or folder where it needs one. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static void arithmetic(void) {
    unsigned long x = 1;
    for (long i = 0; i < 150000000; i++) x = x * 6364136223846793005UL + 1;
    sink = x;
}

/* One random cycle through 256 MB: each load needs the one before. */
static void chase(void) {
    size_t n = (256UL << 20) / 64, at = 0;
    size_t (*lines)[8] = malloc(n * sizeof *lines);
    unsigned long x = 1;
    for (size_t i = 0; i < n; i++) lines[i][0] = i;
    for (size_t i = n - 1; i > 0; i--) {
        x = x * 6364136223846793005UL + 1442695040888963407UL;
        size_t j = (x >> 33) % i, t = lines[i][0];
        lines[i][0] = lines[j][0], lines[j][0] = t;
    }
    for (long i = 0; i < 8000000; i++) at = lines[at][0];
    sink = at;
}

/* Copies what no cache holds: in a cache it is ten times as fast. */
static void stream(void) {
    size_t n = 96UL << 20;
    char *from = malloc(n), *to = malloc(n);
    memset(from, 1, n);
    for (int pass = 0; pass < 40; pass++) {
        from[pass] = (char)pass;
        memcpy(to, from, n);
        sink += to[pass];
    }
}

static int sync_writes(const char *path, int count) {
    char bytes[4096];
    memset(bytes, 7, sizeof bytes);
    int file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    for (int i = 0; i < count; i++)
        if (file < 0 || write(file, bytes, sizeof bytes) < 0 || fsync(file) < 0) return 1;
    return unlink(path) != 0;
}

static int ping_pong(void) {
    int there[2], back[2];
    char byte = 1;
    if (pipe(there) || pipe(back)) return 1;
    if (fork() == 0) {
        close(there[1]);
        while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1) {}
        _exit(0);
    }
    for (int i = 0; i < 60000; i++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) return 1;
    close(there[1]);
    return wait(NULL) < 0;
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "arithmetic")) arithmetic();
    else if (!strcmp(name, "chase")) chase();
    else if (!strcmp(name, "stream")) stream();
    else if (!strcmp(name, "fsync") && argc > 3) return sync_writes(argv[2], atoi(argv[3]));
    else if (!strcmp(name, "sleep")) usleep(300000);
    else if (!strcmp(name, "ping-pong")) return ping_pong();
    else if (!strcmp(name, "getppid")) for (int i = 0; i < 2000000; i++) syscall(SYS_getppid);
    else return 2;
    return 0;
}
