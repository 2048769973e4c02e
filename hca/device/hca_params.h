/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hca_params: parameters of a detailed adapter: a section per block, each a map in YAML.
 */
#ifndef HCA_DEVICE_HCA_PARAMS_H
#define HCA_DEVICE_HCA_PARAMS_H

#include "fabric/port_params.h"
#include "hca/congestion/congestion.h"
#include "hca/context/context_cache_params.h"
#include "hca/context/paging_params.h"
#include "hca/context/translation_params.h"
#include "hca/device/device_params.h"
#include "hca/host/host_params.h"
#include "hca/host/pcie_params.h"
#include "hca/iwarp/rnic_params.h"
#include "hca/port/receive_params.h"
#include "hca/port/transmit_params.h"
#include "hca/transport/notification_params.h"
#include "hca/transport/transport_params.h"
#include "hca/work/completion_params.h"
#include "hca/work/dma_params.h"
#include "hca/work/doorbell_params.h"
#include "hca/work/event_queue_params.h"
#include "hca/work/receive_queue_params.h"
#include "hca/work/scheduler_params.h"
#include "hca/work/wqe_cache_params.h"
#include "hca/work/wqe_fetch_params.h"

struct hca_params {
	struct device_params device;
	struct pcie_params pcie;
	struct host_params host;
	struct translation_params translation;
	struct paging_params paging;
	struct context_cache_params contexts;
	struct dma_params dma;
	struct doorbell_params doorbell;
	struct scheduler_params scheduler;
	struct wqe_fetch_params wqe_fetch;
	struct wqe_cache_params send_cache, receive_cache;
	struct receive_queue_params receive_queue;
	struct completion_params completion;
	struct event_queue_params event_queue;
	struct transport_params transport;
	struct transmit_params transmit;
	struct receive_params receive;
	struct port_params port;
	struct rnic_params rnic;
	struct notification_params notification;
	struct congestion_choice congestion; /* owned by the caller; outlives the adapter */
};

/* Sections of the adapter's parameters. The list ends with a NULL name. */
extern const struct param_section hca_sections[];

/* Sections of hca_sections that describe the host, for presets of hosts and slots. */
extern const struct param_section hca_host_sections[];

/* Sets the defaults of all sections, without congestion control. */
void hca_params_default(struct hca_params *params);

#endif
