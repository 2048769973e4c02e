/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_progress: progress of a load's work requests, with a resolution of packets. Completions
 * arrive in bunches: a CQE may complete many work requests, and messages of many queue pairs
 * alternate on the wire and end together. In an interval between bunches, more work requests may
 * complete than the wire has carried. The number of packets that have arrived at the other end
 * never exceeds that.
 */
#include "hca/transport/psn.h"
#include "traffic/load/load_server.h"

bool load_progress_known(const struct load *load)
{
	return !load_is_addressed(&load->params) && !load_serves(load);
}

static uint64_t packets_of_message(const struct load_params *params)
{
	uint64_t packets = (params->bytes + params->mtu - 1) / params->mtu;

	return params->verb == LOAD_FETCH_ADD || packets == 0 ? 1 : packets;
}

/* Returns the progress of a queue pair. All PSNs begin with 0. Writes and sends are done on
 * arrival, reads and atomics when their responses return. */
static double progress_of_qp(const struct load_qp *qp)
{
	const struct load_thread *thread = qp->thread;
	const struct load_params *params = thread->params;
	bool has_response = params->verb == LOAD_READ || params->verb == LOAD_FETCH_ADD;
	uint64_t packets = packets_of_message(params);
	uint64_t under_way = (qp->posted - qp->retired) * packets, arrived = 0;
	uint32_t first = (uint32_t)(qp->retired * packets) & PSN_MASK;
	struct hca_qp_psns psns = has_response ? hca_qp_psns(thread->node->hca, qp->number)
					       : hca_qp_psns(qp->peer->hca, qp->dest);
	int32_t distance = psn_distance(first, has_response ? psns.unacked : psns.expected);

	if (psns.known && distance > 0)
		arrived = (uint64_t)distance < under_way ? (uint64_t)distance : under_way;
	return (double)qp->retired + (double)arrived / (double)packets;
}

struct load_progress_count load_progress_of(const struct load *load)
{
	struct load_progress_count count = {0};

	for (uint32_t i = 0; i < load->params.nodes; i++) {
		const struct load_node *node = &load->nodes[i];

		if (!load_progress_known(load)) {
			count.done += (double)node->tally.completed;
			count.background += (double)node->tally.background;
			continue;
		}
		for (uint32_t j = 0; j < node->thread_count; j++) {
			const struct load_thread *thread = &node->threads[j];
			double *of = thread->params == &load->background ? &count.background
									 : &count.done;

			for (uint32_t k = 0; thread->posts && k < thread->qp_count; k++)
				*of += progress_of_qp(&thread->qps[k]);
		}
	}
	return count;
}
