/* SPDX-License-Identifier: Apache-2.0 */
/* transport: see transport.h. */
#include "hca/transport/transport.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/transport/completer.h"
#include "hca/transport/dc_target.h"
#include "hca/transport/nak_delay.h"
#include "hca/transport/scatter_segment.h"
#include "hca/transport/send_segment.h"
#include "hca/work/wqe_fetch.h"

#define ROW(...)      PARAM_ROW(struct transport_params, __VA_ARGS__)
#define SLAB_SEGMENTS 64
#define FIRST_QPN     0x40

/* clang-format off */
const struct param transport_param_list[] = {TRANSPORT_PARAMS(ROW) {0}};

static void check(struct block *block, FILE *out)
{
	const struct transport_block *transport =
		container_of(block, struct transport_block, block);

	block_equal(block, out, "scatter buffers in use = taken - returned",
		    transport->scatter_segments.in_use, transport->gauge.scatter_buffers.level);
	block_equal(block, out, "response buffers in use = taken - returned",
		    transport->response_scatters.in_use, transport->gauge.response_buffers.level);
	block_equal(block, out, "atomics in progress = begun - ended",
		    transport->atomics.count, transport->gauge.atomics.level);
	block_equal(block, out, "send WQEs completed, failed or flushed = retired",
		    transport->count.wqes_completed + transport->count.wqes_failed +
			    transport->count.wqes_flushed - transport->count.receives_flushed,
		    wqe_fetch_counters(transport->blocks.wqe_fetch)->retired);
}

static void audit(struct block *block, FILE *out)
{
	const struct transport_block *transport =
		container_of(block, struct transport_block, block);

	audit_order(block, out, &transport->send_order, "WQEs of a send queue");
	audit_order(block, out, &transport->data_order, "unwritten data of a response");
}

static const struct block_type transport_type = {
	.name         = "transport",
	.params       = transport_param_list,
	.counters     = (const struct counter[]){TRANSPORT_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){TRANSPORT_TRACE(TRACE_ENTRY) {0}},
	.gauges       = (const struct gauge_info[]){TRANSPORT_GAUGES(GAUGE_ENTRY) {0}},
	.check        = check,
	.audit        = audit,
};
/* clang-format on */

struct transport_block *transport_create(struct sim *sim, const char *name,
					 const struct transport_params *params,
					 const struct transport_blocks *blocks,
					 const struct transport_facts *facts)
{
	struct transport_block *transport = calloc(1, sizeof(*transport));

	assert(transport && params->recovery == TRANSPORT_GO_BACK_N);
	transport->blocks = *blocks;
	transport->facts = *facts;
	transport->params = params;
	number_table_init(&transport->qps, FIRST_QPN, facts->qps_max);
	transport->ack_interval = congestion_ack_interval(
		&facts->congestion->congestion, transport->params->ack_interval, facts->mtu);
	block_init(&transport->block, sim, &transport_type, name, transport->params,
		   (const uint64_t *)&transport->count);
	block_gauges(&transport->block, (struct gauge *)&transport->gauge);
	transport->gauge.atomic_unit.capacity = 1;
	transport->gauge.scatter_buffers.capacity = transport->params->scatter_buffers;
	transport->gauge.response_buffers.capacity = transport->params->response_buffers;
	pool_init(&transport->send_segments, sizeof(struct send_segment), SLAB_SEGMENTS);
	pool_init(&transport->scatter_segments, sizeof(struct scatter_segment), SLAB_SEGMENTS);
	pool_init(&transport->response_scatters, sizeof(struct response_scatter), SLAB_SEGMENTS);
	pool_init(&transport->responses, sizeof(struct response), SLAB_SEGMENTS);
	pool_init(&transport->stalled, PAGE_FAULT_BYTES, SLAB_SEGMENTS);
	atomic_init(&transport->atomics, transport, &transport->block);
	nak_delay_init(transport);
	response_list_init(transport);
	read_recoveries_init(&transport->read_recoveries, transport->params->read_recoveries);
	return transport;
}

void transport_destroy(struct transport_block *transport)
{
	completer_drop(transport);
	atomic_fini(&transport->atomics);
	read_recoveries_fini(&transport->read_recoveries);
	dc_targets_destroy(transport->dc_targets);
	/* destroyed queue pairs that are still in use at the end of the run */
	while (transport->all_qps)
		qp_free(transport->all_qps);
	pool_fini(&transport->send_segments);
	pool_fini(&transport->scatter_segments);
	pool_fini(&transport->response_scatters);
	pool_fini(&transport->responses);
	pool_fini(&transport->stalled);
	response_list_fini(transport);
	number_table_fini(&transport->qps);
	block_fini(&transport->block);
	free(transport);
}

const struct transport_counters *transport_counters(const struct transport_block *transport)
{
	return &transport->count;
}
