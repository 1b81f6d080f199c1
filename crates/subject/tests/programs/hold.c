/* Holds memory that is known: SHARED MB filled before N children are forked, PRIVATE MB filled by
 * each of them, all at the same time, for so many milliseconds from the moment all are full.
 *   hold SHARED PRIVATE N MILLISECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile char *fill(size_t megabytes)
{
	size_t size = megabytes << 20;
	volatile char *block = malloc(size + 1);
	for (size_t i = 0; i < size; i += 1024)
		block[i] = 1;
	return block;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	int full[2], go[2], children = atoi(argv[3]);
	char byte = 0;
	if (pipe(full) || pipe(go))
		return 1;
	fill(atoi(argv[1]));
	for (int i = 0; i < children; i++)
		if (fork() == 0) {
			close(go[1]);
			fill(atoi(argv[2]));
			if (write(full[1], &byte, 1) != 1)
				_exit(1);
			_exit(read(go[0], &byte, 1) != 0);
		}
	for (int i = 0; i < children; i++)
		if (read(full[0], &byte, 1) != 1)
			return 1;
	usleep(atoi(argv[4]) * 1000);
	close(go[1]);
	for (int i = 0; i < children; i++) {
		int status;
		wait(&status);
		if (status)
			return 1;
	}
	return 0;
}
