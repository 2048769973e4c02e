/* SPDX-License-Identifier: Apache-2.0 */
/* window_bind: see window_bind.h. */
#include "hca/transport/window_bind.h"
#include "hca/transport/transport.h"

bool window_bind_invalidate(struct qp *qp, uint32_t key)
{
	struct mr *window = mr_table_find(qp->transport->blocks.regions, key);

	if (!window || window->pd != qp->attr.pd || !window->valid ||
	    (window->qpn && window->qpn != qp->number))
		return false;
	window->valid = false;
	translation_invalidate(qp->transport->blocks.translation, window);
	return true;
}

static bool may_be_opened(const struct qp *qp, const struct mr *mr, const struct wqe_region *region)
{
	bool writes = region->access & (MR_REMOTE_WRITE | MR_REMOTE_ATOMIC);

	return mr->valid && mr->pd == qp->attr.pd && mr->access & MR_WINDOW_BIND &&
	       (!writes || mr->access & MR_LOCAL_WRITE) && region->region_address >= mr->address &&
	       region->length <= mr->length &&
	       region->region_address - mr->address <= mr->length - region->length;
}

enum work_status window_bind(struct qp *qp, const struct wqe_region *region)
{
	struct mr *window = mr_table_find(qp->transport->blocks.regions, region->key);
	const struct mr *mr;

	if (!region->bind)
		return window_bind_invalidate(qp, region->key) ? WORK_OK : WORK_WINDOW_BIND;
	mr = mr_table_find(qp->transport->blocks.regions, region->region_key);
	if (!window || !mr || window == mr || window->pd != qp->attr.pd ||
	    !may_be_opened(qp, mr, region))
		return WORK_WINDOW_BIND;
	if (region->of_one_qp && window->valid)
		return WORK_WINDOW_BIND;
	translation_invalidate(qp->transport->blocks.translation, window);
	window->key = (region->key & ~UINT32_C(0xff)) | region->new_low;
	window->access = region->access;
	window->memory = mr->memory;
	window->page_shift = mr->page_shift;
	window->address = region->address;
	window->host_address = mr->host_address + (region->region_address - mr->address);
	window->length = region->length;
	window->physical = mr->physical;
	window->mtt_index = mr->mtt_index + (window->host_address >> mr->page_shift) -
			    (mr->host_address >> mr->page_shift);
	window->qpn = region->of_one_qp ? qp->number : 0;
	window->valid = true;
	return WORK_OK;
}
