/* SPDX-License-Identifier: Apache-2.0 */
/* drops: see drops.h. */
#include "hcasim/run/drops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hca/endpoint/endpoint.h"
#include "sim/counters.h"

enum { NAME_BYTES = 256, COUNTER_BYTES = 128 };

uint64_t drops_in_queues(const struct port *port)
{
	const struct port_counters *counters = port_counters(port);
	uint64_t LINK = 0, QUEUE = 0;

#define ADD(X, reason, value, where, counter, name, meaning) where += counters->counter;
	PORT_DROPS(ADD, )
	(void)LINK;
	return QUEUE;
}

uint64_t drops_on_link(const struct port *port)
{
	const struct port_counters *counters = port_counters(port);
	uint64_t LINK = 0, QUEUE = 0;

	PORT_DROPS(ADD, )
#undef ADD
	(void)QUEUE;
	return LINK;
}

uint64_t drops_of_port(const struct port *port)
{
	return drops_in_queues(port) + drops_on_link(port);
}

uint64_t drops_of_switch(const struct fabric_switch *sw)
{
	const struct switch_counters *counters = switch_counters(sw);

#define ADD(X, reason, value, counter, name, meaning) +counters->counter
	return 0 SWITCH_DROPS(ADD, );
#undef ADD
}

uint64_t drops_counted(const struct build *build, uint32_t host, const char *counter)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "%s.hca.%s", build->scenario->hosts[host].name, counter);
	const uint64_t *count = counters_find(build->sim, name);
	return count ? *count : 0;
}

/* Adds counters whose names are separated by commas. */
static uint64_t counted_all(const struct build *build, uint32_t host, const char *names)
{
	uint64_t sum = 0;

	for (const char *name = names; *name != '\0';) {
		char one[COUNTER_BYTES];
		size_t length = strcspn(name, ",");

		snprintf(one, sizeof(one), "%.*s", (int)length, name);
		sum += drops_counted(build, host, one);
		name += length + (name[length] == ',');
	}
	return sum;
}

struct hca_drops {
#define FIELD(column, name, endpoint, detailed) uint64_t column;
	HCA_DROPS(FIELD)
#undef FIELD
};

static struct hca_drops of_hca(const struct build *build, uint32_t host)
{
	struct hca_drops drops = {0};

	if (build->endpoint_hcas[host]) {
		const struct endpoint_counters *counters =
			endpoint_counters(build->endpoint_hcas[host]);
#define TAKE(column, name, endpoint, detailed) drops.column = endpoint;
		HCA_DROPS(TAKE)
#undef TAKE
		return drops;
	}
#define TAKE(column, name, endpoint, detailed) drops.column = counted_all(build, host, detailed);
	HCA_DROPS(TAKE)
#undef TAKE
	return drops;
}

uint64_t drops_of_hca(const struct build *build, uint32_t host)
{
	const struct hca_drops drops = of_hca(build, host);

#define ADD(column, name, endpoint, detailed) +drops.column
	return 0 HCA_DROPS(ADD);
#undef ADD
}

uint64_t drops_of_all(const struct build *build)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < build->port_count; i++)
		sum += drops_of_port(build->ports[i]);
	for (uint32_t i = 0; i < build->scenario->switch_count; i++)
		sum += drops_of_switch(build->switches[i]);
	for (uint32_t i = 0; i < build->scenario->host_count; i++)
		sum += drops_of_hca(build, i);
	return sum;
}

/* ---- links.csv ---- */

void drops_write_columns(FILE *out)
{
#define COLUMN(X, reason, value, where, counter, name, meaning) fprintf(out, ",%s", #counter);
	PORT_DROPS(COLUMN, )
#undef COLUMN
#define COLUMN(column, name, endpoint, detailed) fprintf(out, ",%s", #column);
	HCA_DROPS(COLUMN)
#undef COLUMN
}

/* Returns the host of a port, or host_count for a switch port. */
static uint32_t host_of(const struct build *build, const struct port *port)
{
	uint32_t host = 0;

	while (host < build->scenario->host_count && build_host_port(build, host) != port)
		host++;
	return host;
}

void drops_write_port(const struct build *build, const struct port *port, FILE *out)
{
	const struct port_counters *counters = port_counters(port);
	uint32_t host = host_of(build, port);
	struct hca_drops drops = {0};

	if (host < build->scenario->host_count)
		drops = of_hca(build, host);
#define VALUE(X, reason, value, where, counter, name, meaning) \
	fprintf(out, ",%" PRIu64, counters->counter);
	PORT_DROPS(VALUE, )
#undef VALUE
#define VALUE(column, name, endpoint, detailed) fprintf(out, ",%" PRIu64, drops.column);
	HCA_DROPS(VALUE)
#undef VALUE
}

/* ---- for a reader ---- */

struct reasons {
	FILE *out;
	const char *between;
	uint64_t sum;
};

static void print_reason(struct reasons *reasons, const char *name, uint64_t count)
{
	reasons->sum += count;
	if (count == 0)
		return;
	fprintf(reasons->out, "%s%s %" PRIu64, reasons->between, name, count);
	reasons->between = ", ";
}

uint64_t drops_print(const struct build *build, FILE *out)
{
	struct reasons reasons = {.out = out, .between = " ("};
	struct port_counters ports = {0};
	struct switch_counters switches = {0};
	struct hca_drops hcas = {0};

	for (uint32_t i = 0; i < build->scenario->switch_count; i++) {
		const struct switch_counters *counters = switch_counters(build->switches[i]);
#define ADD(X, reason, value, counter, name, meaning) switches.counter += counters->counter;
		SWITCH_DROPS(ADD, )
#undef ADD
	}
	for (uint32_t i = 0; i < build->port_count; i++) {
		const struct port_counters *counters = port_counters(build->ports[i]);
#define ADD(X, reason, value, where, counter, name, meaning) ports.counter += counters->counter;
		PORT_DROPS(ADD, )
#undef ADD
	}
	for (uint32_t i = 0; i < build->scenario->host_count; i++) {
		const struct hca_drops drops = of_hca(build, i);
#define ADD(column, name, endpoint, detailed) hcas.column += drops.column;
		HCA_DROPS(ADD)
#undef ADD
	}
#define PRINT(X, reason, value, counter, name, meaning) \
	print_reason(&reasons, name, switches.counter);
	SWITCH_DROPS(PRINT, )
#undef PRINT
#define PRINT(X, reason, value, where, counter, name, meaning) \
	print_reason(&reasons, name, ports.counter);
	PORT_DROPS(PRINT, )
#undef PRINT
#define PRINT(column, name, endpoint, detailed) print_reason(&reasons, name, hcas.column);
	HCA_DROPS(PRINT)
#undef PRINT
	if (reasons.sum > 0)
		fputc(')', out);
	return reasons.sum;
}
