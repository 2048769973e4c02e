/* SPDX-License-Identifier: Apache-2.0 */
/* topology_map: see topology_map.h. */
#include "hcasim/report/topology_map.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/series.h"
#include "analysis/table.h"
#include "sim/json.h"

#define LINKS_MAX  3000   /* of a map, each direction on its own */
#define FRAMES_MAX 100    /* of the slider */
#define VALUES_MAX 120000 /* frames x links */
#define HOST_PORT  ".hca.port"
#define FAR        UINT_MAX /* level: not reached */

struct node {
	char *name;
	bool host;
	unsigned level;
	double place; /* 0 to 1 within its level */
};

struct link {
	const char *port; /* sender; in the table */
	unsigned from, to;
	double rate_gbps, use, paused; /* shares of the run */
};

struct map {
	struct node *nodes;
	unsigned node_count;
	struct link *links;
	unsigned link_count;
};

/* ---- reading ---- */

static bool is_host_port(const char *port, size_t *length)
{
	size_t bytes = strlen(port), tail = strlen(HOST_PORT);
	bool host = bytes > tail && strcmp(port + bytes - tail, HOST_PORT) == 0;
	const char *dot = strrchr(port, '.');
	*length = host ? bytes - tail : dot ? (size_t)(dot - port) : bytes;
	return host;
}

/* Returns the node that has the port. */
static unsigned node_of(struct map *map, const char *port)
{
	size_t length;
	bool host = is_host_port(port, &length);
	for (unsigned i = 0; i < map->node_count; i++) {
		if (strncmp(map->nodes[i].name, port, length) == 0 &&
		    map->nodes[i].name[length] == '\0')
			return i;
	}
	map->nodes = realloc(map->nodes, (map->node_count + 1) * sizeof(*map->nodes));
	char *name = strndup(port, length);
	if (!map->nodes || !name)
		abort();
	map->nodes[map->node_count] = (struct node){name, host, host ? 0 : FAR, 0};
	return map->node_count++;
}

static void read_links(struct map *map, const struct table *table, double run_us)
{
	size_t port = table_column(table, "port"), peer = table_column(table, "peer");
	size_t rate = table_column(table, "rate_gbps"), use = table_column(table, "utilisation");
	size_t paused = table_column(table, "paused_us");
	if (fmax(fmax((double)port, (double)peer), fmax((double)use, (double)paused)) >=
		    (double)table->columns ||
	    rate >= table->columns || table->rows > LINKS_MAX)
		return;
	map->links = calloc(table->rows + 1, sizeof(*map->links));
	if (!map->links)
		abort();
	for (size_t row = 0; row < table->rows; row++) {
		struct link *link = &map->links[map->link_count++];
		link->port = table_cell(table, row, port);
		link->from = node_of(map, link->port);
		link->to = node_of(map, table_cell(table, row, peer));
		link->rate_gbps = table_number(table, row, rate);
		link->use = table_number(table, row, use);
		link->paused = table_number(table, row, paused) / run_us;
	}
}

/* ---- places ---- */

/* Distances from the hosts, all steps at once. */
static unsigned set_levels(struct map *map)
{
	unsigned most = 0;
	for (bool changed = true; changed;) {
		changed = false;
		for (unsigned i = 0; i < map->link_count; i++) {
			const struct node *from = &map->nodes[map->links[i].from];
			struct node *to = &map->nodes[map->links[i].to];
			if (from->level != FAR && from->level + 1 < to->level) {
				to->level = from->level + 1;
				changed = true;
			}
		}
	}
	for (unsigned i = 0; i < map->node_count; i++) {
		if (map->nodes[i].level == FAR)
			map->nodes[i].level = 1;
		most = map->nodes[i].level > most ? map->nodes[i].level : most;
	}
	return most;
}

struct order {
	double wish; /* where it would be best */
	unsigned node;
};

static int by_wish(const void *one, const void *other)
{
	const struct order *a = one, *b = other;
	if (a->wish < b->wish || a->wish > b->wish)
		return a->wish < b->wish ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Returns the mean place of the node's neighbours in the level below. */
static double wish_of(const struct map *map, unsigned node)
{
	double sum = 0, count = 0;
	for (unsigned i = 0; i < map->link_count; i++) {
		const struct node *below = &map->nodes[map->links[i].from];
		if (map->links[i].to != node || below->level + 1 != map->nodes[node].level)
			continue;
		sum += below->place;
		count++;
	}
	return count > 0 ? sum / count : 0.5;
}

static void set_places(struct map *map)
{
	unsigned most = set_levels(map);
	struct order *order = calloc(map->node_count + 1, sizeof(*order));
	if (!order)
		abort();
	for (unsigned level = 0; level <= most; level++) {
		unsigned count = 0;
		for (unsigned i = 0; i < map->node_count; i++) {
			if (map->nodes[i].level == level)
				order[count++] = (struct order){level > 0 ? wish_of(map, i) : 0, i};
		}
		qsort(order, count, sizeof(*order), by_wish);
		for (unsigned i = 0; i < count; i++)
			map->nodes[order[i].node].place = (i + 0.5) / count;
	}
	free(order);
}

/* ---- writing ---- */

static void write_map(const struct map *map, FILE *out)
{
	fputs(",\"nodes\":[", out);
	for (unsigned i = 0; i < map->node_count; i++) {
		fputs(i > 0 ? ",{\"name\":" : "{\"name\":", out);
		json_text(out, map->nodes[i].name);
		fprintf(out, ",\"host\":%s,\"level\":%u,\"place\":%.5f}",
			map->nodes[i].host ? "true" : "false", map->nodes[i].level,
			map->nodes[i].place);
	}
	fputs("],\"links\":[", out);
	for (unsigned i = 0; i < map->link_count; i++) {
		const struct link *link = &map->links[i];
		fputs(i > 0 ? ",{\"port\":" : "{\"port\":", out);
		json_text(out, link->port);
		fprintf(out, ",\"from\":%u,\"to\":%u,\"rate\":%.6g,\"use\":%.2f,\"paused\":%.2f}",
			link->from, link->to, link->rate_gbps, 100 * link->use, 100 * link->paused);
	}
	fputc(']', out);
}

/* Returns the port's number in the series, or SIZE_MAX if it is not recorded. */
static size_t port_of(const struct series *series, const char *port)
{
	for (size_t i = 0; i < series->port_count; i++) {
		if (strcmp(series->ports[i], port) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* Writes one value of all links in one frame: the mean of the frame's samples. */
static void write_frame(const struct map *map, const struct series *series, const size_t *ports,
			size_t first, size_t end, bool pauses, FILE *out)
{
	double begin = first > 0 ? series->times[first - 1] : 0;
	for (unsigned i = 0; i < map->link_count; i++) {
		double sum = 0;
		fputs(i > 0 ? "," : "[", out);
		if (ports[i] == SIZE_MAX) {
			fputs("null", out);
			continue;
		}
		for (size_t time = first; time < end; time++)
			sum += series_at(series, pauses ? SERIES_paused_us : SERIES_rate_gbps, time,
					 ports[i]);
		if (pauses)
			fprintf(out, "%.0f", 100 * sum / (series->times[end - 1] - begin));
		else
			fprintf(out, "%.0f",
				100 * sum / (double)(end - first) / map->links[i].rate_gbps);
	}
	fputc(']', out);
}

static void write_frames(const struct map *map, const struct series *series, FILE *out)
{
	size_t frames = series->time_count < FRAMES_MAX ? series->time_count : FRAMES_MAX;
	size_t *ports = calloc(map->link_count + 1, sizeof(*ports));
	if (!ports)
		abort();
	for (unsigned i = 0; i < map->link_count; i++)
		ports[i] = port_of(series, map->links[i].port);
	if (frames * map->link_count > VALUES_MAX)
		frames = VALUES_MAX / map->link_count;
	fputs(",\"frames\":[", out);
	for (size_t frame = 0; frame < frames; frame++) {
		size_t first = frame * series->time_count / frames;
		size_t end = (frame + 1) * series->time_count / frames;
		fprintf(out, "%s{\"from\":%.9g,\"to\":%.9g,\"use\":", frame > 0 ? "," : "",
			first > 0 ? series->times[first - 1] : 0, series->times[end - 1]);
		write_frame(map, series, ports, first, end, false, out);
		fputs(",\"paused\":", out);
		write_frame(map, series, ports, first, end, true, out);
		fputc('}', out);
	}
	fputc(']', out);
	free(ports);
}

static void write_item(struct report *report, const struct map *map, const struct series *series,
		       const char *run)
{
	FILE *out = report_page_item(report->page, "topology");
	fputs(",\"title\":", out);
	json_text(out, run ? run : "");
	write_map(map, out);
	if (series)
		write_frames(map, series, out);
	report_page_item_end(report->page);
}

static void free_map(struct map *map)
{
	for (unsigned i = 0; i < map->node_count; i++)
		free(map->nodes[i].name);
	free(map->nodes);
	free(map->links);
}

static double run_time_us(struct report *report, const char *folder)
{
	struct yaml_document *summary = report_read(report, folder, "summary.json");
	double time = summary ? report_number(yaml_root(summary), "time_ps") / 1e6 : (double)NAN;
	yaml_close(summary);
	return time;
}

bool topology_map_add(struct report *report, const char *folder, const char *run)
{
	char path[PATH_MAX];
	struct series *series = NULL;
	struct map map = {0};
	double time = run_time_us(report, folder);
	if (!(time > 0) || !report_has(folder, "links.csv", path))
		return *report->error == '\0';
	struct table *links = table_read(path, report->error, sizeof(report->error));
	bool good = links != NULL;
	if (good && report_has(folder, "series.csv", path)) {
		series = series_read(path, report->error, sizeof(report->error));
		good = series != NULL;
	}
	if (good)
		read_links(&map, links, time);
	if (map.link_count > 0) {
		set_places(&map);
		write_item(report, &map, series, run);
	}
	series_free(series);
	table_free(links);
	free_map(&map);
	return good;
}
