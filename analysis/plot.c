/* SPDX-License-Identifier: Apache-2.0 */
/* plot: see plot.h. */
#include "analysis/plot.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool plot_can_draw(void)
{
	char *path = strdup(getenv("PATH") ? getenv("PATH") : ""), *rest = NULL;
	char file[PATH_MAX];
	bool found = false;

	if (!path)
		abort();
	for (char *part = strtok_r(path, ":", &rest); part && !found;
	     part = strtok_r(NULL, ":", &rest)) {
		snprintf(file, sizeof(file), "%s/gnuplot", part);
		found = access(file, X_OK) == 0;
	}
	free(path);
	return found;
}

static FILE *open_part(const struct plot *plot, const char *extension)
{
	char file[PATH_MAX];

	snprintf(file, sizeof(file), "%s/%s.%s", plot->folder, plot->name, extension);
	return fopen(file, "w");
}

static bool write_table(const struct plot *plot)
{
	FILE *out = open_part(plot, "dat");

	if (!out)
		return false;
	fprintf(out, "# %s\n# %s, published (low, high), ours (%s)\n", plot->title, plot->x_label,
		plot->y_label);
	for (size_t i = 0; i < plot->count; i++)
		fprintf(out, "%.9g %.9g %.9g %.9g\n", plot->points[i].x, plot->points[i].low,
			plot->points[i].high, plot->points[i].ours);
	return fclose(out) == 0;
}

static bool write_commands(const struct plot *plot)
{
	FILE *out = open_part(plot, "gp");

	if (!out)
		return false;
	plot_begin(plot->name, plot->title, out);
	fprintf(out, "set xlabel \"%s\"\nset ylabel \"%s\"\n", plot->x_label, plot->y_label);
	fprintf(out, "set yrange [0:*]\n%s", plot->x_logarithmic ? "set logscale x 2\n" : "");
	fprintf(out,
		"plot '%s.dat' using 1:(($2+$3)/2) with linespoints pointtype 6 title 'published', "
		"'' using 1:4 with linespoints pointtype 7 title 'simulated'\n",
		plot->name);
	return plot_finish(plot->folder, plot->name, out);
}

/* Apart from each other, also for those who cannot tell red from green (Tol, Okabe and Ito). */
static const char *const colours[] = {"0072b2", "d55e00", "009e73", "cc79a7", "e69f00", "56b4e9",
				      "000000", "882255", "999933", "44aa99", "7f7f7f", "5e3c99"};

void plot_begin(const char *name, const char *title, FILE *out)
{
	fprintf(out, "set terminal svg size 960,560 background 'white'\nset output '%s.svg'\n",
		name);
	fprintf(out, "set title \"%s\" noenhanced\nset grid\nset key outside right top\n", title);
	/* no two of 24 curves alike */
	for (unsigned i = 0; i < 2 * sizeof(colours) / sizeof(colours[0]); i++)
		fprintf(out, "set linetype %u linecolor rgb '#%s' dashtype %u pointtype %u\n",
			i + 1, colours[i % (sizeof(colours) / sizeof(colours[0]))],
			i < sizeof(colours) / sizeof(colours[0]) ? 1u : 2u, i % 12 + 1);
}

/* Runs the commands there. */
static bool draw(const char *folder, const char *name)
{
	char file[PATH_MAX];
	int status;
	pid_t child = fork();

	if (child == 0) {
		snprintf(file, sizeof(file), "%s.gp", name);
		if (chdir(folder) == 0)
			execlp("gnuplot", "gnuplot", file, (char *)NULL);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

bool plot_finish(const char *folder, const char *name, FILE *out)
{
	bool good = ferror(out) == 0;

	return fclose(out) == 0 && good && (!plot_can_draw() || draw(folder, name));
}

bool plot_write(const struct plot *plot)
{
	return write_table(plot) && write_commands(plot);
}
