/* SPDX-License-Identifier: Apache-2.0 */
/* audit: see audit.h. */
#include "sim/audit.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>

__attribute__((format(printf, 5, 6))) static void violation(struct block *block, FILE *out,
							    const char *law, const char *gauge,
							    const char *format, ...)
{
	va_list values;

	block->violations++;
	fprintf(out, "%s: %s of %s: ", block->name, law, gauge);
	va_start(values, format);
	vfprintf(out, format, values);
	va_end(values);
	fputc('\n', out);
}

/* Checks the busy time. A service that is booked ahead may end in the future. */
static void audit_time(struct block *block, FILE *out, const struct gauge_info *info,
		       const struct gauge *gauge)
{
	sim_time now = sim_now(block->sim), time = gauge->until > now ? gauge->until : now;
	uint64_t area = gauge_area(gauge, now), most;

	if (gauge->capacity == 0 ||
	    __builtin_mul_overflow(gauge->capacity + gauge->beyond, time, &most))
		return;
	if (area <= most)
		return;
	if (gauge->capacity == 1)
		violation(block, out, "utilisation", info->name,
			  "busy for %" PRIu64 " ps of %" PRIu64 " ps", area, time);
	else
		violation(block, out, "utilisation", info->name,
			  "%" PRIu64 " %s x ps in use; expected at most %" PRIu64 " x %" PRIu64
			  " ps",
			  area, info->unit, gauge->capacity + gauge->beyond, time);
}

static void audit_population(struct block *block, FILE *out, const struct gauge_info *info,
			     const struct gauge *gauge)
{
	uint64_t most = gauge->capacity + gauge->beyond;

	if (gauge->level_max > INT64_MAX)
		violation(block, out, "population", info->name,
			  "%" PRId64 " %s; expected at least 0", (int64_t)gauge->level_max,
			  info->unit);
	else if (gauge->capacity > 0 && gauge->level_max > most)
		violation(block, out, "population", info->name,
			  "held %" PRIu64 " %s; expected at most %" PRIu64, gauge->level_max,
			  info->unit, most);
}

/* Each remaining item entered between time 0 and now. */
static void audit_little(struct block *block, FILE *out, const struct gauge_info *info,
			 const struct gauge *gauge)
{
	sim_time now = sim_now(block->sim);
	uint64_t area = gauge_area(gauge, now), still = gauge->level * now;

	if (!gauge->timed || area - gauge->stays <= still)
		return;
	violation(block, out, "Little's law", info->name,
		  "%" PRIu64 " %s x ps by level, but %" PRIu64
		  " by the stays of departed items; %" PRIu64 " items remain",
		  area, info->unit, gauge->stays, gauge->level);
}

void audit_block(struct block *block, FILE *out)
{
	const struct gauge *gauges = gauges_read(block);

	for (size_t i = 0; gauges && block->type->gauges[i].name; i++) {
		const struct gauge_info *info = &block->type->gauges[i];

		if (info->kind == GAUGE_BUSY || info->kind == GAUGE_POOL)
			audit_time(block, out, info, &gauges[i]);
		if (info->kind != GAUGE_BUSY)
			audit_population(block, out, info, &gauges[i]);
		audit_little(block, out, info, &gauges[i]);
	}
	if (block->type->audit)
		block->type->audit(block, out);
}

void audit_order_note(struct audit_order *order, sim_time now, uint64_t queue, uint64_t expected,
		      uint64_t found)
{
	if (order->violations++)
		return;
	order->at = now;
	order->queue = queue;
	order->expected = expected;
	order->found = found;
}

void audit_order(struct block *block, FILE *out, const struct audit_order *order, const char *what)
{
	if (!order->violations)
		return;
	violation(block, out, "order", what,
		  "number %" PRIu64 " of queue %" PRIu64 " at %" PRIu64
		  " ps; expected number %" PRIu64 "; %" PRIu64 " violations",
		  order->found, order->queue, order->at, order->expected, order->violations);
}

void audit_service(struct block *block, FILE *out, const struct gauge *server, uint64_t completions,
		   sim_time service)
{
	sim_time busy = gauge_area(server, sim_now(block->sim));

	assert(server >= block->gauges);
	if (busy == completions * service)
		return;
	violation(block, out, "utilisation", block->type->gauges[server - block->gauges].name,
		  "busy for %" PRIu64 " ps; expected %" PRIu64 " completions x %" PRIu64
		  " ps = %" PRIu64 " ps",
		  busy, completions, service, completions * service);
}
