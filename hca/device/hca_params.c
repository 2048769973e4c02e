/* SPDX-License-Identifier: Apache-2.0 */
/* hca_params: see hca_params.h. */
#include "hca/device/hca_params.h"

/* clang-format off */
#define SECTION(field, meaning) \
	{#field, field##_param_list, offsetof(struct hca_params, field), meaning},
#define SECTION_AT(name, list, field, meaning) \
	{name, list##_param_list, offsetof(struct hca_params, field), meaning},

#define HOST_SECTIONS \
	SECTION(pcie, "PCIe link to the host.") \
	SECTION_AT("numa", host_numa, host.numa, "NUMA node of the memory.") \
	SECTION_AT("jitter", host_jitter, host.jitter, "Latency jitter of the root complex.") \
	SECTION_AT("llc", llc, host.llc, "Last level cache of the host.") \
	SECTION_AT("dram", llc_dram, host.dram, "Memory of the host.") \
	SECTION_AT("iommu", iommu, host.iommu, "IOMMU of the host.")

const struct param_section hca_host_sections[] = {HOST_SECTIONS {0}};

const struct param_section hca_sections[] = {
	SECTION(device, "Limits, commands and clock.")
	HOST_SECTIONS
	SECTION(translation, "Translation of keys and addresses to host memory.")
	SECTION_AT("mpt", icm_cache_mpt, translation.mpt, "Cache of region entries.")
	SECTION_AT("mtt", icm_cache_mtt, translation.mtt, "Cache of page entries.")
	SECTION(paging, "On-demand paging of regions.")
	SECTION(contexts, "Caches of queue contexts.")
	SECTION_AT("requester_cache", icm_cache_requester, contexts.requester,
		   "Cache of requester contexts of queue pairs.")
	SECTION_AT("responder_cache", icm_cache_responder, contexts.responder,
		   "Cache of responder contexts of queue pairs.")
	SECTION_AT("cq_cache", icm_cache_cq, contexts.cq, "Cache of completion queue contexts.")
	SECTION_AT("srq_cache", icm_cache_srq, contexts.srq,
		   "Cache of shared receive queue contexts.")
	SECTION_AT("rdmarc_cache", icm_cache_reads, contexts.reads,
		   "Cache of a responder's records of READs and atomics. Exists with "
		   "contexts.separate_rdmarc.")
	SECTION(dma, "DMA engine: moves the bytes of messages.")
	SECTION(doorbell, "Stores to the doorbell pages.")
	SECTION(scheduler, "QP scheduler: selects the queue pair that sends next.")
	SECTION(wqe_fetch, "Fetch of send WQEs from host memory.")
	SECTION_AT("send_cache", wqe_cache, send_cache, "Cache of send WQEs.")
	SECTION(receive_queue, "Fetch of receive WQEs from host memory.")
	SECTION_AT("receive_cache", wqe_cache, receive_cache, "Cache of receive WQEs.")
	SECTION(completion, "Writing of completion queue entries.")
	SECTION(event_queue, "Events and interrupts.")
	SECTION(transport, "Requesters and responders.")
	SECTION(transmit, "Transmit pipeline.")
	SECTION(receive, "Receive pipeline.")
	SECTION(port, "Port and its link.")
	SECTION(rnic, "iWARP, with device: {driver: siw}.")
	SECTION(notification, "Notification of senders about congestion.")
	{0},
};
/* clang-format on */

void hca_params_default(struct hca_params *params)
{
	for (const struct param_section *section = hca_sections; section->name; section++)
		params_default(section->list, (char *)params + section->offset);
	params->congestion = (struct congestion_choice){0};
}
