/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe_fetch_plan: the built-in plan of WQE fetch. Reads are as large as possible, with a limited
 * number in flight. WQEs that were read are parsed one by one if intervals are set. Otherwise all
 * are parsed at once.
 */
#include <assert.h>
#include <stdlib.h>

#include "hca/work/wqe_fetch_module.h"

struct plan {
	const struct wqe_fetch_params *params;
	sim_time next; /* earliest time for the next WQE that was read */
};

static uint32_t plan_read(void *module, const struct wqe_fetch_view *queue, sim_time now)
{
	const struct plan *plan = module;

	(void)now;
	return queue->reads < plan->params->reads ? queue->room : 0;
}

static bool is_paced(const struct plan *plan, const struct wqe_fetch_view *queue)
{
	return (plan->params->interval || plan->params->queue_interval) && !queue->stored;
}

static sim_time plan_parse_at(void *module, const struct wqe_fetch_view *queue, bool again,
			      sim_time now)
{
	struct plan *plan = module;
	sim_time at = again ? now : now + plan->params->latency;

	if (!is_paced(plan, queue))
		return at;
	if (at < plan->next)
		at = plan->next;
	plan->next = at + plan->params->interval;
	if (at < *queue->next)
		at = *queue->next;
	*queue->next = at + plan->params->queue_interval;
	return at;
}

static uint32_t plan_parse_count(void *module, const struct wqe_fetch_view *queue, sim_time now)
{
	(void)now;
	return is_paced(module, queue) ? 1 : UINT32_MAX;
}

static void *plan_create(const struct wqe_fetch_setup *setup)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	assert(plan);
	plan->params = setup->params;
	return plan;
}

static void plan_destroy(void *module)
{
	free(module);
}

const struct wqe_fetch_module wqe_fetch_plan = {
	.head = {MODULE_VERSION_WQE_FETCH, sizeof(struct wqe_fetch_module), "builtin_wqe_fetch",
		 "the built-in plan of WQE fetch"},
	.create = plan_create,
	.destroy = plan_destroy,
	.read_blocks = plan_read,
	.parse_at = plan_parse_at,
	.parse_count = plan_parse_count,
};
