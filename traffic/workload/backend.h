/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend: carries the messages of a workload from host to host, on adapters of one fidelity with
 * queue pairs between them. The flow driver knows adapters through this interface only.
 *
 *     flow driver --connect_pair(), plan(), start()--> backend
 *            --post()-------------------> backend
 *            <--done(), delivered()----- backend
 *
 * endpoint_backend uses HCAs of fidelity endpoint. detailed_backend uses detailed HCAs, with a
 * processor core on each host.
 */
#ifndef TRAFFIC_WORKLOAD_BACKEND_H
#define TRAFFIC_WORKLOAD_BACKEND_H

#include "fabric/port.h"
#include "traffic/workload/workload.h"

struct backend;
struct backend_qp; /* defined by each backend */
struct endpoint_params;
struct congestion;

struct backend_report { /* transport statistics of a message */
	bool failed;
	/* time at which its first packet was handed to the port; 0: no packet sent */
	sim_time started_at;
	uint64_t packets_sent, packets_retransmitted;
};

/* Receives one incomplete message and its statistics so far. */
typedef void backend_visit(void *context, uint32_t flow, const struct backend_report *so_far);

/* Callbacks to the poster of messages. Each runs in an event of the host where it happens. */
struct backend_user {
	void (*done)(struct backend_user *user, uint32_t flow, const struct backend_report *report);
	/* All data of a write or send have arrived, as far as the destination can tell. */
	void (*delivered)(struct backend_user *user, uint32_t flow);
	/* Called at the source of a read's data: before its first packet, and when the last packet
	 * is handed to the port. After a loss, both functions are called again. */
	void (*read_begins)(struct backend_user *user, uint32_t flow);
	void (*read_ends)(struct backend_user *user, uint32_t flow);
};

/* Congestion control of a queue pair, as its sender sees it. */
struct backend_sender {
	uint64_t rate_bps;       /* at most the link rate */
	uint64_t cwnd_bytes;     /* CWND_UNLIMITED: no limit */
	uint64_t inflight_bytes; /* payload; detailed adapters: 0 without congestion control */
	sim_time rtt;            /* of the latest ACK that measured one; 0: none so far */
	/* Values that a plug-in declares, and its state. NULL: none, or no state yet. */
	const struct congestion_gauge *gauges;
	const void *state;
};

/* Two hosts and the properties of the queue pairs between them. */
struct backend_pair {
	uint32_t source, destination; /* hosts; the source provides the data */
	unsigned service_level;
	uint32_t entropy; /* varies the route in addition to the queue pair numbers */
	/* NULL stands for the algorithm of the adapters. Only endpoint_backend can have another
	 * algorithm. */
	const struct congestion *congestion;
};

struct backend_ops {
	struct port *(*port)(const struct backend *backend, uint32_t host);
	/* Connects a pair and returns the queue pair at the source. Call it before start(). */
	struct backend_qp *(*connect_pair)(struct backend *backend,
					   const struct backend_pair *pair);
	/* Announces a flow of `messages` messages that will be posted to a queue pair. Call it
	 * before start(). */
	void (*plan)(struct backend *backend, struct backend_qp *qp, uint64_t message_bytes,
		     uint64_t messages, enum workload_operation operation);
	/* Replaces connect_pair() and plan() if pairs are connected after start(). There is at most
	 * one pair for any two hosts, for sends only. `bytes` is the size that most messages do not
	 * exceed. Connecting a pair takes no time. */
	void (*plan_any)(struct backend *backend, uint64_t bytes);
	/* Starts the backend, after all pairs are connected and planned. */
	void (*start)(struct backend *backend);
	/* Posts a message at the host that requests it. `qp` is the queue pair at the source for
	 * every operation. */
	void (*post)(struct backend *backend, struct backend_qp *qp, uint32_t flow,
		     enum workload_operation operation, uint64_t bytes);
	struct backend_qp *(*peer)(const struct backend_qp *qp);
	const struct path *(*path)(const struct backend_qp *qp);
	uint32_t (*cnps)(const struct backend_qp *qp);  /* CNPs received */
	uint32_t (*marks)(const struct backend_qp *qp); /* marked packets received */
	/* Return payload bytes of the queue pair's requests: acknowledged, and arrived at the other
	 * end, each packet counted once. For reads: bytes returned. */
	uint64_t (*acked_bytes)(const struct backend_qp *qp);
	uint64_t (*arrived_bytes)(const struct backend_qp *qp);
	/* Reports the sender's limits and its data in flight. */
	void (*sender)(struct backend_qp *qp, struct backend_sender *sender);
	/* Calls `visit` for each message that was posted and is not complete, in any order. Do not
	 * call it inside an event. */
	void (*outstanding)(const struct backend *backend, backend_visit *visit, void *context);
	/* Returns an error that is not the failure of a flow, or NULL. */
	const char *(*trouble)(const struct backend *backend);
	void (*destroy)(struct backend *backend); /* call it after the run */
	/* Describes a full segment of a TCP connection. *bytes is the length of a message, and
	 * becomes its bytes in the stream. Returns false if the queue pair is not a TCP connection.
	 * NULL if the backend has no TCP connections. */
	bool (*segment)(const struct backend_qp *qp, enum workload_operation operation,
			uint64_t *bytes, struct packet *segment);
	/* Reports that nothing will be posted to the queue pair any more. Call it in an event of
	 * its host, or before start(). NULL if the backend does not need the report. */
	void (*retire)(struct backend_qp *qp);
};

struct backend { /* embedded in each backend */
	const struct backend_ops *ops;
	struct backend_user *user;
	uint64_t message_max;                /* maximum size of a write or send in bytes */
	const struct endpoint_params *ideal; /* host latencies in the ideal time of a flow */
};

#endif
