/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapter: the blocks of one HCA. Only hca/device sees this struct: it creates the blocks and
 * connects them. Each block knows only the blocks that it is connected to. Other folders use hca.h.
 *
 *     doorbell > scheduler > wqe_fetch > requester > transmit > port
 *     port > receive > responder, completer > receive_queue, completion > event_queue > driver
 */
#ifndef HCA_DEVICE_ADAPTER_H
#define HCA_DEVICE_ADAPTER_H

#include "hca/context/context_cache.h"
#include "hca/context/paging.h"
#include "hca/context/translation.h"
#include "hca/device/hca.h"
#include "hca/device/hca_params.h"
#include "hca/host/core_clock.h"
#include "hca/host/pcie.h"
#include "hca/transport/transport.h"
#include "hca/transport/work_user.h"
#include "hca/work/completion.h"
#include "hca/work/dma.h"
#include "hca/work/latency_stages.h"
#include "hca/work/receive_queue.h"
#include "hca/work/wqe_cache.h"
#include "sim/number_table.h"

struct hca {
	struct block block;
	struct sim *sim;
	struct hca_params params;
	enum link_layer link_layer;
	struct packet_pool *packets;
	struct address_resolver *address_resolver;
	struct mr_table *regions;
	struct paging *paging;
	struct pcie *pcie;
	struct core_clock clock;
	struct host *host; /* NULL if nothing behind the root complex takes time */
	struct translation_unit *translation;
	struct dma_engine *dma;
	struct context_cache *contexts;
	struct doorbell *doorbell;
	struct scheduler *scheduler;
	struct wqe_cache *send_cache, *receive_cache; /* NULL if the adapter has no such cache */
	struct wqe_fetch *wqe_fetch;
	struct receive_queues *receive_queues;
	struct completion_writer *completion;
	struct event_queue *events;
	struct latency_block *latency;
	struct transport_block *transport;
	struct transmit *transmit;
	struct receive *receive;
	struct port *port;
	struct netdev *netdev; /* NULL if the host's stack does not use the adapter */
	struct rnic *rnic;     /* NULL without iWARP */
	struct number_table cqs, srqs;
	struct work_user work_user;   /* functions of the transport that hca/work calls */
	struct transport_above above; /* functions of the port that the transport calls */
	struct receive_queues_blocks receive_queues_blocks;
	struct completion_blocks completion_blocks;
};

#endif
