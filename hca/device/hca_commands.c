/* SPDX-License-Identifier: Apache-2.0 */
/* hca_commands: the driver's commands on regions, completion queues, receive queues and queue
 * pairs; see hca.h. */
#include <errno.h>

#include "hca/device/adapter.h"
#include "hca/device/hca.h"
#include "hca/port/receive.h"
#include "hca/transport/qp.h"
#include "hca/transport/transport.h"
#include "hca/work/completion.h"
#include "hca/work/doorbell.h"
#include "hca/work/receive_queue.h"

#define GSI_QPN 1

static bool is_power_of_two(uint32_t value)
{
	return value && !(value & (value - 1));
}

void hca_uar_write(struct hca *hca, uint64_t offset, const void *bytes, uint32_t length)
{
	doorbell_stored(hca->doorbell);
	pcie_mmio_write(hca->pcie, offset, bytes, length);
}

uint64_t hca_acked_before_data(const struct hca *hca)
{
	return transport_counters(hca->transport)->acked_before_data;
}

void hca_host_ran(struct hca *hca, sim_time until)
{
	receive_queues_host_ran(hca->receive_queues, until);
}

bool hca_uar_has_room(struct hca *hca, sim_time *ask_at)
{
	return doorbell_has_room(hca->doorbell, ask_at);
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

#define ON_DEMAND_PAGES_MAX (UINT64_C(1) << 35) /* pages of 4 KiB: the address space of a process */

int hca_mr_create(struct hca *hca, const struct mr *mr, uint32_t *key)
{
	struct mr *added;

	if (mr->on_demand && mr->physical)
		return -EINVAL;
	if (mr->on_demand && mr_table_page_count(mr) > ON_DEMAND_PAGES_MAX)
		return -ENOMEM;
	added = mr_table_add(hca->regions, mr);
	if (!added)
		return -ENOMEM;
	*key = added->key;
	hca->transport->pages_may_be_missing = mr_table_on_demand(hca->regions) != 0;
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
	hca->transport->pages_may_be_missing = mr_table_on_demand(hca->regions) != 0;
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
	    attr->stride_bytes < 2 * WQE_DS_BYTES)
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
	    (attr->type == QP_DCT && (!attr->srqn || !hca->address_resolver->paths)))
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
		return -EINVAL; /* the first 32 of 64 bytes name the sender of a datagram */
	if ((attr->sq_blocks && !is_power_of_two(attr->sq_blocks)) ||
	    (attr->rq_entries &&
	     (!is_power_of_two(attr->rq_entries) || !is_power_of_two(attr->rq_stride_bytes) ||
	      attr->rq_stride_bytes < WQE_DS_BYTES)))
		return -EINVAL;
	return 0;
}

int hca_qp_create(struct hca *hca, const struct hca_qp_attr *attr, uint32_t *qpn)
{
	int error = check_qp(hca, attr);
	struct qp *qp;

	if (!error && *qpn && (*qpn != GSI_QPN || hca->transport->gsi))
		error = -EBUSY;
	if (!error && hca->transport->qps.count == hca->transport->qps.limit)
		error = -ENOMEM;
	if (error)
		return error;
	qp = qp_create(hca->transport, attr);
	if (*qpn == GSI_QPN)
		hca->transport->gsi = qp;
	else
		*qpn = number_table_add(&hca->transport->qps, qp);
	qp_set_number(qp, *qpn);
	return 0;
}

int hca_qp_modify(struct hca *hca, uint32_t qpn, const struct hca_qp_state *state)
{
	struct qp *qp = qp_find(hca->transport, qpn);

	if (!qp)
		return -EINVAL;
	qp_modify(qp, state);
	return 0;
}

int hca_qp_query(struct hca *hca, uint32_t qpn, struct hca_qp_state *state)
{
	struct qp *qp = qp_find(hca->transport, qpn);

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
	struct qp *qp = qp_find(hca->transport, qpn);

	if (!qp)
		return -EINVAL;
	qp_destroy(qp);
	return 0;
}

int hca_multicast_attach(struct hca *hca, uint32_t qpn, const uint8_t gid[16])
{
	struct qp *qp = qp_find(hca->transport, qpn);

	if (!qp || qp->attr.type != QP_UD)
		return -EINVAL;
	return receive_multicast_attach(hca->receive, qpn, gid);
}

int hca_multicast_detach(struct hca *hca, uint32_t qpn, const uint8_t gid[16])
{
	return qp_find(hca->transport, qpn) ? receive_multicast_detach(hca->receive, qpn, gid)
					    : -EINVAL;
}

uint64_t hca_pkey_violations(const struct hca *hca)
{
	return receive_counters(hca->receive)->pkey_violations;
}

uint64_t hca_qkey_violations(const struct hca *hca)
{
	return receive_counters(hca->receive)->qkey_violations;
}
