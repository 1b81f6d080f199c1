/* A student's program: N processes that compute, fill memory, or write files.
 *   fork cpu|mem|io N
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MB
#define MB 220
#endif
#ifndef ROUNDS
#define ROUNDS 50000000UL
#endif

static void cpu(void)
{
	volatile double sum = 0;
	for (unsigned long i = 0; i < ROUNDS; i++)
		sum += i * 0.5;
}

static void mem(void)
{
	size_t size = (size_t)MB * 1024 * 1024;
	char *block = malloc(size);
	if (!block) {
		perror("malloc");
		exit(1);
	}
	for (int pass = 0; pass < 5; pass++)
		for (size_t i = 0; i < size; i += 4096)
			block[i] = (char)(pass + i);
	free(block);
}

static void io(int number)
{
	char name[64], line[4096];
	snprintf(name, sizeof name, "out-%d.txt", number);
	memset(line, 'x', sizeof line);
	FILE *file = fopen(name, "w");
	if (!file) {
		perror(name);
		exit(1);
	}
	for (int i = 0; i < 1024; i++)
		fwrite(line, 1, sizeof line, file);
	fclose(file);
}

static void work(const char *kind, int number)
{
	if (!strcmp(kind, "cpu"))
		cpu();
	else if (!strcmp(kind, "mem"))
		mem();
	else
		io(number);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s cpu|mem|io N\n", argv[0]);
		return 2;
	}
	int workers = atoi(argv[2]);
	for (int i = 0; i < workers; i++) {
		pid_t child = fork();
		if (child < 0) {
			perror("fork");
			return 1;
		}
		if (child == 0) {
			work(argv[1], i);
			_exit(0);
		}
	}
	for (int i = 0; i < workers; i++) {
		int status;
		wait(&status);
		if (status)
			return 1;
	}
	printf("done: %d processes\n", workers);
	return 0;
}
