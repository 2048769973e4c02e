/* SPDX-License-Identifier: Apache-2.0 */
/*
 * services: what an adapter asks of whoever uses it, as tables of functions: events to its driver,
 * addresses for its datagrams, and the steps of connected queue pairs for those who follow them.
 */
#ifndef HCA_FORMATS_SERVICES_H
#define HCA_FORMATS_SERVICES_H

#include <stdint.h>

struct packet;
struct path;
struct paths;

enum hca_async {                 /* what async_event() reports */
		 ASYNC_CQ_ERROR, /* overrun; number: CQN */
		 ASYNC_QP_FATAL, /* number: QPN, as in all QP events */
		 ASYNC_QP_REQUEST_ERROR,
		 ASYNC_QP_ACCESS_ERROR,
		 ASYNC_COMM_ESTABLISHED,
		 ASYNC_SQ_DRAINED,
		 ASYNC_PATH_MIGRATED,
		 ASYNC_LAST_WQE_REACHED,
		 ASYNC_SRQ_LIMIT, /* number: SRQN */
		 ASYNC_SRQ_ERROR,
		 ASYNC_PORT_ACTIVE, /* number: 1 */
		 ASYNC_PORT_ERROR,
};

/* The driver. Called from an event, at the instant the interrupt reaches the CPU; the driver's block outlives the HCA. */
struct hca_driver {
	void (*completion_event)(struct hca_driver *driver, uint32_t cqn);
	void (*async_event)(struct hca_driver *driver, enum hca_async what, uint32_t number);
};

/* What an address vector of a UD or DC WQE leads to: asked at the WQE's execution. NULL: unreachable. */
struct address_resolver {
	/* DCT: where return paths to initiators are interned; NULL: no DCT can be made. */
	struct paths *paths;
	/* Fills in *path from a 48-byte mlx5 address vector and the port's own addresses, and interns it. */
	const struct path *(*resolve)(struct address_resolver *resolver,
				      const uint8_t address_vector[48]);
};

/* Who follows connected queue pairs beside their driver, as studies do: told from within events, and changes nothing. */
struct hca_watcher {
	/* A packet is handed to the port. */
	void (*sent)(struct hca_watcher *watcher, const struct packet *packet);
	/* The message of that PSN, a WRITE or SEND to this queue pair, is all visible in memory. */
	void (*delivered)(struct hca_watcher *watcher, uint32_t qpn, uint32_t psn);
	/* What this queue pair has sent before that PSN is acknowledged, or complete. */
	void (*acknowledged)(struct hca_watcher *watcher, uint32_t qpn, uint32_t psn);
};

#endif
