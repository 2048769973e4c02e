/* SPDX-License-Identifier: Apache-2.0 */
/* hca_params: see hca_params.h. */
#include "hca/device/hca_params.h"

/* clang-format off */
#define SECTION(field, meaning) {#field, field##_param_list, offsetof(struct hca_params, field), meaning},

#define HOST_SECTIONS \
	SECTION(pcie,          "the link to the host") \
	{"place", place_param_list, offsetof(struct hca_params, host.place), "the host's memory and its whims"}, \
	{"llc",   llc_param_list,   offsetof(struct hca_params, host.llc),   "the host's last level cache"}, \
	{"dram",  dram_param_list,  offsetof(struct hca_params, host.dram),  "the host's memory"}, \
	{"iommu", iommu_param_list, offsetof(struct hca_params, host.iommu), "the host's IOMMU"},

const struct param_section hca_host_sections[] = {HOST_SECTIONS {0}};

const struct param_section hca_sections[] = {
	SECTION(device,        "limits, commands, clock")
	HOST_SECTIONS
	SECTION(translation,   "keys and addresses to host memory")
	{"mpt", icm_mpt_param_list, offsetof(struct hca_params, translation.mpt), "cache of region entries"},
	{"mtt", icm_mtt_param_list, offsetof(struct hca_params, translation.mtt), "cache of page entries"},
	SECTION(paging,        "regions with on-demand paging")
	SECTION(contexts,      "of queue pairs, in general")
	{"requester_cache", icm_requester_param_list, offsetof(struct hca_params, contexts.requester), "cache of what queue pairs need to send"},
	{"responder_cache", icm_responder_param_list, offsetof(struct hca_params, contexts.responder), "cache of what queue pairs need to be written to"},
	{"cq_cache", icm_cq_param_list, offsetof(struct hca_params, contexts.cq), "cache of completion queues"},
	{"srq_cache", icm_srq_param_list, offsetof(struct hca_params, contexts.srq), "cache of shared receive queues"},
	{"rdmarc_cache", icm_reads_param_list, offsetof(struct hca_params, contexts.reads), "cache of what responders note of reads and atomics, if contexts.separate_rdmarc"},
	SECTION(dma,           "moves the bytes of messages")
	SECTION(doorbell,      "stores to the doorbell pages")
	SECTION(scheduler,     "which queue pair sends next")
	SECTION(wqe_fetch,     "send WQEs from host memory")
	{"send_cache", wqe_cache_param_list, offsetof(struct hca_params, send_cache), "cache of send WQEs"},
	SECTION(receive_queue, "receive WQEs from host memory")
	{"receive_cache", wqe_cache_param_list, offsetof(struct hca_params, receive_cache), "cache of receive WQEs"},
	SECTION(completion,    "completion queue entries")
	SECTION(event_queue,   "events and interrupts")
	SECTION(transport,     "requesters and responders")
	SECTION(transmit,      "towards the port")
	SECTION(receive,       "from the port")
	SECTION(port,          "the port and its link")
	SECTION(notification,  "of congestion to who sends, and what congestion control is told")
	{0},
};
/* clang-format on */

void hca_params_default(struct hca_params *params)
{
	for (const struct param_section *section = hca_sections; section->name; section++)
		params_default(section->list, (char *)params + section->offset);
	params->congestion = (struct congestion_choice){0};
}
