/* SPDX-License-Identifier: Apache-2.0 */
/* run_plots: see run_plots.h. */
#include "analysis/run_plots.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/plot.h"
#include "analysis/table.h"
#include "sim/yaml.h"

enum { PORTS_MAX = 12 }; /* curves that one can tell apart */

struct port {
	const char *name;
	double most; /* bytes that waited */
};

struct plots {
	const char *folder;
	unsigned count;
	char *error;
	size_t error_bytes;
};

static bool is_there(const struct plots *plots, const char *file, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.3000s/%s", plots->folder, file);
	return access(path, R_OK) == 0;
}

/* Begins the commands of a picture. */
static FILE *open_commands(const struct plots *plots, const char *name, const char *title)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%.3000s/%s.gp", plots->folder, name);
	out = fopen(path, "w");
	if (!out) {
		snprintf(plots->error, plots->error_bytes, "%s: %s", path, strerror(errno));
		return NULL;
	}
	plot_begin(name, title, out);
	fprintf(out, "set datafile separator ','\n");
	return out;
}

static bool finish(struct plots *plots, const char *name, FILE *out)
{
	if (!plot_finish(plots->folder, name, out)) {
		snprintf(plots->error, plots->error_bytes,
			 "%s/%s.gp: not written, or gnuplot failed", plots->folder, name);
		return false;
	}
	plots->count++;
	return true;
}

/* ---- over time ---- */

static int by_queue(const void *one, const void *other)
{
	const struct port *first = one, *second = other;

	if (first->most > second->most || first->most < second->most)
		return first->most > second->most ? -1 : 1;
	return strcmp(first->name, second->name);
}

/* The ports with the longest queues, those first; for free(). */
static struct port *find_ports(const struct table *series, size_t *count)
{
	size_t name = table_column(series, "port"), queue = table_column(series, "queue_bytes");
	struct port *ports = calloc(series->rows + 1, sizeof(*ports));

	*count = 0;
	if (!ports)
		abort();
	for (size_t row = 0; row < series->rows; row++) {
		const char *text = table_cell(series, row, name);
		double bytes = table_number(series, row, queue);
		size_t i = 0;

		while (i < *count && strcmp(ports[i].name, text) != 0)
			i++;
		if (i == *count)
			ports[(*count)++].name = text;
		if (bytes > ports[i].most)
			ports[i].most = bytes;
	}
	qsort(ports, *count, sizeof(*ports), by_queue);
	return ports;
}

/* Is its queue more than a line along the axis, beside the longest? */
static bool is_worth(const struct port *longest, const struct port *port)
{
	return port == longest || port->most > longest->most / 100;
}

static bool draw_ports(struct plots *plots, const char *name, const char *title, const char *label,
		       const char *value, const struct port *ports, size_t count)
{
	FILE *out = open_commands(plots, name, title);

	if (!out)
		return false;
	fprintf(out, "set xlabel 'time (us)'\nset ylabel '%s'\nset yrange [0:*]\n", label);
	for (size_t i = 0; i < count && i < PORTS_MAX && is_worth(&ports[0], &ports[i]); i++)
		fprintf(out,
			"%s'series.csv' skip 1 using 1:(strcol(2) eq '%s' ? %s : NaN) with lines "
			"title "
			"'%s' noenhanced",
			i == 0 ? "set datafile missing NaN\nplot " : ", ", ports[i].name, value,
			ports[i].name);
	fputc('\n', out);
	return finish(plots, name, out);
}

static bool draw_series(struct plots *plots)
{
	char path[PATH_MAX];
	struct table *series;
	struct port *ports;
	size_t count;
	bool good = true;

	if (!is_there(plots, "series.csv", path))
		return true;
	series = table_read(path, plots->error, plots->error_bytes);
	if (!series)
		return false;
	if (table_column(series, "port") != 1 || table_column(series, "queue_bytes") != 2 ||
	    table_column(series, "rate_gbps") != 4) {
		snprintf(plots->error, plots->error_bytes, "%s: not the columns of a run's series",
			 path);
		table_free(series);
		return false;
	}
	ports = find_ports(series, &count);
	if (count > 0)
		good = draw_ports(plots, "queues", "queues at the ports that had the longest",
				  "queue (KB)", "$3/1000", ports, count) &&
		       draw_ports(plots, "rates", "data that left these ports", "rate (Gb/s)", "$5",
				  ports, count);
	free(ports);
	table_free(series);
	return good;
}

/* ---- of flows ---- */

static bool has_rows(const struct plots *plots, const char *path, const char *column, bool *has)
{
	struct table *table = table_read(path, plots->error, plots->error_bytes);

	*has = false;
	if (!table)
		return false;
	for (size_t row = 0; row < table->rows && !*has; row++)
		*has = table_column(table, column) < table->columns &&
		       table_number(table, row, table_column(table, column)) > 0;
	table_free(table);
	return true;
}

static bool draw_flows(struct plots *plots)
{
	char path[PATH_MAX];
	bool has;
	FILE *out;

	if (!is_there(plots, "flows.csv", path))
		return true;
	if (!has_rows(plots, path, "slowdown", &has))
		return false;
	if (!has)
		return true;
	out = open_commands(plots, "slowdown", "flows by their slowdown, and by their time");
	if (!out)
		return false;
	fprintf(out,
		"set xlabel 'slowdown'\nset x2label 'time (us)'\nset xtics nomirror\nset x2tics\n"
		"set logscale x\nset logscale x2\nset yrange [0:1]\nset ylabel 'share of the "
		"flows'\n"
		"plot 'flows.csv' using (column('slowdown') > 0 ? column('slowdown') : NaN):(1.0) "
		"smooth cnorm title 'slowdown (below)', '' using (column('fct_us') > 0 ? "
		"column('fct_us') "
		": "
		"NaN):(1.0) axes x2y1 smooth cnorm title 'time (above)'\n");
	return finish(plots, "slowdown", out);
}

/* *varies: is that column not the same in all rows? */
static bool varies(const struct plots *plots, const char *path, const char *column, bool *varies)
{
	struct table *table = table_read(path, plots->error, plots->error_bytes);
	size_t at;

	*varies = false;
	if (!table)
		return false;
	at = table_column(table, column);
	for (size_t row = 1; row < table->rows && at < table->columns; row++)
		*varies |= strcmp(table_cell(table, row, at), table_cell(table, 0, at)) != 0;
	table_free(table);
	return true;
}

static bool draw_sizes(struct plots *plots)
{
	char path[PATH_MAX];
	bool has, several;
	FILE *out;

	if (!is_there(plots, "slowdowns.csv", path))
		return true;
	if (!has_rows(plots, path, "slowdown_p50", &has) ||
	    !varies(plots, path, "bytes_max_B", &several))
		return false;
	if (!has || !several)
		return true;
	out = open_commands(plots, "sizes", "slowdown by size: groups of equally many flows");
	if (!out)
		return false;
	fprintf(out,
		"set xlabel 'largest flow of the group (B)'\nset ylabel 'slowdown'\nset logscale "
		"x\n"
		"plot for [percentile in '99 95 50'] 'slowdowns.csv' using (column('bytes_max_B')):"
		"(column('slowdown_p'.percentile)) with linespoints title percentile.'th "
		"percentile'\n");
	return finish(plots, "sizes", out);
}

/* ---- of any run ---- */

/* "host0.hca.pcie.to_host" 35.1: what summary.json says under uses. false: it cannot be read. */
static bool write_uses(const struct plots *plots, unsigned *count)
{
	char path[PATH_MAX], part[PATH_MAX];
	struct yaml_errors errors = {0};
	struct yaml_document *document;
	struct yaml_node *uses;
	FILE *out;

	*count = 0;
	if (!is_there(plots, "summary.json", path))
		return true;
	document = yaml_read_file(path, &errors); /* JSON is YAML */
	if (!document) {
		snprintf(plots->error, plots->error_bytes, "%s", errors.text);
		yaml_errors_free(&errors);
		return false;
	}
	snprintf(part, sizeof(part), "%.3000s/uses.dat", plots->folder);
	out = fopen(part, "w");
	uses = yaml_get(yaml_root(document), "uses");
	for (struct yaml_node *use = uses ? uses->children : NULL; out && use; use = use->next) {
		struct yaml_node *name = yaml_get(use, "name"), *share = yaml_get(use, "use");

		if (name && name->text && share && share->text)
			fprintf(out, "%u,%s,%.3f\n", (*count)++, name->text,
				100 * strtod(share->text, NULL));
	}
	yaml_close(document);
	yaml_errors_free(&errors);
	if (out && fclose(out) == 0)
		return true;
	snprintf(plots->error, plots->error_bytes, "%s: %s", part, strerror(errno));
	return false;
}

/* Bars, the first at the top. */
static bool draw_uses(struct plots *plots)
{
	unsigned count;
	FILE *out;

	if (!write_uses(plots, &count))
		return false;
	if (count == 0)
		return true;
	out = open_commands(plots, "uses",
			    "share of the time with work in which each was busy or waited for");
	if (!out)
		return false;
	fprintf(out,
		"set xlabel 'share (%%)'\nset xrange [0:100]\nset yrange [%u.5:-0.5]\nunset key\n"
		"set style fill solid 0.6\nset ytics noenhanced\nset lmargin 36\n"
		"plot 'uses.dat' using ($3/2):1:($3/2):(0.35):ytic(2) with boxxyerror linetype 1\n",
		count - 1);
	return finish(plots, "uses", out);
}

bool run_plots_write(const char *folder, unsigned *count, char *error, size_t error_bytes)
{
	struct plots plots = {.folder = folder, .error = error, .error_bytes = error_bytes};
	bool good = draw_series(&plots) && draw_flows(&plots) && draw_sizes(&plots);

	if (good && plots.count == 0) /* a load */
		good = draw_uses(&plots);
	*count = plots.count;
	return good;
}
