/* SPDX-License-Identifier: Apache-2.0 */
/* flow_pairs: see flow_pairs.h. The set is an open-addressing hash, at most half of it in use. */
#include "traffic/workload/flow_pairs.h"

#include <assert.h>
#include <stdlib.h>

void flow_pairs_init(struct flow_pairs *pairs, const struct workload *workload,
		     const struct backend_ops *ops)
{
	*pairs = (struct flow_pairs){.workload = workload, .ops = ops, .mask = 1};
	while (pairs->mask < 2 * (uint64_t)workload->count)
		pairs->mask = pairs->mask * 2 + 1;
	pairs->places = calloc(pairs->mask + 1, sizeof(pairs->places[0]));
	pairs->list = calloc((size_t)workload->count + 1, sizeof(pairs->list[0]));
	assert(pairs->places && pairs->list);
}

void flow_pairs_fini(struct flow_pairs *pairs)
{
	free(pairs->places);
	free(pairs->list);
}

static enum flow_pair_end requesting_end(const struct workload_flow *flow)
{
	return flow->operation == WORKLOAD_READ ? FLOW_PAIR_DESTINATION : FLOW_PAIR_SOURCE;
}

static bool same_pair(const struct workload_flow *one, const struct workload_flow *other)
{
	return one->source == other->source && one->destination == other->destination &&
	       one->queue_pair == other->queue_pair;
}

static struct flow_pair *find(struct flow_pairs *pairs, uint32_t number)
{
	const struct workload_flow *flows = pairs->workload->flows, *flow = &flows[number];
	uint64_t key =
		(uint64_t)flow->source << 48 ^ (uint64_t)flow->destination << 32 ^ flow->queue_pair;
	uint64_t place = (key + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & pairs->mask;
	struct flow_pair *pair;

	for (; pairs->places[place]; place = (place + 1) & pairs->mask) {
		pair = &pairs->list[pairs->places[place] - 1];
		if (same_pair(&flows[pair->first], flow))
			return pair;
	}
	pair = &pairs->list[pairs->count++];
	pairs->places[place] = pairs->count;
	pair->first = number;
	return pair;
}

struct flow_pair *flow_pairs_add(struct flow_pairs *pairs, uint32_t flow)
{
	struct flow_pair *pair = find(pairs, flow);

	enum flow_pair_end end = requesting_end(&pairs->workload->flows[flow]);

	if (!pair->requests_left[end]++)
		pair->first_request[end] = flow;
	return pair;
}

uint32_t flow_pairs_first(const struct flow_pairs *pairs, const struct flow_pair *pair,
			  uint32_t flow)
{
	return pair->first_request[requesting_end(&pairs->workload->flows[flow])];
}

static struct backend_qp *queue_pair(const struct flow_pairs *pairs, const struct flow_pair *pair,
				     enum flow_pair_end end)
{
	return end == FLOW_PAIR_SOURCE ? pair->sender : pairs->ops->peer(pair->sender);
}

static void retire_if_free(const struct flow_pairs *pairs, const struct flow_pair *pair,
			   enum flow_pair_end end)
{
	if (!pair->requests_left[end] && pairs->ops->retire)
		pairs->ops->retire(queue_pair(pairs, pair, end));
}

void flow_pairs_complete(struct flow_pairs *pairs)
{
	free(pairs->places);
	pairs->places = NULL;
	for (uint32_t i = 0; i < pairs->count; i++) {
		retire_if_free(pairs, &pairs->list[i], FLOW_PAIR_SOURCE);
		retire_if_free(pairs, &pairs->list[i], FLOW_PAIR_DESTINATION);
	}
}

struct backend_qp *flow_pairs_requester(const struct flow_pairs *pairs,
					const struct flow_pair *pair, uint32_t flow)
{
	return queue_pair(pairs, pair, requesting_end(&pairs->workload->flows[flow]));
}

void flow_pairs_ended(const struct flow_pairs *pairs, struct flow_pair *pair, uint32_t flow)
{
	enum flow_pair_end end = requesting_end(&pairs->workload->flows[flow]);

	pair->requests_left[end]--;
	retire_if_free(pairs, pair, end);
}

bool flow_pairs_see(const struct flow_pairs *pairs, const struct flow_pair *pair, uint32_t flow,
		    bool *seen)
{
	bool *of_end = &seen[(pair - pairs->list) * FLOW_PAIR_ENDS +
			     requesting_end(&pairs->workload->flows[flow])];
	bool is_first = !*of_end;

	*of_end = true;
	return is_first;
}
