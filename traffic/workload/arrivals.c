/* SPDX-License-Identifier: Apache-2.0 */
/* arrivals: see arrivals.h. */
#include "traffic/workload/arrivals.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/transport/psn.h"
#include "sim/parallel.h"
#include "sim/pool.h"

struct news {
	struct arrival_book *to;
	uint32_t flow, packets;
	enum workload_operation operation;
};

/* From one part to another. */
struct teller {
	struct crossing crossing;
	struct news *left[2];
	uint32_t count[2], room[2];
};

struct arrivals_desk {
	unsigned parts;
	struct teller *tellers;           /* [from * parts + to] */
	struct pool pools[SIM_PARTS_MAX]; /* of each part */
};

static struct pool *pool_of(const struct arrival_book *arrivals)
{
	return &arrivals->desk->pools[arrivals->part];
}

/* ---- told ---- */

static void append(struct arrival_queue *queue, struct arrival *arrival)
{
	if (queue->last)
		queue->last->next = arrival;
	else
		queue->first = arrival;
	queue->last = arrival;
}

static void hear(const struct news *news)
{
	struct arrival_book *arrivals = news->to;
	uint32_t first_psn = arrivals->next_psn;
	struct arrival *arrival;

	arrivals->next_psn = psn_add(first_psn, news->packets);
	if (news->operation == WORKLOAD_ATOMIC)
		return;
	arrival = pool_take(pool_of(arrivals));
	*arrival = (struct arrival){.of = arrivals,
				    .flow = news->flow,
				    .first_psn = first_psn,
				    .packets = news->packets,
				    .operation = (uint8_t)news->operation};
	append(news->operation == WORKLOAD_READ ? &arrivals->reads : &arrivals->data, arrival);
}

static void take(struct crossing *crossing, unsigned window)
{
	struct teller *teller = container_of(crossing, struct teller, crossing);

	for (uint32_t i = 0; i < teller->count[window]; i++)
		hear(&teller->left[window][i]);
	teller->count[window] = 0;
}

/* It takes effect with its packets, which cross by themselves. */
static void leave(struct teller *teller, const struct news *news)
{
	unsigned window = crossing_leave(&teller->crossing, SIM_NEVER);
	uint32_t *room = &teller->room[window];

	if (teller->count[window] == *room) {
		*room = *room ? 2 * *room : 64;
		teller->left[window] = realloc(teller->left[window], *room * sizeof(struct news));
		assert(teller->left[window]);
	}
	teller->left[window][teller->count[window]++] = *news;
}

void arrivals_tell(struct arrival_book *arrivals, unsigned from, uint32_t flow,
		   enum workload_operation operation, uint32_t packets)
{
	const struct arrivals_desk *desk = arrivals->desk;
	const struct news news = {arrivals, flow, packets, operation};

	if (from == arrivals->part)
		hear(&news);
	else
		leave(&desk->tellers[from * desk->parts + arrivals->part], &news);
}

/* ---- found ---- */

static struct arrival *find(const struct arrival_queue *queue, uint32_t psn)
{
	for (struct arrival *arrival = queue->first; arrival; arrival = arrival->next) {
		int32_t place = psn_distance(arrival->first_psn, psn);

		if (place >= 0 && (uint32_t)place < arrival->packets)
			return arrival;
	}
	return NULL;
}

static void drop_first(struct arrival_book *arrivals, struct arrival_queue *queue)
{
	struct arrival *arrival = queue->first;

	queue->first = arrival->next;
	if (!queue->first)
		queue->last = NULL;
	pool_give(pool_of(arrivals), arrival);
}

struct arrival *arrivals_find_data(const struct arrival_book *arrivals, uint32_t psn)
{
	return find(&arrivals->data, psn);
}

/* Whoever asks has so many reads under way at most, so one that so many came after is over. */
struct arrival *arrivals_find_read(struct arrival_book *arrivals, uint32_t psn)
{
	struct arrival_queue *reads = &arrivals->reads;
	struct arrival *found = find(reads, psn);
	uint64_t before = 0;

	if (!found)
		return NULL;
	for (const struct arrival *read = reads->first; read != found; read = read->next)
		before++;
	for (; before >= arrivals->reads_max; before--)
		drop_first(arrivals, reads);
	return found;
}

struct arrival *arrivals_oldest_send(const struct arrival_book *arrivals)
{
	struct arrival *arrival = arrivals->data.first;

	while (arrival && (arrival->operation != WORKLOAD_SEND || arrival->delivered))
		arrival = arrival->next;
	return arrival;
}

void arrivals_delivered(struct arrival *arrival)
{
	struct arrival_book *arrivals = arrival->of;

	arrival->delivered = true;
	while (arrivals->data.first && arrivals->data.first->delivered)
		drop_first(arrivals, &arrivals->data);
}

/* ---- life ---- */

void arrivals_init(struct arrival_book *arrivals, struct arrivals_desk *desk, struct sim *sim,
		   uint64_t reads_max)
{
	*arrivals = (struct arrival_book){
		.desk = desk, .part = sim_part_of(sim), .reads_max = reads_max};
}

struct arrivals_desk *arrivals_desk_create(struct sim *sim)
{
	struct arrivals_desk *desk = calloc(1, sizeof(*desk));
	unsigned parts = sim_parts(sim);

	assert(desk);
	desk->parts = parts;
	desk->tellers = calloc((size_t)parts * parts, sizeof(desk->tellers[0]));
	assert(desk->tellers);
	for (unsigned i = 0; i < parts * parts; i++) {
		struct sim *from = sim_part(sim, i / parts), *to = sim_part(sim, i % parts);

		if (from != to)
			crossing_init(&desk->tellers[i].crossing, from, to, SIM_NEVER, take);
	}
	for (unsigned i = 0; i < SIM_PARTS_MAX; i++)
		pool_init(&desk->pools[i], sizeof(struct arrival), 0);
	return desk;
}

void arrivals_desk_destroy(struct arrivals_desk *desk)
{
	for (unsigned i = 0; i < desk->parts * desk->parts; i++)
		for (unsigned window = 0; window < 2; window++)
			free(desk->tellers[i].left[window]);
	for (unsigned i = 0; i < SIM_PARTS_MAX; i++)
		pool_fini(&desk->pools[i]);
	free(desk->tellers);
	free(desk);
}
