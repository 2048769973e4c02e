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

/* Returns the packets of outstanding messages of a queue pair that have arrived, counted from the
 * oldest message. All PSNs begin with 0. Writes and sends are done on arrival, reads and atomics
 * when their responses return. */
static uint64_t packets_arrived(const struct load_qp *qp)
{
	const struct load_thread *thread = qp->thread;
	const struct load_params *params = thread->params;
	const struct load_cycle *cycle = &thread->cycle;
	bool has_response = params->verb == LOAD_READ || params->verb == LOAD_FETCH_ADD;
	uint64_t retired = load_cycle_before(cycle, cycle->packets, qp->retired);
	uint64_t under_way = load_cycle_before(cycle, cycle->packets, qp->posted) - retired;
	uint32_t first = (uint32_t)retired & PSN_MASK;
	struct hca_qp_psns psns = has_response ? hca_qp_psns(thread->node->hca, qp->number)
					       : hca_qp_psns(qp->peer->hca, qp->dest);
	int32_t distance = psn_distance(first, has_response ? psns.unacked : psns.expected);

	if (!psns.known || distance <= 0)
		return 0;
	return (uint64_t)distance < under_way ? (uint64_t)distance : under_way;
}

/* Adds the progress of a queue pair to `done`, and its payload to `bytes`. */
static void add_progress(const struct load_qp *qp, double *done, double *bytes)
{
	const struct load_cycle *cycle = &qp->thread->cycle;
	uint64_t arrived = packets_arrived(qp), packets;
	uint32_t number = qp->retired;
	double part;

	while (packets = load_cycle_of(cycle, cycle->packets, number), arrived >= packets) {
		arrived -= packets;
		number++;
	}
	part = (double)arrived / (double)packets;
	*done += (double)number + part;
	*bytes += (double)load_cycle_before(cycle, cycle->bytes, number) +
		  part * (double)load_cycle_of(cycle, cycle->bytes, number);
}

struct load_progress_count load_progress_of(const struct load *load)
{
	struct load_progress_count count = {0};

	for (uint32_t i = 0; i < load->params.nodes; i++) {
		const struct load_node *node = &load->nodes[i];

		if (!load_progress_known(load)) {
			count.done += (double)node->tally.completed;
			count.background += (double)node->tally.background;
			count.bytes += (double)node->tally.bytes;
			continue;
		}
		for (uint32_t j = 0; j < node->thread_count; j++) {
			const struct load_thread *thread = &node->threads[j];
			bool background = thread->params == &load->background;
			double other = 0;

			for (uint32_t k = 0; thread->posts && k < thread->qp_count; k++)
				add_progress(&thread->qps[k],
					     background ? &count.background : &count.done,
					     background ? &other : &count.bytes);
		}
	}
	return count;
}
