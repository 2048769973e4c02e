/*
 * adapter: what the blocks of one HCA know of each other. Only files below hca/ include it; the
 * world outside sees hca.h.
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
#include "hca/device/number_table.h"
#include "hca/host/pcie.h"
#include "hca/work/dma.h"
#include "hca/work/why.h"
#include "hca/work/wqe_cache.h"
#include "sim/pool.h"

struct hca {
	struct block block;
	struct sim *sim;
	struct hca_params params;
	enum link_layer link_layer;
	struct packet_pool *packets;
	struct hca_driver *driver;
	struct hca_resolver *resolver;
	struct hca_watcher *watcher; /* NULL: none */
	struct mr_table *regions;
	struct paging *paging;
	bool pages_may_be_missing; /* there are on-demand regions */
	struct pcie *pcie;
	struct host *host; /* NULL: nothing behind the root complex takes time */
	struct translation_unit *translation;
	struct dma_engine *dma;
	struct context_cache *contexts;
	struct doorbell *doorbell;
	struct scheduler *scheduler;
	struct wqe_cache *send_cache, *receive_cache; /* NULL: none */
	struct wqe_fetch *wqe_fetch;
	struct receive_queues *receive_queues;
	struct completion_writer *completion;
	struct event_queue *events;
	struct why_block *why;
	struct transport_block *transport;
	struct congestion_unit *congestion; /* NULL: no congestion control */
	struct transmit *transmit;
	struct receive *receive;
	struct port *port;
	struct number_table qps, cqs, srqs;
	struct qp *gsi; /* number 1 */
	uint64_t next_serial;
};

#endif
