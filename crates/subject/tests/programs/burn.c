/* Uses so much CPU time, by its own account; with a second argument in a child that outlives it.
 *   burn MILLISECONDS [outlive]
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	clock_t end;
	if (argc < 2)
		return 2;
	end = atoi(argv[1]) * (CLOCKS_PER_SEC / 1000);
	if (argc > 2 && fork() > 0)
		return 0;
	if (argc > 2)
		setsid();
	while (clock() < end)
		;
	return 0;
}
