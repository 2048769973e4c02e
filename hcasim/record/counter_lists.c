/* SPDX-License-Identifier: Apache-2.0 */
/* counter_lists: see counter_lists.h. */
#include "hcasim/record/counter_lists.h"

#include <string.h>

#include "fabric/fault.h"
#include "fabric/flow/flow_fabric.h"
#include "fabric/port.h"
#include "fabric/port_fault.h"
#include "fabric/reroute.h"
#include "hca/context/icm_cache.h"
#include "hca/context/paging.h"
#include "hca/context/translation.h"
#include "hca/endpoint/connection_cache.h"
#include "hca/endpoint/endpoint.h"
#include "hca/host/host.h"
#include "hca/host/iommu.h"
#include "hca/host/llc.h"
#include "hca/host/pcie.h"
#include "hca/iwarp/rnic.h"
#include "hca/port/netdev.h"
#include "hca/port/receive.h"
#include "hca/port/transmit.h"
#include "hca/transport/cc_unit.h"
#include "hca/transport/transport.h"
#include "hca/work/completion.h"
#include "hca/work/dma.h"
#include "hca/work/doorbell.h"
#include "hca/work/event_queue.h"
#include "hca/work/latency_stages.h"
#include "hca/work/receive_queue.h"
#include "hca/work/scheduler.h"
#include "hca/work/wqe_cache.h"
#include "hca/work/wqe_fetch.h"
#include "hcasim/builder/group_changes.h"
#include "switch/mirror.h"
#include "switch/switch.h"
#include "traffic/load/load_server.h"
#include "traffic/load/workload_core.h"
#include "traffic/workload/servers.h"
#include "verbs-shim/sockets/sockets.h"

/* clang-format off */
#define COUNTERS(list) (const struct counter[]){list(COUNTER_ENTRY) {0}}
#define CONTEXT_LIST(KIND, name, ...) \
	{"icm_" #name, "a cache of contexts of one kind", COUNTERS(ICM_CACHE_COUNTERS)},

const struct counter_list counter_lists[] = {
	{"doorbell", "stores to UAR pages", COUNTERS(DOORBELL_COUNTERS)},
	{"scheduler", "arbitration of send queues", COUNTERS(SCHEDULER_COUNTERS)},
	{"wqe_fetch", "send WQEs from the ring to their queue pair", COUNTERS(WQE_FETCH_COUNTERS)},
	{"wqe_cache", "lines of the rings that are on the adapter", COUNTERS(WQE_CACHE_COUNTERS)},
	{"receive_queue", "receive WQEs of a queue pair or shared",
	 COUNTERS(RECEIVE_QUEUE_COUNTERS)},
	{"transport", "requester, responder, completer", COUNTERS(TRANSPORT_COUNTERS)},
	{"congestion", "congestion control of a detailed adapter", COUNTERS(CC_UNIT_COUNTERS)},
	{"translation", "keys and addresses to pages", COUNTERS(TRANSLATION_COUNTERS)},
	CONTEXT_KINDS(CONTEXT_LIST)
	{"paging", "on-demand paging", COUNTERS(PAGING_COUNTERS)},
	{"softirq", "cores of a host that process received frames of sockets",
	 COUNTERS(SOFTIRQ_COUNTERS)},
	{"dma", "data between host memory and the adapter", COUNTERS(DMA_COUNTERS)},
	{"pcie", "the link between adapter and host", COUNTERS(PCIE_COUNTERS)},
	{"numa", "memory and caches behind the root complex", COUNTERS(HOST_COUNTERS)},
	{"iommu", "translates the addresses of DMA", COUNTERS(IOMMU_COUNTERS)},
	{"llc", "the last level cache of a socket", COUNTERS(LLC_COUNTERS)},
	{"transmit", "packets on their way to the port", COUNTERS(TRANSMIT_COUNTERS)},
	{"receive", "packets received from the port", COUNTERS(RECEIVE_COUNTERS)},
	{"netdev", "frames of the host's stack beside RDMA", COUNTERS(NETDEV_COUNTERS)},
	{"completion", "CQEs into completion queues", COUNTERS(COMPLETION_COUNTERS)},
	{"event_queue", "EQEs and interrupts", COUNTERS(EVENT_QUEUE_COUNTERS)},
	{"latency", "where the time of work requests went", latency_stages_counter_list},
	{"endpoint", "the adapter of fidelity endpoint", COUNTERS(ENDPOINT_COUNTERS)},
	{"operation_server", "cores or storage device of a host, with operations",
	 COUNTERS(OPERATION_SERVER_COUNTERS)},
	{"endpoint_tcp", "TCP connections of an adapter of fidelity endpoint",
	 COUNTERS(ENDPOINT_TCP_COUNTERS)},
	{"endpoint_iwarp", "iWARP on the TCP connections of an adapter of fidelity endpoint",
	 COUNTERS(ENDPOINT_IWARP_COUNTERS)},
	{"connection_cache", "cached contexts of an adapter of fidelity endpoint",
	 COUNTERS(CONNECTION_CACHE_COUNTERS)},
	{"rnic", "iWARP of an adapter", COUNTERS(RNIC_COUNTERS)},
	{"port", "one end of a link", COUNTERS(PORT_COUNTERS)},
	{"switch", "forwarding and buffers", COUNTERS(SWITCH_COUNTERS)},
	{"mirror", "copies of packets for an analyser", COUNTERS(MIRROR_COUNTERS)},
	{"reroute", "routes around links that are down", COUNTERS(REROUTE_COUNTERS)},
	{"fault", "faults of packets at a port", COUNTERS(FAULT_COUNTERS)},
	{"port_fault", "faults of ports", COUNTERS(PORT_FAULT_COUNTERS)},
	{"flow_fabric", "links that flows share (fidelity: flow)", COUNTERS(FLOW_FABRIC_COUNTERS)},
	{"group_changes", "hosts that join and leave multicast groups",
	 COUNTERS(GROUP_CHANGES_COUNTERS)},
	{"server", "a core that responds to requests of a load", COUNTERS(SERVER_COUNTERS)},
	{"core", "a core that carries messages of a workload", COUNTERS(WORKLOAD_CORE_COUNTERS)},
	{0}};
/* clang-format on */

const struct counter *counter_list_find(const char *type, const char *name)
{
	const struct counter_list *list = counter_lists;
	while (list->type && strcmp(list->type, type) != 0)
		list++;
	for (const struct counter *counter = list->counters; list->type && counter->name;
	     counter++) {
		if (strcmp(counter->name, name) == 0)
			return counter;
	}
	return NULL;
}
