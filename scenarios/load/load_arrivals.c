/* load_arrivals: see load_arrivals.h. */
#include "scenarios/load/load_arrivals.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/transport/psn.h"
#include "scenarios/load/load_courier.h"
#include "sim/parallel.h"
#include "sim/pool.h"

struct news {
	struct load_end *end;
	uint32_t flow, packets;
	enum workload_operation operation;
};

/* From one part to another. */
struct teller {
	struct crossing crossing;
	struct news *left[2];
	uint32_t count[2], room[2];
};

struct load_arrivals {
	unsigned parts;
	struct teller *tellers;           /* [from * parts + to] */
	struct pool pools[SIM_PARTS_MAX]; /* of each part */
};

static struct load_arrivals_of_end *of_end(struct load_end *end)
{
	return &end->arrivals;
}

static struct pool *pool_of(const struct load_end *end)
{
	return &end->load->arrivals->pools[sim_part_of(load_end_sim(end))];
}

/* ---- told ---- */

static void append(struct load_arrival_queue *queue, struct load_arrival *arrival)
{
	if (queue->last)
		queue->last->next = arrival;
	else
		queue->first = arrival;
	queue->last = arrival;
}

static void hear(const struct news *news)
{
	struct load_arrivals_of_end *mine = of_end(news->end);
	uint32_t first_psn = mine->next_psn;
	struct load_arrival *arrival;

	mine->next_psn = psn_add(first_psn, news->packets);
	if (news->operation == WORKLOAD_ATOMIC)
		return;
	arrival = pool_take(pool_of(news->end));
	*arrival = (struct load_arrival){.end = news->end,
					 .flow = news->flow,
					 .first_psn = first_psn,
					 .packets = news->packets,
					 .operation = (uint8_t)news->operation};
	append(news->operation == WORKLOAD_READ ? &mine->reads : &mine->data, arrival);
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

void load_arrivals_tell(unsigned from, struct load_end *end, uint32_t flow,
			enum workload_operation operation, uint32_t packets)
{
	const struct load_arrivals *arrivals = end->load->arrivals;
	unsigned to = sim_part_of(load_end_sim(end));
	const struct news news = {end, flow, packets, operation};

	if (from == to)
		hear(&news);
	else
		leave(&arrivals->tellers[from * arrivals->parts + to], &news);
}

/* ---- found ---- */

static struct load_arrival *find(const struct load_arrival_queue *queue, uint32_t psn)
{
	for (struct load_arrival *arrival = queue->first; arrival; arrival = arrival->next) {
		int32_t place = psn_distance(arrival->first_psn, psn);

		if (place >= 0 && (uint32_t)place < arrival->packets)
			return arrival;
	}
	return NULL;
}

static void drop_first(struct load_end *end, struct load_arrival_queue *queue)
{
	struct load_arrival *arrival = queue->first;

	queue->first = arrival->next;
	if (!queue->first)
		queue->last = NULL;
	pool_give(pool_of(end), arrival);
}

struct load_arrival *load_arrivals_find_write(struct load_end *end, uint32_t psn)
{
	struct load_arrival *arrival = find(&of_end(end)->data, psn);

	return arrival && arrival->operation == WORKLOAD_WRITE ? arrival : NULL;
}

/* Whoever asks has so many reads under way at most, so one that so many came after is over. */
struct load_arrival *load_arrivals_find_read(struct load_end *end, uint32_t psn)
{
	struct load_arrival_queue *reads = &of_end(end)->reads;
	struct load_arrival *found = find(reads, psn);
	uint64_t before = 0;

	if (!found)
		return NULL;
	for (const struct load_arrival *read = reads->first; read != found; read = read->next)
		before++;
	for (; before >= end->load->params.reads; before--)
		drop_first(end, reads);
	return found;
}

struct load_arrival *load_arrivals_oldest_send(struct load_end *end)
{
	struct load_arrival *arrival = of_end(end)->data.first;

	while (arrival && (arrival->operation != WORKLOAD_SEND || arrival->delivered))
		arrival = arrival->next;
	return arrival;
}

void load_arrivals_delivered(struct load_arrival *arrival)
{
	struct load_end *end = arrival->end;
	struct load_arrival_queue *data = &of_end(end)->data;

	arrival->delivered = true;
	while (data->first && data->first->delivered)
		drop_first(end, data);
}

/* ---- life ---- */

static void create_tellers(struct load_arrivals *arrivals, struct sim *sim)
{
	unsigned parts = arrivals->parts;

	arrivals->tellers = calloc((size_t)parts * parts, sizeof(arrivals->tellers[0]));
	assert(arrivals->tellers);
	for (unsigned i = 0; i < parts * parts; i++) {
		struct sim *from = sim_part(sim, i / parts), *to = sim_part(sim, i % parts);

		if (from != to)
			crossing_init(&arrivals->tellers[i].crossing, from, to, SIM_NEVER, take);
	}
}

struct load_arrivals *load_arrivals_create(struct sim *sim)
{
	struct load_arrivals *arrivals = calloc(1, sizeof(*arrivals));

	assert(arrivals);
	arrivals->parts = sim_parts(sim);
	create_tellers(arrivals, sim);
	for (unsigned i = 0; i < SIM_PARTS_MAX; i++)
		pool_init(&arrivals->pools[i], sizeof(struct load_arrival), 0);
	return arrivals;
}

void load_arrivals_destroy(struct load_arrivals *arrivals)
{
	for (unsigned i = 0; i < arrivals->parts * arrivals->parts; i++)
		for (unsigned window = 0; window < 2; window++)
			free(arrivals->tellers[i].left[window]);
	for (unsigned i = 0; i < SIM_PARTS_MAX; i++)
		pool_fini(&arrivals->pools[i]);
	free(arrivals->tellers);
	free(arrivals);
}
