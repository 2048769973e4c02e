/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend: what carries the messages of a workload from host to host: adapters of one fidelity, with queue pairs between them.
 * The flow driver knows no more of adapters than this.
 *
 *     flow driver --connect_pair(), plan(), start()--> backend      endpoint_backend: HCAs of fidelity endpoint
 *            --post()-------------------> backend      detailed_backend:     detailed ones, with a processor core on each host
 *            <--done(), delivered()----- backend
 */
#ifndef TRAFFIC_WORKLOAD_BACKEND_H
#define TRAFFIC_WORKLOAD_BACKEND_H

#include "fabric/port.h"
#include "traffic/workload/workload.h"

struct backend;
struct backend_qp; /* each backend has its own */
struct endpoint_params;

struct backend_report { /* of a message that is complete */
	bool failed;
	sim_time started_at; /* its first packet was handed to the port; 0: none was */
	uint64_t packets_sent, packets_retransmitted;
};

/* Receives one message that is not complete: what was sent of it so far. */
typedef void backend_tell(void *context, uint32_t flow, const struct backend_report *so_far);

/* Whoever posts. Told in events of the host where it happens. */
struct backend_user {
	void (*done)(struct backend_user *user, uint32_t flow, const struct backend_report *report);
	/* A message of a write or send is all there, as far as its destination can tell. */
	void (*delivered)(struct backend_user *user, uint32_t flow);
	/* Where the data of a read come from: before its first packet, and when the last one is handed to the port. Again
	 * after a loss. */
	void (*read_begins)(struct backend_user *user, uint32_t flow);
	void (*read_ends)(struct backend_user *user, uint32_t flow);
};

/* A pair of queue pairs. */
struct backend_pair {
	uint32_t source, destination; /* hosts; data come from the source */
	unsigned service_level;
	uint32_t entropy; /* varies the route beyond what the queue pair numbers do */
};

struct backend_ops {
	struct port *(*port)(const struct backend *backend, uint32_t host);
	/* The queue pair at the source. Before start(). */
	struct backend_qp *(*connect_pair)(struct backend *backend,
					   const struct backend_pair *pair);
	/* A flow that will be posted to it, in so many messages. Before start(). */
	void (*plan)(struct backend *backend, struct backend_qp *qp, uint64_t message_bytes,
		     uint64_t messages, enum workload_operation operation);
	/* In place of both: pairs are joined after start(), one of any two hosts at most, for sends, most of them of no more
	 * bytes than that. Joining takes no time. */
	void (*plan_any)(struct backend *backend, uint64_t bytes);
	/* All is joined and planned. */
	void (*start)(struct backend *backend);
	/* A message, at its requester's host: `qp` is the source's, whatever the operation. */
	void (*post)(struct backend *backend, struct backend_qp *qp, uint32_t flow,
		     enum workload_operation operation, uint64_t bytes);
	struct backend_qp *(*peer)(const struct backend_qp *qp);
	const struct path *(*path)(const struct backend_qp *qp);
	uint32_t (*cnps)(const struct backend_qp *qp);  /* that it was sent */
	uint32_t (*marks)(const struct backend_qp *qp); /* marked packets that came to it */
	/* Payload of its requests that is acknowledged, and that has come to the other end, once each packet; of its reads what
	 * has come back. */
	uint64_t (*acked_bytes)(const struct backend_qp *qp);
	uint64_t (*arrived_bytes)(const struct backend_qp *qp);
	uint64_t (*rate_bps)(struct backend_qp *qp); /* the line rate: no limit */
	/* Calls `tell` for each message that was posted and is not complete, in any order. Not while events fire. */
	void (*outstanding)(const struct backend *backend, backend_tell *tell, void *context);
	/* What has gone wrong beside flows that failed; NULL: nothing. */
	const char *(*trouble)(const struct backend *backend);
	void (*destroy)(struct backend *backend); /* after the run */
};

struct backend { /* embedded in each */
	const struct backend_ops *ops;
	struct backend_user *user;
	uint64_t message_max;                /* bytes of a write or send */
	const struct endpoint_params *ideal; /* what hosts add to the ideal time of a flow */
};

#endif
