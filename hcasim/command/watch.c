/* SPDX-License-Identifier: Apache-2.0 */
/* watch: see watch.h. */
#include "hcasim/command/watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hcasim/run/drops.h"
#include "switch/switch.h"

#define PORTS_SHOWN   12u
#define BAR_LETTERS   20
#define FRAME_SECONDS 0.1 /* wall time between two pictures on a terminal */
#define BUSY          0.9
#define HALF_BUSY     0.5

#define RED    "\033[31m"
#define YELLOW "\033[33m"
#define GREEN  "\033[32m"
#define PLAIN  "\033[0m"
#define ANEW   "\033[H\033[J"

/* State of a port when the last picture was drawn. */
struct seen {
	const struct port *port;
	uint64_t bytes;
	sim_time paused;
	double rate_bps, paused_share;
	uint64_t queued_bytes;
};

struct watch {
	const struct build *build;
	struct seen *ports;
	uint32_t flows_done, flows;
	sim_time every, shown_at;
	bool color;
	double drawn_at; /* wall time */
	unsigned limit;  /* of ports */
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static sim_time paused_time(const struct port *port)
{
	sim_time most = 0;

	if (port_link_layer(port) != LINK_ETHERNET)
		return 0;
	for (unsigned vl = 0; vl < port_vls(port); vl++) {
		sim_time paused = port_paused_time(port, vl);

		most = paused > most ? paused : most;
	}
	return most;
}

static uint64_t queued_bytes(const struct port *port)
{
	uint64_t bytes = 0;

	for (unsigned vl = 0; vl < port_vls(port); vl++)
		bytes += port_queued_bytes(port, vl);
	return bytes;
}

/* Brings all ports to the present. Returns the bytes in all queues. */
static uint64_t look(struct watch *watch, sim_time interval)
{
	uint64_t queued = 0;

	for (uint32_t i = 0; i < watch->build->port_count; i++) {
		struct seen *seen = &watch->ports[i];
		uint64_t bytes = port_bytes_out(seen->port);
		sim_time paused = paused_time(seen->port);

		seen->rate_bps = (double)(bytes - seen->bytes) * 8 * (double)SEC / (double)interval;
		seen->paused_share = (double)(paused - seen->paused) / (double)interval;
		seen->queued_bytes = queued_bytes(seen->port);
		seen->bytes = bytes;
		seen->paused = paused;
		queued += seen->queued_bytes;
	}
	return queued;
}

/* Compares two ports: the busier port is first. For ports that send nothing, a longer queue
 * counts. */
static int by_rate(const void *one, const void *other)
{
	const struct seen *const *a = one, *const *b = other;

	if ((*a)->rate_bps > (*b)->rate_bps || (*a)->rate_bps < (*b)->rate_bps)
		return (*a)->rate_bps > (*b)->rate_bps ? -1 : 1;
	if ((*a)->queued_bytes != (*b)->queued_bytes)
		return (*a)->queued_bytes > (*b)->queued_bytes ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static const char *color_of(const struct watch *watch, double share)
{
	if (!watch->color)
		return "";
	return share >= BUSY ? RED : share >= HALF_BUSY ? YELLOW : GREEN;
}

static void print_port(const struct watch *watch, const struct seen *seen)
{
	double share = seen->rate_bps / (double)port_rate_bps(seen->port);
	int letters = (int)(share * BAR_LETTERS + 0.5);
	const char *end = watch->color ? PLAIN : "";

	letters = letters > BAR_LETTERS ? BAR_LETTERS : letters;
	printf("%-24s %8.2f Gb/s %s%4.0f %% %-*.*s%s %10" PRIu64 " B %s%4.0f %%%s\n",
	       port_name(seen->port), seen->rate_bps / 1e9, color_of(watch, share), share * 100,
	       BAR_LETTERS, letters, "####################", end, seen->queued_bytes,
	       watch->color && seen->paused_share > 0 ? RED : "", seen->paused_share * 100, end);
}

static void print_totals(const struct watch *watch, sim_time now, uint64_t queued)
{
	const struct build *build = watch->build;
	uint64_t pauses = 0, marks = 0;

	for (uint32_t i = 0; i < build->port_count; i++)
		pauses += port_counters(build->ports[i])->pause_sent;
	for (uint32_t i = 0; i < build->scenario->switch_count; i++)
		marks += switch_counters(build->switches[i])->ecn_marks;
	printf("%.3f us, %" PRIu32 " of %" PRIu32 " flows, %" PRIu64 " B queued, %" PRIu64
	       " pauses, %" PRIu64 " marks, %" PRIu64 " drops\n",
	       (double)now / (double)US, watch->flows_done, watch->flows, queued, pauses, marks,
	       drops_of_all(build));
}

static void draw(struct watch *watch, sim_time now)
{
	uint32_t count = watch->build->port_count;
	const struct seen **sorted = calloc(count + 1, sizeof(struct seen *));
	uint64_t queued;

	if (!sorted)
		abort();
	queued = look(watch, now - watch->shown_at);
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = &watch->ports[i];
	qsort(sorted, count, sizeof(sorted[0]), by_rate);
	if (watch->color)
		fputs(ANEW, stdout);
	print_totals(watch, now, queued);
	printf("%-24s %13s %-*s %12s %6s\n", "port", "rate", BAR_LETTERS + 6, "  link", "queue",
	       "paused");
	for (uint32_t i = 0; i < count && i < watch->limit; i++)
		if (sorted[i]->rate_bps > 0 || sorted[i]->queued_bytes > 0 || watch->color)
			print_port(watch, sorted[i]);
	fflush(stdout);
	free(sorted);
	watch->shown_at = now;
}

void watch_run(const struct arguments *arguments, const struct build *build,
	       struct experiment *experiment)
{
	struct watch watch = {
		.build = build,
		.every = arguments->every,
		.color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
		.limit = arguments->ports ? arguments->ports : PORTS_SHOWN,
	};
	sim_time now = 0;
	bool goes_on;

	watch.ports = calloc(build->port_count + 1, sizeof(watch.ports[0]));
	if (!watch.ports)
		abort();
	for (uint32_t i = 0; i < build->port_count; i++)
		watch.ports[i].port = build->ports[i];
	do {
		now += watch.every;
		goes_on = experiment_advance(experiment, now, NULL, NULL);
		watch.flows_done = experiment_flows_done(experiment, &watch.flows);
		if (watch.color && goes_on && seconds() - watch.drawn_at < FRAME_SECONDS)
			continue;
		watch.drawn_at = seconds();
		if (goes_on)
			draw(&watch, now);
	} while (goes_on);
	free(watch.ports);
}
