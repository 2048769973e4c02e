/* SPDX-License-Identifier: Apache-2.0 */
/* waits: see waits.h. */
#include "traffic/workload/waits.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/parallel.h"

struct wait { /* of a flow; touched by its host's part alone */
	uint32_t
		count; /* of what it waits for; of a barrier of all hosts: its place in barriers[] */
	bool told;
	sim_time due; /* when the last of it was known */
};

/* A barrier of all hosts, as a part sees it. */
struct side {
	uint32_t flows; /* that end in this part, and are not complete */
	uint32_t parts; /* that have not told this one that theirs are */
	sim_time due;
};

struct barrier {
	uint32_t flow;
	struct side sides[SIM_PARTS_MAX];
};

struct news {
	uint32_t flow; /* that waits */
	sim_time at;
};

struct news_list {
	struct news *news;
	uint32_t count, room;
};

/* From one part to another. */
struct teller {
	struct crossing crossing;
	struct news_list left[2];
	struct waits *waits;
	unsigned to;
};

struct waits {
	const struct workload *workload;
	struct waits_user *user;
	sim_time notice;
	unsigned parts;
	uint8_t *part_of; /* [hosts] */
	struct wait *list;
	struct barrier *barriers;
	uint32_t barrier_count;
	struct teller *tellers; /* [from * parts + to] */
};

static bool is_told(const struct workload_flow *first, const struct workload_flow *then)
{
	return workload_is_common(first) || workload_happens_at(first, then) != workload_home(then);
}

/* ---- what is known ---- */

static void know(struct waits *waits, uint32_t flow, sim_time at)
{
	struct wait *wait = &waits->list[flow];

	assert(wait->count);
	if (at > wait->due)
		wait->due = at;
	if (--wait->count == 0)
		waits->user->release(waits->user, flow,
				     wait->due + waits->workload->flows[flow].start, wait->told);
}

/* In that part. Its own `start` is what it takes. */
static void reach(struct waits *waits, const struct barrier *barrier, unsigned part)
{
	const struct workload *workload = waits->workload;
	const struct workload_flow *flow = &workload->flows[barrier->flow];
	sim_time at = barrier->sides[part].due + flow->start;

	if (waits->part_of[flow->source] == part)
		waits->user->reached(waits->user, barrier->flow, at);
	for (uint32_t i = 0; i < flow->next_count; i++) {
		uint32_t then = workload->next[flow->first_next + i];

		if (waits->part_of[workload_home(&workload->flows[then])] == part)
			know(waits, then, at);
	}
}

static void hear(struct waits *waits, unsigned part, uint32_t flow, sim_time at)
{
	if (workload_is_common(&waits->workload->flows[flow])) {
		struct barrier *barrier = &waits->barriers[waits->list[flow].count];
		struct side *side = &barrier->sides[part];

		if (at > side->due)
			side->due = at;
		if (--side->parts == 0)
			reach(waits, barrier, part);
	} else {
		know(waits, flow, at);
	}
}

/* ---- from part to part ---- */

static void push(struct news_list *list, struct news news)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		list->news = realloc(list->news, list->room * sizeof(list->news[0]));
		assert(list->news);
	}
	list->news[list->count++] = news;
}

static void take(struct crossing *crossing, unsigned window)
{
	struct teller *teller = container_of(crossing, struct teller, crossing);
	struct news_list *list = &teller->left[window];

	for (uint32_t i = 0; i < list->count; i++)
		hear(teller->waits, teller->to, list->news[i].flow, list->news[i].at);
	list->count = 0;
}

static void tell(struct waits *waits, unsigned from, unsigned to, uint32_t flow, sim_time at)
{
	struct teller *teller = &waits->tellers[from * waits->parts + to];
	const struct workload_flow *what = &waits->workload->flows[flow];

	if (from == to)
		hear(waits, to, flow, at);
	else
		push(&teller->left[crossing_leave(&teller->crossing, at + what->start)],
		     (struct news){flow, at});
}

static void complete_side(struct waits *waits, uint32_t flow, unsigned part, sim_time now)
{
	struct barrier *barrier = &waits->barriers[waits->list[flow].count];

	if (--barrier->sides[part].flows)
		return;
	for (unsigned to = 0; to < waits->parts; to++)
		tell(waits, part, to, flow, now + waits->notice);
}

void waits_happened(struct waits *waits, uint32_t flow, bool arrival, sim_time now)
{
	const struct workload *workload = waits->workload;
	const struct workload_flow *first = &workload->flows[flow];

	for (uint32_t i = 0; i < first->next_count; i++) {
		uint32_t number = workload->next[first->first_next + i];
		const struct workload_flow *then = &workload->flows[number];
		unsigned part;

		if (workload_waits_for_arrival(first, then) != arrival)
			continue;
		part = waits->part_of[workload_happens_at(first, then)];
		if (workload_is_common(then))
			complete_side(waits, number, part, now);
		else if (is_told(first, then))
			tell(waits, part, waits->part_of[workload_home(then)], number,
			     now + waits->notice);
		else
			know(waits, number, now);
	}
}

bool waits_told(const struct waits *waits, uint32_t flow)
{
	return waits->list[flow].told;
}

/* ---- life ---- */

void waits_start(struct waits *waits)
{
	const struct workload *workload = waits->workload;

	for (uint32_t i = 0; i < workload->count; i++)
		if (!workload_is_common(&workload->flows[i]) && !workload->flows[i].waits)
			waits->user->release(waits->user, i, workload->flows[i].start, false);
	for (uint32_t i = 0; i < waits->barrier_count; i++)
		for (unsigned part = 0; part < waits->parts; part++)
			if (!waits->barriers[i].sides[part].parts)
				reach(waits, &waits->barriers[i], part);
}

/* Which part has to wait for how many parts, each of how many flows. */
static void count_sides(struct waits *waits)
{
	const struct workload *workload = waits->workload;

	for (uint32_t i = 0; i < workload->count; i++) {
		const struct workload_flow *first = &workload->flows[i];

		for (uint32_t j = 0; j < first->next_count; j++) {
			uint32_t number = workload->next[first->first_next + j];
			const struct workload_flow *then = &workload->flows[number];
			unsigned part = waits->part_of[workload_happens_at(first, then)];

			if (workload_is_common(then))
				waits->barriers[waits->list[number].count].sides[part].flows++;
			else
				waits->list[number].told |= is_told(first, then);
		}
	}
	for (uint32_t i = 0; i < waits->barrier_count; i++)
		for (unsigned from = 0; from < waits->parts; from++)
			for (unsigned to = 0; to < waits->parts; to++)
				waits->barriers[i].sides[to].parts +=
					waits->barriers[i].sides[from].flows != 0;
}

static void create_barriers(struct waits *waits)
{
	const struct workload *workload = waits->workload;

	for (uint32_t i = 0; i < workload->count; i++)
		waits->barrier_count += workload_is_common(&workload->flows[i]);
	waits->barriers = calloc(waits->barrier_count + 1, sizeof(waits->barriers[0]));
	assert(waits->barriers);
	waits->barrier_count = 0;
	for (uint32_t i = 0; i < workload->count; i++) {
		waits->list[i].count = workload->flows[i].waits;
		if (workload_is_common(&workload->flows[i])) {
			waits->barriers[waits->barrier_count].flow = i;
			waits->list[i].count = waits->barrier_count++;
		}
	}
}

/* Nothing crosses if the workload has nothing that does; nor in a run that cannot be divided for want of `notice`. */
static void create_tellers(struct waits *waits, struct sim *const *sims)
{
	sim_time delay = workload_lookahead(waits->workload, waits->part_of, waits->notice);

	waits->tellers = calloc((size_t)waits->parts * waits->parts, sizeof(waits->tellers[0]));
	assert(waits->tellers);
	for (unsigned i = 0; i < waits->parts * waits->parts; i++) {
		struct teller *teller = &waits->tellers[i];
		struct sim *from = sim_part(sims[0], i / waits->parts);
		struct sim *to = sim_part(sims[0], i % waits->parts);

		teller->waits = waits;
		teller->to = i % waits->parts;
		if (from != to && delay > 0 && delay < SIM_NEVER)
			crossing_init(&teller->crossing, from, to, delay, take);
	}
}

struct waits *waits_create(const struct workload *workload, sim_time notice,
			   struct sim *const *sims, struct waits_user *user)
{
	struct waits *waits = calloc(1, sizeof(*waits));

	assert(waits);
	waits->workload = workload;
	waits->user = user;
	waits->notice = notice;
	waits->parts = sim_parts(sims[0]);
	waits->part_of = calloc(workload->hosts + 1, sizeof(waits->part_of[0]));
	waits->list = calloc(workload->count + 1, sizeof(waits->list[0]));
	assert(waits->part_of && waits->list);
	for (uint32_t i = 0; i < workload->hosts; i++)
		waits->part_of[i] = (uint8_t)sim_part_of(sims[i]);
	create_barriers(waits);
	create_tellers(waits, sims);
	count_sides(waits);
	return waits;
}

void waits_destroy(struct waits *waits)
{
	for (unsigned i = 0; i < waits->parts * waits->parts; i++)
		for (unsigned window = 0; window < 2; window++)
			free(waits->tellers[i].left[window].news);
	free(waits->tellers);
	free(waits->barriers);
	free(waits->list);
	free(waits->part_of);
	free(waits);
}
