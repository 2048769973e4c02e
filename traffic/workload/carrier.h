/* SPDX-License-Identifier: Apache-2.0 */
/*
 * carrier: what carries the messages of a workload from host to host: adapters of one fidelity, with queue pairs between them.
 * The player knows no more of adapters than this.
 *
 *     player --join(), plan(), start()--> carrier      endpoint_carrier: HCAs of fidelity endpoint
 *            --post()-------------------> carrier      load_carrier:     detailed ones, with a processor core on each host
 *            <--done(), delivered()----- carrier
 */
#ifndef TRAFFIC_WORKLOAD_CARRIER_H
#define TRAFFIC_WORKLOAD_CARRIER_H

#include "fabric/port.h"
#include "traffic/workload/workload.h"

struct carrier;
struct carrier_qp; /* each carrier has its own */
struct endpoint_params;

struct carrier_report { /* of a message that is complete */
	bool failed;
	sim_time started_at; /* its first packet was handed to the port; 0: none was */
	uint64_t packets_sent, packets_resent;
};

/* Receives one message that is not complete: what was sent of it so far. */
typedef void carrier_tell(void *context, uint32_t flow, const struct carrier_report *so_far);

/* Whoever posts. Told in events of the host where it happens. */
struct carrier_user {
	void (*done)(struct carrier_user *user, uint32_t flow, const struct carrier_report *report);
	/* A message of a write or send is all there, as far as its destination can tell. */
	void (*delivered)(struct carrier_user *user, uint32_t flow);
	/* Where the data of a read come from: before its first packet, and when the last one is handed to the port. Again
	 * after a loss. */
	void (*read_begins)(struct carrier_user *user, uint32_t flow);
	void (*read_ends)(struct carrier_user *user, uint32_t flow);
};

/* A pair of queue pairs. */
struct carrier_pair {
	uint32_t source, destination; /* hosts; data come from the source */
	unsigned service_level;
	uint32_t entropy; /* varies the way beyond what the queue pair numbers do */
};

struct carrier_ops {
	struct port *(*port)(const struct carrier *carrier, uint32_t host);
	/* The queue pair at the source. Before start(). */
	struct carrier_qp *(*join)(struct carrier *carrier, const struct carrier_pair *pair);
	/* A flow that will be posted to it, in so many messages. Before start(). */
	void (*plan)(struct carrier *carrier, struct carrier_qp *qp, uint64_t message_bytes,
		     uint64_t messages, enum workload_operation operation);
	/* In place of both: pairs are joined after start(), one of any two hosts at most, for sends, most of them of no more
	 * bytes than that. Joining takes no time. */
	void (*plan_any)(struct carrier *carrier, uint64_t bytes);
	/* All is joined and planned. */
	void (*start)(struct carrier *carrier);
	/* A message, at its requester's host: `qp` is the source's, whatever the operation. */
	void (*post)(struct carrier *carrier, struct carrier_qp *qp, uint32_t flow,
		     enum workload_operation operation, uint64_t bytes);
	struct carrier_qp *(*peer)(const struct carrier_qp *qp);
	const struct path *(*path)(const struct carrier_qp *qp);
	uint32_t (*cnps)(const struct carrier_qp *qp);  /* that it was sent */
	uint32_t (*marks)(const struct carrier_qp *qp); /* marked packets that came to it */
	/* Payload of its requests that is acknowledged, and that has come to the other end, once each packet; of its reads what
	 * has come back. */
	uint64_t (*acked_bytes)(const struct carrier_qp *qp);
	uint64_t (*arrived_bytes)(const struct carrier_qp *qp);
	uint64_t (*rate_bps)(struct carrier_qp *qp); /* the line rate: no limit */
	/* Calls `tell` for each message that was posted and is not complete, in any order. Not while events fire. */
	void (*outstanding)(const struct carrier *carrier, carrier_tell *tell, void *context);
	/* What has gone wrong beside flows that failed; NULL: nothing. */
	const char *(*trouble)(const struct carrier *carrier);
	void (*destroy)(struct carrier *carrier); /* after the run */
};

struct carrier { /* embedded in each */
	const struct carrier_ops *ops;
	struct carrier_user *user;
	uint64_t message_max;                /* bytes of a write or send */
	const struct endpoint_params *ideal; /* what hosts add to the ideal time of a flow */
};

#endif
