/* N processes do the same work each: cc -O2 processes.c -o processes; ./processes cpu 4 */
#include "work.h"
#include <sys/wait.h>

int main(int argc, char **argv) {
    int n = workers(argc, argv), status, failed = 0;
    for (int i = 0; i < n; i++) {
        pid_t child = fork();
        if (child < 0) abort();
        if (child == 0) _exit(work(argv[1], i) == 0);
    }
    while (wait(&status) > 0) failed |= status;
    return failed != 0;
}
