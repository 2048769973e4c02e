/* progress: see progress.h. */
#include "hcasim/command/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define SECONDS 1.0

static double wall_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct progress progress_begin(void)
{
	double now = wall_seconds();
	return (struct progress){.begun = now, .told = now};
}

void progress_show(struct progress *progress, sim_time now, uint64_t done, uint64_t all,
		   const char *what)
{
	double seconds = wall_seconds();
	if (seconds - progress->told < SECONDS)
		return;
	progress->told = seconds;
	progress->shown = true;
	fprintf(stderr, "\r%12.3f us  %" PRIu64 " of %" PRIu64 " %s", (double)now / (double)US,
		done, all, what);
	if (done > 0)
		fprintf(stderr, ", %.0f s left\033[K",
			(seconds - progress->begun) * (double)(all - done) / (double)done);
	fflush(stderr);
}

void progress_end(const struct progress *progress)
{
	if (progress->shown)
		fprintf(stderr, "\r\033[K");
}
