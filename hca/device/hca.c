/*
 * hca: see hca.h. Wires the blocks of one adapter, and carries out the commands of its driver.
 */
#include "hca/device/hca.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "hca/device/core_clock.h"
#include "hca/host/host.h"
#include "hca/port/receive.h"
#include "hca/port/transmit.h"
#include "hca/transport/congestion_unit.h"
#include "hca/transport/late_nak.h"
#include "hca/transport/qp.h"
#include "hca/transport/transport.h"
#include "hca/work/completion.h"
#include "hca/work/doorbell.h"
#include "hca/work/event_queue.h"
#include "hca/work/receive_queue.h"
#include "hca/work/wqe_fetch.h"

#define ROW(...)   PARAM_ROW(struct device_params, __VA_ARGS__)
#define FIRST_QPN  0x40
#define FIRST_CQN  0x80
#define FIRST_SRQN 0x10
#define GSI_QPN    1
#define NAME_BYTES 128

/* clang-format off */
const struct param device_param_list[] = {DEVICE_PARAMS(ROW) {0}};

static const struct block_type hca_type = {
	.name         = "hca",
	.params       = device_param_list,
	.counters     = (const struct counter[]){{0}},
	.trace_points = (const struct trace_point[]){{0}},
};
/* clang-format on */

static bool is_power_of_two(uint32_t value)
{
	return value && !(value & (value - 1));
}

void hca_uar_write(struct hca *hca, uint64_t offset, const void *bytes, uint32_t length)
{
	doorbell_stored(hca->doorbell);
	pcie_mmio_write(hca->pcie, offset, bytes, length);
}

void hca_host_ran(struct hca *hca, sim_time until)
{
	receive_queues_host_ran(hca->receive_queues, until);
}

sim_time hca_uar_delay(const struct hca *hca)
{
	return pcie_mmio_delay(hca->pcie);
}

void hca_load(struct hca *hca, struct pcie_mmio_read *read)
{
	pcie_mmio_read(hca->pcie, read);
}

/* ---- memory regions ---- */

#define ON_DEMAND_PAGES_MAX (UINT64_C(1) << 35) /* of 4 KiB: all that a process can address */

int hca_mr_create(struct hca *hca, const struct mr *mr, uint32_t *key)
{
	struct mr *added;

	if (mr->on_demand && mr->physical)
		return -EINVAL;
	if (mr->on_demand && mr_page_count(mr) > ON_DEMAND_PAGES_MAX)
		return -ENOMEM;
	added = mr_table_add(hca->regions, mr);
	if (!added)
		return -ENOMEM;
	*key = added->key;
	hca->pages_may_be_missing = mr_table_on_demand(hca->regions) != 0;
	return 0;
}

int hca_mr_modify(struct hca *hca, uint32_t key, uint32_t pd, uint32_t access)
{
	struct mr *mr = mr_table_find(hca->regions, key);

	if (!mr)
		return -EINVAL;
	translation_invalidate(hca->translation, mr);
	mr->pd = pd;
	mr->access = access;
	return 0;
}

int hca_mr_prefetch(struct hca *hca, uint32_t key, uint64_t address, uint64_t length,
		    sim_time *latency)
{
	const struct mr *mr = mr_table_find(hca->regions, key);

	*latency = 0;
	if (!mr || !mr->on_demand)
		return -EINVAL;
	if (address < mr->address || length > mr->length ||
	    address - mr->address > mr->length - length)
		return -EFAULT;
	if (length)
		*latency = paging_prefetch(hca->paging, mr, address, length);
	return 0;
}

int hca_mr_destroy(struct hca *hca, uint32_t key)
{
	struct mr *mr = mr_table_find_index(hca->regions, key);

	if (!mr)
		return -EINVAL;
	translation_invalidate(hca->translation, mr);
	mr_table_remove(hca->regions, mr);
	hca->pages_may_be_missing = mr_table_on_demand(hca->regions) != 0;
	return 0;
}

struct mr *hca_mr_find(struct hca *hca, uint32_t key)
{
	return mr_table_find(hca->regions, key);
}

/* ---- completion queues ---- */

static bool cqe_size_is_known(uint32_t bytes)
{
	return bytes == CQE_BYTES || bytes == CQE_BYTES_MAX;
}

int hca_cq_create(struct hca *hca, const struct hca_cq_attr *attr, uint32_t *cqn)
{
	struct completion_queue *cq;

	if (!is_power_of_two(attr->entries) || !cqe_size_is_known(attr->cqe_bytes))
		return -EINVAL;
	if (attr->compress != CQ_PLAIN && attr->cqe_bytes != CQE_BYTES)
		return -EINVAL;
	cq = completion_queue_create(hca->completion, attr);
	*cqn = number_table_add(&hca->cqs, cq);
	if (!*cqn) {
		completion_queue_drop(cq);
		return -ENOMEM;
	}
	completion_queue_number(cq, *cqn);
	return 0;
}

int hca_cq_resize(struct hca *hca, uint32_t cqn, uint64_t buffer, uint32_t entries,
		  uint32_t cqe_bytes)
{
	struct completion_queue *cq = number_table_find(&hca->cqs, cqn);

	if (!cq || !is_power_of_two(entries) || !cqe_size_is_known(cqe_bytes) ||
	    completion_unread(cq) > entries)
		return -EINVAL;
	completion_resize(cq, buffer, entries, cqe_bytes);
	return 0;
}

int hca_cq_moderate(struct hca *hca, uint32_t cqn, uint32_t count, sim_time period)
{
	struct completion_queue *cq = number_table_find(&hca->cqs, cqn);

	if (!cq || count > HCA_MODERATION_COUNT_MAX || period > HCA_MODERATION_PERIOD_MAX)
		return -EINVAL;
	completion_queue_moderate(cq, count, period);
	return 0;
}

int hca_cq_destroy(struct hca *hca, uint32_t cqn)
{
	struct completion_queue *cq = number_table_find(&hca->cqs, cqn);

	if (!cq)
		return -EINVAL;
	number_table_remove(&hca->cqs, cqn);
	context_cache_invalidate(hca->contexts, CONTEXT_CQ, cqn);
	completion_queue_close(cq);
	completion_queue_drop(cq);
	return 0;
}

/* ---- shared receive queues ---- */

int hca_srq_create(struct hca *hca, const struct hca_srq_attr *attr, uint32_t *srqn)
{
	struct receive_queue *queue;

	if (!is_power_of_two(attr->entries) || !is_power_of_two(attr->stride_bytes) ||
	    attr->stride_bytes < 2 * WQE_UNIT_BYTES)
		return -EINVAL;
	if (attr->xrc && !number_table_find(&hca->cqs, attr->cqn))
		return -EINVAL;
	queue = receive_queue_create_shared(hca->receive_queues, attr);
	*srqn = number_table_add(&hca->srqs, queue);
	if (!*srqn) {
		receive_queue_drop(queue);
		return -ENOMEM;
	}
	receive_queue_number(queue, *srqn);
	return 0;
}

int hca_srq_arm(struct hca *hca, uint32_t srqn, uint32_t limit)
{
	struct receive_queue *queue = number_table_find(&hca->srqs, srqn);

	if (!queue)
		return -EINVAL;
	receive_queue_arm(queue, limit);
	return 0;
}

int hca_srq_query(struct hca *hca, uint32_t srqn, uint32_t *limit)
{
	struct receive_queue *queue = number_table_find(&hca->srqs, srqn);

	if (!queue)
		return -EINVAL;
	*limit = receive_queue_limit(queue);
	return 0;
}

int hca_srq_destroy(struct hca *hca, uint32_t srqn)
{
	struct receive_queue *queue = number_table_find(&hca->srqs, srqn);

	if (!queue)
		return -EINVAL;
	number_table_remove(&hca->srqs, srqn);
	context_cache_invalidate(hca->contexts, CONTEXT_SRQ, srqn);
	receive_queue_close(queue);
	receive_queue_drop(queue);
	return 0;
}

/* ---- queue pairs ---- */

static int check_qp(const struct hca *hca, const struct hca_qp_attr *attr)
{
	bool sends = attr->type != QP_XRC_TGT && attr->type != QP_DCT;
	bool receives =
		attr->type != QP_XRC_TGT && attr->type != QP_XRC_INI && attr->type != QP_DCI;

	if (attr->type == QP_DCR ||
	    (attr->type == QP_DCT && (!attr->srqn || !hca->resolver->paths)))
		return -EINVAL;
	if ((!sends && attr->sq_blocks) || (!receives && (attr->rq_entries || attr->srqn)))
		return -EINVAL;
	if ((sends && !number_table_find(&hca->cqs, attr->send_cqn)) ||
	    (receives && !number_table_find(&hca->cqs, attr->recv_cqn)) ||
	    (attr->srqn && !number_table_find(&hca->srqs, attr->srqn)))
		return -EINVAL;
	if (attr->packet_strides &&
	    (attr->type != QP_UD || !attr->rq_entries || attr->receives_to_cqe ||
	     attr->packet_strides > CQE_STRIDES_MASK || !attr->packet_stride_bytes))
		return -EINVAL;
	if (attr->receives_to_cqe && (attr->type == QP_UD || attr->type == QP_GSI) &&
	    completion_queue_data_room(number_table_find(&hca->cqs, attr->recv_cqn)) < CQE_DATA_MAX)
		return -EINVAL; /* the first 32 of 64 bytes say who sent a datagram */
	if ((attr->sq_blocks && !is_power_of_two(attr->sq_blocks)) ||
	    (attr->rq_entries &&
	     (!is_power_of_two(attr->rq_entries) || !is_power_of_two(attr->rq_stride_bytes) ||
	      attr->rq_stride_bytes < WQE_UNIT_BYTES)))
		return -EINVAL;
	return 0;
}

int hca_qp_create(struct hca *hca, const struct hca_qp_attr *attr, uint32_t *qpn)
{
	int error = check_qp(hca, attr);
	struct qp *qp;

	if (!error && *qpn && (*qpn != GSI_QPN || hca->gsi))
		error = -EBUSY;
	if (!error && hca->qps.count == hca->qps.limit)
		error = -ENOMEM;
	if (error)
		return error;
	qp = qp_create(hca, attr);
	if (*qpn == GSI_QPN)
		hca->gsi = qp;
	else
		*qpn = number_table_add(&hca->qps, qp);
	qp->number = *qpn;
	return 0;
}

int hca_qp_modify(struct hca *hca, uint32_t qpn, const struct hca_qp_state *state)
{
	struct qp *qp = qp_find(hca, qpn);

	if (!qp)
		return -EINVAL;
	qp_modify(qp, state);
	return 0;
}

int hca_qp_query(struct hca *hca, uint32_t qpn, struct hca_qp_state *state)
{
	struct qp *qp = qp_find(hca, qpn);

	if (!qp)
		return -EINVAL;
	*state = qp->state;
	state->mask = UINT32_MAX;
	state->rq_psn = qp->responder.expected_psn;
	state->sq_psn = qp->requester.next_psn;
	return 0;
}

int hca_qp_destroy(struct hca *hca, uint32_t qpn)
{
	struct qp *qp = qp_find(hca, qpn);

	if (!qp)
		return -EINVAL;
	qp_destroy(qp);
	return 0;
}

int hca_multicast_attach(struct hca *hca, uint32_t qpn, const uint8_t gid[16])
{
	struct qp *qp = qp_find(hca, qpn);

	if (!qp || qp->attr.type != QP_UD)
		return -EINVAL;
	return receive_multicast_attach(hca->receive, qpn, gid);
}

int hca_multicast_detach(struct hca *hca, uint32_t qpn, const uint8_t gid[16])
{
	return qp_find(hca, qpn) ? receive_multicast_detach(hca->receive, qpn, gid) : -EINVAL;
}

uint64_t hca_pkey_violations(const struct hca *hca)
{
	return receive_counters(hca->receive)->pkey_violations;
}

uint64_t hca_qkey_violations(const struct hca *hca)
{
	return receive_counters(hca->receive)->qkey_violations;
}

/* ---- what others may see ---- */

void hca_set_watcher(struct hca *hca, struct hca_watcher *watcher)
{
	hca->watcher = watcher;
}

struct hca_qp_congestion hca_qp_congestion(struct hca *hca, uint32_t qpn)
{
	struct hca_qp_congestion seen = {.rate_bps = port_rate_bps(hca->port)};
	const struct qp *qp = qp_find(hca, qpn);
	struct qp_congestion *state = qp ? qp->congestion : NULL;
	struct congestion_flow *flow;

	if (!state)
		return seen;
	seen.cnps = state->cnps;
	seen.marks = state->marks;
	if (!state->sends)
		return seen;
	flow = congestion_flow_of(state);
	congestion_settle(hca->congestion->congestion, flow, sim_now(hca->sim));
	if (flow->rate_bps < seen.rate_bps)
		seen.rate_bps = flow->rate_bps;
	return seen;
}

/* ---- the adapter ---- */

struct port *hca_port(struct hca *hca)
{
	return hca->port;
}

struct llc *hca_llc(const struct hca *hca)
{
	return hca->host ? host_llc(hca->host) : NULL;
}

const struct hca_params *hca_params(const struct hca *hca)
{
	return &hca->params;
}

/* "host0.hca" and "port" are "host0.hca.port". */
static const char *block_name(const struct hca *hca, const char *part, char text[NAME_BYTES])
{
	snprintf(text, NAME_BYTES, "%s.%s", hca->block.name, part);
	return text;
}

struct hca *hca_create(struct sim *sim, const char *name, const struct hca_params *params,
		       enum link_layer link_layer, struct packet_pool *pool,
		       struct hca_driver *driver, struct hca_resolver *resolver)
{
	struct hca *hca = calloc(1, sizeof(*hca));
	char text[NAME_BYTES];

	assert(hca && driver && resolver);
	hca->sim = sim;
	hca->params = *params;
	hca->link_layer = link_layer;
	hca->packets = pool;
	hca->driver = driver;
	hca->resolver = resolver;
	block_init(&hca->block, sim, &hca_type, name, &hca->params.device, NULL);
	number_table_init(&hca->qps, FIRST_QPN, (uint32_t)params->device.qps);
	number_table_init(&hca->cqs, FIRST_CQN, (uint32_t)params->device.cqs);
	number_table_init(&hca->srqs, FIRST_SRQN, (uint32_t)params->device.srqs);
	hca->regions = mr_table_create((uint32_t)params->device.regions);
	hca->pcie = pcie_create(sim, block_name(hca, "pcie", text), &hca->params.pcie);
	if (host_params_matter(&hca->params.host)) {
		hca->host = host_create(sim, block_name(hca, "host", text), &hca->params.host);
		pcie_host_attach(hca->pcie, hca->host);
	}
	core_clock_attach(hca);
	hca->translation =
		translation_unit_create(sim, block_name(hca, "translation", text),
					&hca->params.translation, hca->pcie, hca->regions);
	hca->paging = paging_create(sim, block_name(hca, "paging", text), &hca->params.paging,
				    hca->regions);
	hca->dma = dma_engine_create(sim, block_name(hca, "dma", text), &hca->params.dma,
				     hca->translation, hca->pcie);
	hca->contexts = context_cache_create(sim, block_name(hca, "context", text),
					     &hca->params.contexts, hca->pcie);
	hca->doorbell = doorbell_create(hca, block_name(hca, "doorbell", text));
	hca->scheduler = scheduler_create(hca, block_name(hca, "scheduler", text));
	hca->send_cache =
		wqe_cache_create(sim, block_name(hca, "send_cache", text), &hca->params.send_cache);
	hca->receive_cache = wqe_cache_create(sim, block_name(hca, "receive_cache", text),
					      &hca->params.receive_cache);
	hca->wqe_fetch = wqe_fetch_create(hca, block_name(hca, "wqe_fetch", text));
	hca->receive_queues = receive_queues_create(hca, block_name(hca, "receive_queue", text));
	hca->completion = completion_writer_create(hca, block_name(hca, "completion", text));
	hca->events = event_queue_create(hca, block_name(hca, "event_queue", text));
	hca->transport = transport_create(hca, block_name(hca, "transport", text));
	hca->transmit = transmit_create(hca, block_name(hca, "transmit", text));
	hca->receive = receive_create(hca, block_name(hca, "receive", text));
	hca->port = port_create(sim, block_name(hca, "port", text), &hca->params.port, link_layer,
				pool, receive_port_user(hca->receive));
	hca->why = why_create(sim, block_name(hca, "why", text));
	hca->congestion = congestion_unit_create(hca, block_name(hca, "congestion", text));
	return hca;
}

/* Returns the queue pairs that something under way still names, where a run ends before its time: they are kept until there is
 * nobody left to drop them. */
static struct qp **destroy_objects(struct hca *hca, uint32_t *kept_count)
{
	struct qp **kept = calloc((size_t)hca->qps.count + 1, sizeof(struct qp *));
	struct qp *qp;
	uint32_t at = 0;

	assert(kept);
	*kept_count = 0;
	if (hca->gsi)
		qp_destroy(hca->gsi);
	while ((qp = number_table_next(&hca->qps, &at))) {
		if (qp->users > 1 && !qp->dcr) {
			qp_hold(qp);
			kept[(*kept_count)++] = qp;
		}
		qp_destroy(qp);
	}
	for (uint32_t i = 0; i < hca->srqs.limit && hca->srqs.count; i++)
		hca_srq_destroy(hca, hca->srqs.first + i);
	for (uint32_t i = 0; i < hca->cqs.limit && hca->cqs.count; i++)
		hca_cq_destroy(hca, hca->cqs.first + i);
	return kept;
}

static void free_kept(struct qp **kept, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		qp_free(kept[i]);
	free(kept);
}

void hca_destroy(struct hca *hca)
{
	uint32_t kept_count;
	struct qp **kept = destroy_objects(hca, &kept_count);

	late_nak_fini(hca->transport); /* which hold queue pairs */
	congestion_unit_destroy(hca->congestion);
	port_destroy(hca->port);
	receive_destroy(hca->receive);
	transmit_destroy(hca->transmit);
	completion_writer_destroy(hca->completion);
	event_queue_destroy(hca->events);
	doorbell_destroy(hca->doorbell);
	dma_engine_destroy(hca->dma);
	translation_unit_destroy(hca->translation);
	paging_destroy(hca->paging);
	context_cache_destroy(hca->contexts);
	pcie_destroy(hca->pcie);
	host_destroy(hca->host);
	transport_destroy(hca->transport);
	free_kept(kept, kept_count);
	receive_queues_destroy(hca->receive_queues);
	wqe_fetch_destroy(hca->wqe_fetch);
	wqe_cache_destroy(hca->send_cache);
	wqe_cache_destroy(hca->receive_cache);
	scheduler_destroy(hca->scheduler);
	why_destroy(hca->why);
	mr_table_destroy(hca->regions);
	number_table_fini(&hca->qps);
	number_table_fini(&hca->cqs);
	number_table_fini(&hca->srqs);
	block_fini(&hca->block);
	free(hca);
}
