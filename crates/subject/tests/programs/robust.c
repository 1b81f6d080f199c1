/* A child waits for half a second for a robust mutex in memory that it shares with its parent. */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_ANONYMOUS;
	pthread_mutex_t *lock = mmap(NULL, sizeof *lock, prot, flags, -1, 0);
	pthread_mutexattr_t kind;
	if (lock == MAP_FAILED || pthread_mutexattr_init(&kind))
		return 1;
	pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	if (pthread_mutex_init(lock, &kind) || pthread_mutex_lock(lock))
		return 1;
	if (fork() == 0)
		_exit(pthread_mutex_lock(lock) != 0);
	usleep(500000);
	pthread_mutex_unlock(lock);
	int status;
	wait(&status);
	return status != 0;
}
