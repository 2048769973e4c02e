/* SPDX-License-Identifier: Apache-2.0 */
/*
 * services: function tables that the user of an adapter implements. The adapter reports events to
 * its driver, resolves addresses of datagrams, and reports the progress of connected queue pairs to
 * a watcher.
 */
#ifndef HCA_FORMATS_SERVICES_H
#define HCA_FORMATS_SERVICES_H

#include <stdint.h>

struct packet;
struct path;
struct paths;

enum hca_async {                 /* events of async_event() */
		 ASYNC_CQ_ERROR, /* overrun; number: CQN */
		 ASYNC_QP_FATAL, /* number: QPN, as for all QP events */
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

/* The driver. The adapter calls it from an event, when the interrupt reaches the CPU. The driver's
 * block must outlive the HCA. */
struct hca_driver {
	void (*completion_event)(struct hca_driver *driver, uint32_t cqn);
	void (*async_event)(struct hca_driver *driver, enum hca_async what, uint32_t number);
};

/* Resolves the address vector of a UD or DC WQE, when the WQE is executed. resolve() returns NULL
 * if the address is unreachable. */
struct address_resolver {
	/* DCT: table that interns return paths to initiators. NULL if no DCT can be created. */
	struct paths *paths;
	/* Returns the interned path of a 48-byte mlx5 address vector, with the port's own addresses
	 * as source. Returns NULL if the address is unreachable. */
	const struct path *(*resolve)(struct address_resolver *resolver,
				      const uint8_t address_vector[48]);
};

/* Observes connected queue pairs in addition to their driver, for studies. The adapter calls these
 * functions from its events. They must not change the adapter. */
struct hca_watcher {
	/* Reports that `packet` was handed to the port. */
	void (*sent)(struct hca_watcher *watcher, const struct packet *packet);
	/* Reports that a WRITE or SEND to this queue pair is completely visible in memory. `psn` is
	 * the PSN of the message. */
	void (*delivered)(struct hca_watcher *watcher, uint32_t qpn, uint32_t psn);
	/* Reports that all requests of this queue pair before `psn` are acknowledged or
	 * complete. */
	void (*acknowledged)(struct hca_watcher *watcher, uint32_t qpn, uint32_t psn);
};

#endif
