/* The work of one worker, the same for threads and processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEM_BYTES (16 << 20) /* that a worker of "mem" holds */

/* Does one kind of work. Returns something that depends on all of it, so that a compiler keeps it. */
static unsigned long work(const char *kind, int number) {
    unsigned long sum = (unsigned long)number;
    if (strcmp(kind, "cpu") == 0) {
        for (unsigned long i = 0; i < 8000000; i++)
            sum = sum * 2862933555777941757UL + 3037000493UL;
    } else if (strcmp(kind, "mem") == 0) {
        unsigned char *bytes = malloc(MEM_BYTES);
        if (bytes == NULL) abort();
        for (size_t at = 0; at < MEM_BYTES; at += 64) bytes[at] = (unsigned char)(at + sum);
        for (size_t at = 0; at < MEM_BYTES; at += 64) sum += bytes[at];
        free(bytes);
    } else if (strcmp(kind, "io") == 0) {
        char name[64], block[4096];
        memset(block, number, sizeof block);
        snprintf(name, sizeof name, "work-%d-%d.tmp", (int)getpid(), number);
        FILE *file = fopen(name, "w");
        if (file == NULL) abort();
        for (int i = 0; i < 256; i++) sum += fwrite(block, sizeof block, 1, file);
        if (fflush(file) != 0 || fsync(fileno(file)) != 0) abort();
        fclose(file);
        unlink(name);
    } else {
        fprintf(stderr, "the kind of work is cpu, mem or io, not %s\n", kind);
        exit(2);
    }
    return sum;
}

/* Reads the words of the command line: the kind of work, and how many workers there are. */
static int workers(int argc, char **argv) {
    int n = argc == 3 ? atoi(argv[2]) : 0;
    if (n < 1) {
        fprintf(stderr, "usage: %s cpu|mem|io N\n", argv[0]);
        exit(2);
    }
    return n;
}
