/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_resume: finds finished points in the folder of a sweep. The name of a point's folder is a
 * hash of its effective configuration and of the files that it names. A run moves the folder to its
 * place when the result is complete. A folder with a summary is therefore finished, and the same
 * command continues with the other points.
 *
 *     DIR/POINT/{scenario.yaml,summary.json,...}
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "hcasim/command/sweep.h"
#include "hcasim/record/leftovers.h"

void sweep_resume_path(const struct sweep *sweep, size_t point, const char *file,
		       char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.3000s/%s%s", sweep->folder, sweep->points[point].name, file);
}

bool sweep_resume_open(struct sweep *sweep)
{
	char error[PATH_MAX + 128];
	if (mkdir(sweep->folder, 0777) != 0 && errno != EEXIST) {
		say("%s: %s", sweep->folder, strerror(errno));
		return false;
	}
	sweep->lock = (sweep->parts > 1 ? leftovers_share : leftovers_lock)(sweep->folder, error,
									    sizeof(error));
	if (sweep->lock < 0)
		say("%s", error);
	return sweep->lock >= 0;
}

bool sweep_resume_look(struct sweep *sweep, size_t point)
{
	struct stat status;
	char path[PATH_MAX];
	sweep_resume_path(sweep, point, "/summary.json", path);
	if (!sweep->points[point].finished && stat(path, &status) == 0) {
		sweep->points[point].finished = true;
		sweep->done++;
	}
	return sweep->points[point].finished;
}
