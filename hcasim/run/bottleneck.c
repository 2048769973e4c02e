/* SPDX-License-Identifier: Apache-2.0 */
/* bottleneck: see bottleneck.h. */
#include "hcasim/run/bottleneck.h"

#include <inttypes.h>
#include <string.h>

#include "sim/json.h"

#define TIE 0.05 /* largest difference of usage that counts as equal */

/* Gauges as "type.gauge", downstream resources first. A full resource fills those after it. Gauges
 * that are not listed come last. */
static const char *const order[] = {
	"port.link",
	"pcie.to_host",
	"pcie.to_device",
	"numa.to_socket",
	"numa.from_socket",
	"llc.memory",
	"iommu.walkers",
	"scheduler.unit",
	"scheduler.reads",
	"transport.atomic_unit",
	"receive.pipe",
	"transmit.pipe",
	"completion.writer",
	"event_queue.raiser",
	"doorbell.decoder",
	"load.lock",
	"load.core",
	"server.core",
	"translation.checker",
	"pcie.posted",
	"pcie.nonposted",
	"pcie.tags",
	"icm_mpt.mshrs",
	"icm_mtt.mshrs",
	"icm_requester.mshrs",
	"icm_responder.mshrs",
	"icm_cq.mshrs",
	"icm_srq.mshrs",
	"icm_reads.mshrs",
	"transport.atomics",
	"event_queue.moderation",
	"paging.handlers",
	"transport.page_fault",
	"transport.rnr",
	"receive_queue.wqes",
	"dma.scatter_pieces",
	"dma.scatters",
	"transport.scatter_buffers",
	"transport.response_lists",
	"transport.response_buffers",
	"dma.gather_pieces",
	"dma.gathers",
	"transport.reads",
	"transport.pace",
	"transport.window",
	"transport.fence",
	"transport.wqe",
	"wqe_fetch.fetch",
	"transmit.loopback",
	"port.blocked",
	"scheduler.inflight",
	"wqe_fetch.window",
};

const char *bottleneck_order(size_t place)
{
	return place < ARRAY_SIZE(order) ? order[place] : NULL;
}

static size_t rank(const struct use *use)
{
	size_t length = strlen(use->block->type->name);
	size_t i = 0;
	while (i < ARRAY_SIZE(order) &&
	       !(strncmp(order[i], use->block->type->name, length) == 0 &&
		 order[i][length] == '.' && strcmp(order[i] + length + 1, use->info->name) == 0))
		i++;
	return i;
}

/* Returns the length of the adapter's name: the block's name without the last part. */
static size_t adapter_length(const struct block *block)
{
	const char *dot = strrchr(block->name, '.');
	return dot ? (size_t)(dot - block->name) : strlen(block->name);
}

/* Returns the WORK gauge of the same adapter, or NULL. */
static const struct gauge *find_work(const struct sim *sim, const struct block *of)
{
	for (struct block *block = sim_blocks(sim); block; block = block->next) {
		const struct gauge *gauges = block->gauges;
		if (!gauges || adapter_length(block) != adapter_length(of) ||
		    strncmp(block->name, of->name, adapter_length(of)) != 0)
			continue;
		for (size_t i = 0; block->type->gauges[i].name; i++) {
			if (block->type->gauges[i].kind == GAUGE_WORK)
				return &gauges[i];
		}
	}
	return NULL;
}

/* Returns a lower bound of the time with work from one gauge. For servers it is the busy time. For
 * a pool it is the time during which requests waited, or the area of its level divided by its
 * maximum, whichever is longer. */
static sim_time working_time(const struct gauge_info *info, const struct gauge *gauge, sim_time now)
{
	sim_time waited = gauge_stalled(gauge, now);
	uint64_t most = gauge->capacity > gauge->level_max ? gauge->capacity : gauge->level_max;
	uint64_t held = most > 0 ? gauge_area(gauge, now) / most : 0;

	switch (info->kind) {
	case GAUGE_WORK:
		return waited;
	case GAUGE_BUSY:
		return held;
	case GAUGE_POOL:
		return held > waited ? held : waited;
	default:
		return 0;
	}
}

/* Returns the longest time of any WORK gauge. Returns `worked` if no block has such a gauge, as in
 * runs without send queues and cores. */
static sim_time work_time(const struct sim *sim, sim_time worked)
{
	sim_time most = 0;
	bool has_work = false;
	for (struct block *block = sim_blocks(sim); block; block = block->next) {
		const struct gauge *gauges = gauges_read(block);
		for (size_t i = 0; gauges && block->type->gauges[i].name; i++) {
			sim_time time = working_time(&block->type->gauges[i], &gauges[i],
						     sim_now(block->sim));
			has_work |= block->type->gauges[i].kind == GAUGE_WORK && time > 0;
			if (time > most)
				most = time;
		}
	}
	return has_work ? most : worked;
}

static double use_of(const struct sim *sim, const struct block *block,
		     const struct gauge_info *info, const struct gauge *gauge, sim_time time)
{
	sim_time now = sim_now(block->sim);
	if (info->kind == GAUGE_BUSY) { /* it may also have served after the last flow */
		double share =
			(double)gauge_area(gauge, now) / (double)time / (double)gauge->capacity;
		return share > 1 ? 1 : share;
	}
	if (info->kind == GAUGE_POOL)
		return (double)gauge_stalled(gauge, now) / (double)time;
	if (info->kind == GAUGE_SHARE && gauge_area(gauge, now) > 0) {
		const struct gauge *work = find_work(sim, block);
		return work ? (double)gauge_area(gauge, now) / (double)gauge_area(work, now) : 0;
	}
	return 0;
}

/* Inserts a use in order of usage. The last one is dropped. */
static void enter(struct bottleneck *bottleneck, const struct use *use)
{
	unsigned at = bottleneck->count;
	while (at > 0 && bottleneck->uses[at - 1].use < use->use)
		at--;
	if (at == BOTTLENECK_USES)
		return;
	if (bottleneck->count < BOTTLENECK_USES)
		bottleneck->count++;
	memmove(&bottleneck->uses[at + 1], &bottleneck->uses[at],
		(bottleneck->count - 1 - at) * sizeof(*use));
	bottleneck->uses[at] = *use;
}

/* Moves the use to the front that the others of about equal usage wait for. */
static void name_cause(struct bottleneck *bottleneck)
{
	unsigned best = 0;
	if (bottleneck->count == 0 || bottleneck->uses[0].use < BOTTLENECK_LEAST)
		return;
	for (unsigned i = 1; i < bottleneck->count; i++) {
		if (bottleneck->uses[i].use >= bottleneck->uses[0].use - TIE &&
		    rank(&bottleneck->uses[i]) < rank(&bottleneck->uses[best]))
			best = i;
	}
	struct use cause = bottleneck->uses[best];
	memmove(&bottleneck->uses[1], &bottleneck->uses[0], best * sizeof(cause));
	bottleneck->uses[0] = cause;
}

struct bottleneck bottleneck_find(const struct sim *sim, sim_time worked)
{
	struct bottleneck bottleneck = {.time = work_time(sim, worked)};
	for (struct block *block = sim_blocks(sim); block && bottleneck.time > 0;
	     block = block->next) {
		const struct gauge *gauges = block->aside ? NULL : gauges_read(block);
		for (size_t i = 0; gauges && block->type->gauges[i].name; i++) {
			const struct gauge_info *info = &block->type->gauges[i];
			const struct use use = {
				.block = block,
				.info = info,
				.use = use_of(sim, block, info, &gauges[i], bottleneck.time),
				.mean = (double)gauge_area(&gauges[i], sim_now(block->sim)) /
					(double)bottleneck.time,
				.most = gauges[i].level_max,
				.capacity = gauges[i].capacity,
			};
			if (use.use > 0)
				enter(&bottleneck, &use);
		}
	}
	name_cause(&bottleneck);
	return bottleneck;
}

unsigned bottleneck_check(const struct sim *sim, FILE *out)
{
	unsigned wrong = 0;
	for (struct block *block = sim_blocks(sim); block; block = block->next) {
		const struct gauge *gauges = gauges_read(block);
		sim_time now = sim_now(block->sim);
		for (size_t i = 0; gauges && block->type->gauges[i].name; i++) {
			const struct gauge_info *info = &block->type->gauges[i];
			const struct gauge *work =
				info->kind == GAUGE_SHARE ? find_work(sim, block) : NULL;
			if (!work || gauge_area(&gauges[i], now) <= gauge_area(work, now))
				continue;
			fprintf(out,
				"%s: share of %s: held up for %" PRIu64 " %s x ps, of %" PRIu64
				" with work\n",
				block->name, info->name, gauge_area(&gauges[i], now), info->unit,
				gauge_area(work, now));
			wrong++;
		}
	}
	return wrong;
}

const char *bottleneck_verb(enum gauge_kind kind)
{
	return kind == GAUGE_BUSY ? "busy" : kind == GAUGE_POOL ? "waited for" : "held up by it";
}

void bottleneck_print_line(const struct bottleneck *bottleneck, FILE *out)
{
	const struct use *first = &bottleneck->uses[0];
	if (bottleneck->count == 0) {
		fprintf(out, "bottleneck none: no resource was used\n");
		return;
	}
	fprintf(out, "bottleneck %s%s.%s %.1f %% %s (%s)\n",
		first->use < BOTTLENECK_LEAST ? "none; most used: " : "", first->block->name,
		first->info->name, 100 * first->use, bottleneck_verb(first->info->kind),
		first->info->meaning);
}

void bottleneck_print_json(const struct bottleneck *bottleneck, FILE *out)
{
	fprintf(out, "\"work_ps\": %" PRIu64 ",\n  \"uses\": [", bottleneck->time);
	for (unsigned i = 0; i < bottleneck->count; i++) {
		const struct use *use = &bottleneck->uses[i];
		fprintf(out,
			"%s\n    {\"name\": \"%s.%s\", \"kind\": \"%s\", \"use\": %.6f, "
			"\"mean\": %.6g, \"most\": %" PRIu64 ", \"capacity\": %" PRIu64
			", \"unit\": ",
			i > 0 ? "," : "", use->block->name, use->info->name,
			gauge_kind_name(use->info->kind), use->use, use->mean, use->most,
			use->capacity);
		json_text(out, use->info->unit);
		fprintf(out, ", \"meaning\": ");
		json_text(out, use->info->meaning);
		fputc('}', out);
	}
	fprintf(out, "%s]", bottleneck->count > 0 ? "\n  " : "");
}
