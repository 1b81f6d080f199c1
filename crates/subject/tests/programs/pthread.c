/* A student's program: N threads that compute, fill memory, or write files.
 *   pthread cpu|mem|io N
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MB
#define MB 220
#endif
#ifndef ROUNDS
#define ROUNDS 50000000UL
#endif

static const char *kind;

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

static void io(long number)
{
	char name[64], line[4096];
	snprintf(name, sizeof name, "out-%ld.txt", number);
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

static void *work(void *number)
{
	if (!strcmp(kind, "cpu"))
		cpu();
	else if (!strcmp(kind, "mem"))
		mem();
	else
		io((long)number);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s cpu|mem|io N\n", argv[0]);
		return 2;
	}
	kind = argv[1];
	int workers = atoi(argv[2]);
	pthread_t threads[workers];
	for (long i = 0; i < workers; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i)) {
			perror("pthread_create");
			return 1;
		}
	for (int i = 0; i < workers; i++)
		pthread_join(threads[i], NULL);
	printf("done: %d threads\n", workers);
	return 0;
}
