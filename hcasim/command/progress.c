/* SPDX-License-Identifier: Apache-2.0 */
/* progress: see progress.h. */
#include "hcasim/command/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SECONDS 1.0  /* between two states of the line on a terminal */
#define MINUTE  60.0 /* between two lines elsewhere */

static double wall_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct progress progress_begin(void)
{
	double now = wall_seconds();
	return (struct progress){
		.begun = now, .printed = now, .terminal = isatty(STDERR_FILENO) != 0};
}

void progress_show(struct progress *progress, sim_time now, uint64_t done, uint64_t all,
		   const char *what)
{
	double seconds = wall_seconds();
	if (seconds - progress->printed < (progress->terminal ? SECONDS : MINUTE))
		return;
	progress->printed = seconds;
	progress->shown = progress->terminal;
	fprintf(stderr, "%s%12.3f us  %" PRIu64 " of %" PRIu64 " %s",
		progress->terminal ? "\r" : "hcasim: ", (double)now / (double)US, done, all, what);
	if (done > 0)
		fprintf(stderr, ", %.0f s left",
			(seconds - progress->begun) * (double)(all - done) / (double)done);
	fputs(progress->terminal ? "\033[K" : "\n", stderr);
	fflush(stderr);
}

void progress_end(const struct progress *progress)
{
	if (progress->shown)
		fprintf(stderr, "\r\033[K");
}
